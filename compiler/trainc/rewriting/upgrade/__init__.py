"""Rewrite documents of older dialects in that of the release, and verify that they compile to the same objects.

Reads    the given paths.
Returns  the old text, the new text and the moved fields of each file that changes, and diagnostics. A file stays
         unchanged if one of its documents does not compile, or compiles to other objects after the upgrade.
"""

from __future__ import annotations

import codecs
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import COMPILED, JOB, JOBS_OF_JOBSET, JOBS_OF_RUNTIME, TRAINJOB, VERSION
from trainc.base.records import NamedTuple
from trainc.base.trainjob_dialects import (
    DIALECTS,
    PROCESSES_FIELD,
    TORCH_PROCESSES,
    WORDS,
    TrainJobForm,
    detect,
    renamed_in_runtimes,
)
from trainc.compilation import Compilation, Run, compile_documents, metered
from trainc.compilation.run import PLAIN, READ
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, failed
from trainc.emit.yaml import render
from trainc.files import inputs
from trainc.frontends import dialects
from trainc.frontends.lowering import AS_IS, Move, composed, moved
from trainc.frontends.reading import Reading
from trainc.kubernetes.documents.streams import decode
from trainc.kubernetes.trees import Tree, get, put
from trainc.kubernetes.violations import field_of
from trainc.pipeline.library import Library
from trainc.pipeline.objects import ANCESTOR, TRAINER_NODE, TrainJob, is_first_release
from trainc.pipeline.passes.conform import conform, drop_field
from trainc.pipeline.passes.resolve import missing_runtime
from trainc.pipeline.plan import NODE, Plan
from trainc.pipeline.training_operator import TRAINER
from trainc.rewriting.upgrade.rewritten_documents import Texts, UpgradedJob, text_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence, Set

    from trainc.base.releases import TrainerRelease
    from trainc.kubernetes.trees import Path

NOT_UPGRADABLE: Final = Declaration("not-upgradable", ("read",), trainc_only=True)

NO_EQUIVALENT: Final = "{} has no equivalent for one of its fields"
MISSING: Final = missing_runtime.declared.id
SPEC: Final = ("spec", "template", "spec")
"""The JobSetSpec of a runtime."""
CONTAINERS: Final = (*JOB.pods[0], "spec", "containers")
"""The containers of a replicated job's template."""
NUMBER: Final = TrainJobForm.PROCESSES
VARIABLE: Final = "PET_NPROC_PER_NODE"
"""The variable with the number of processes, which an older TrainJob can set to a word."""


class Changed(NamedTuple):
    """An upgraded document."""

    object: ObjectId
    line: int
    dialect: str
    """The name of its dialect, for reports."""
    moves: tuple[str, ...]
    """Each moved field with its new path."""


class Upgraded(NamedTuple):
    """An upgraded file."""

    path: str
    old: str
    new: str
    changed: tuple[Changed, ...]
    encoding: str = "utf-8"
    """The encoding of the file, old and new."""
    renamed: bool = False
    """Whether the trainer of a v1.9 runtime has a new name and label in the compiled objects, too."""


def upgrade(
    paths: Sequence[str],
    *,
    stdin: bytes | None = None,
    run: Run = PLAIN,
    report_skipped: Callable[[Sequence[str]], object] = len,
) -> tuple[list[Upgraded], list[Diagnostic]]:
    """Return the files that an upgrade of the paths would change, and diagnostics.

    Raise OverBudgetError beyond the budget.

    Args:
        paths: as for `compilation.compile`.
        stdin: the content of the path `-`; None for that of standard input.
        run: the run; with errors in the settings, nothing is read.
        report_skipped: called with the files in folders that were skipped.
    """
    # The catalogue imports this module for its declaration, and needs none of the modules that rewrite texts.
    from trainc.rewriting.upgrade.rewritten_documents import rewritten

    if failed(run.settings.diagnostics):
        return [], list(run.settings.diagnostics)
    release = run.settings.release
    if DIALECTS[release.dialect].has_overrides:
        return [], [_no_patches(release, run)]
    settings = run.settings._replace(release=release._replace(older_dialects="translated"))
    run = run._replace(purpose=READ, settings=settings)
    read, texts = Reading(kinds=COMPILED, others=run.purpose.others, meter=metered(run)), {}
    files = (
        [inputs.File("-", stdin)]
        if stdin is not None and inputs.STDIN in paths
        else inputs.read(paths, run.selection, follow_links=run.options.follow_links)
    )
    for file in files:
        if isinstance(file, Diagnostic):
            read.report(file)
        else:
            read.add(file)
            texts[file.path] = file
        read.meter.check()
    read.settle()
    before = compile_documents(read, run)
    read.meter.check()
    report_skipped(before.skipped)
    compiled = {job.plan.job.document.identity: job.objects for job in before.jobs}
    reported = _by_object(before.diagnostics)
    todo: list[UpgradedJob] = []
    conformed: list[Document] = []
    in_strings: list[Diagnostic] = []
    found = [diagnostic for diagnostic in read.diagnostics if diagnostic.severity == "error"]
    for document in (*read.documents["job"], *read.documents["runtime"]):
        if document.inside is not None:
            why = "it is a part of a string, in a ConfigMap"
            in_strings += [_not_upgradable(document, why) for _ in _runtime(document, release)]
        elif document.value["kind"] != TRAINJOB.kind:
            todo += _runtime(document, release)
        elif document.identity in compiled:
            # A second one with the same name does not compile.
            todo += _job(document, compiled[document.identity], release)
        elif not detect(document.value, release.dialect).mark:
            continue
        elif _lacks_runtime(reported.get(_key(document), ())):
            todo += _job(document, (), release)
            conformed.append(document)
        else:
            # Without compiled objects, the upgrade cannot be verified.
            found = [diagnostic for diagnostic in before.diagnostics if diagnostic.severity == "error"]
    new, refused = rewritten(todo)
    found += (*in_strings, *(_not_upgradable(document, why) for document, why in refused))
    found += _unproved_jobs(read, new, before, run)
    found += (
        _not_upgradable(document, NO_EQUIVALENT.format(release.title))
        for document in conformed
        if not _is_same(document, _renewed(document, new), run.settings.release)
    )
    blocked = {diagnostic.place.document.file for diagnostic in found if isinstance(diagnostic.place, Place)}
    by_file: dict[str, list[UpgradedJob]] = {}
    for job in todo:
        by_file.setdefault(job.document.file, []).append(job)
    changed = [_file(texts[path], jobs, new) for path, jobs in by_file.items() if path not in blocked]
    return changed, found


def _no_patches(release: TrainerRelease, run: Run) -> Diagnostic:
    """Return the error for a release that does not read the form that an upgrade writes."""
    return Diagnostic.declared(
        NOT_UPGRADABLE,
        f"{release.title} has no runtimePatches: its clusters drop what an upgrade writes",
        f"upgrade the cluster first, or set {run.purpose.option_names.trainer_version} to its new release",
    )


def _lacks_runtime(diagnostics: Iterable[Diagnostic]) -> bool:
    """Return whether a missing runtime is a TrainJob's only error, from the diagnostics of its namespace and name."""
    errors = [found for found in diagnostics if found.severity == "error" and found.object.kind == TRAINJOB.kind]
    return bool(errors) and all(found.id == MISSING for found in errors)


def _is_same(old: Document, new: Document, release: TrainerRelease) -> bool:
    """Return whether two TrainJobs have the same form, so that they compile to the same objects on any runtime."""
    old_job, new_job = (
        conform(Plan(job=TrainJob(document=document, value=document.value), library=Library(()), release=release)).job
        for document in (old, new)
    )
    return old_job.value == new_job.value


def _key(document: Document) -> tuple[str, str]:
    subject = ObjectId.from_source(document.value)
    return subject.namespace, subject.name


def _job(document: Document, objects: Iterable[Tree], release: TrainerRelease) -> Iterator[UpgradedJob]:
    """Yield a TrainJob of an older dialect with its moves; yield nothing for one of the release's dialect."""
    detected = detect(document.value, release.dialect)
    if not detected.mark:
        return
    older, own = DIALECTS[detected.key], DIALECTS[release.dialect]
    moves = (*dialects.moves(older, document.value), *_words(document.value, objects))
    removed = [move.source for move in moves if not move.target]
    form = moved(document.value, moves, (*older.gone, *removed))
    renames = () if older.has_overrides else tuple(move for move in moves if move.target not in ((), move.source))
    renames = (*composed(renames, dialects.moves_to(own, form)),)
    moves = tuple(move for move in moves if older.has_overrides or move.target in ((), move.source))
    gone = tuple(str(path[1]) for path in older.gone) if older.has_overrides else ()
    yield UpgradedJob(document, older.name, moves, gone, dialects.in_dialect(form, own), renames)


def _words(job: Tree, objects: Iterable[Tree]) -> Iterator[Move]:
    """Yield the move of a numProcPerNode that is a word: remove `auto`, replace others by the compiled number."""
    if get(job, NUMBER) not in WORDS:
        return
    number = next((text for obj in objects for text in _values(obj, VARIABLE)), "")
    if get(job, NUMBER) == "auto" or not number.isdecimal():
        yield Move(NUMBER, ())
    else:
        yield Move(NUMBER, NUMBER, int(number))


def _values(node: Any, variable: str) -> Iterator[str]:
    """Yield the values of a variable anywhere in a tree."""
    if isinstance(node, dict):
        if node.get("name") == variable and isinstance(node.get("value"), str):
            yield node["value"]
        for child in node.values():
            yield from _values(child, variable)
    elif isinstance(node, list):
        for child in node:
            yield from _values(child, variable)


def _runtime(document: Document, release: TrainerRelease) -> Iterator[UpgradedJob]:
    """Yield a runtime of an older dialect with its moves; fields without an equivalent stay."""
    value, is_old = document.value, document.value["apiVersion"] != VERSION
    processes = get(value, TORCH_PROCESSES)
    moves: list[Move] = []
    if processes == "auto":
        moves.append(Move(TORCH_PROCESSES, ()))
    elif is_old and isinstance(processes, str) and processes.isascii() and processes.isdecimal():
        moves.append(Move(TORCH_PROCESSES, TORCH_PROCESSES, int(processes)))
    if is_old:
        moves += [Move(("apiVersion",), ("apiVersion",), VERSION), *_names(value)]
    for move in moves:
        value = put(value, move.target, move.value) if move.target else drop_field(value, move.source)
    renames = (*dialects.older_moves(value, release.dialect),)
    older = {renamed_in_runtimes(release.dialect)[move.source][1] for move in renames}
    value = moved(value, renames, [move.source for move in renames])
    if moves or renames:
        key = "v1.9" if is_old else "v2.1" if moves else min(older, key=[*DIALECTS].index)
        yield UpgradedJob(document, DIALECTS[key].name, tuple(moves), (), value, renames)


def _names(runtime: Tree) -> Iterator[Move]:
    """Yield the label of a v1.9 runtime's trainer job and the name of its container, by which Trainer finds them."""
    spec = get(runtime, SPEC)
    if not isinstance(spec, dict) or not is_first_release(spec):
        return
    for index, job in enumerate(spec["replicatedJobs"]):
        if job.get("name") != TRAINER_NODE:
            continue
        template: Path = (*JOBS_OF_RUNTIME, index, "template")
        yield Move(template, (*template, "metadata", "labels", ANCESTOR), "trainer")
        for number, container in enumerate(get(runtime, (*template, *CONTAINERS), [])):
            if container.get("name") == TRAINER:
                name: Path = (*template, *CONTAINERS, number, "name")
                yield Move(name, name, NODE)


def _unproved_jobs(read: Reading, new: Texts, before: Compilation, run: Run) -> Iterator[Diagnostic]:
    """Compile the new documents, and yield a diagnostic for each TrainJob whose objects differ from the old ones."""
    after_read = Reading(kinds=read.kinds, meter=metered(run))
    for role, documents in read.documents.items():
        after_read.documents[role] = [_renewed(document, new) for document in documents]
    after = compile_documents(after_read, run)
    objects = {job.plan.job.document.identity: job.objects for job in after.jobs}
    pairs = zip(read.documents["job"], after_read.documents["job"], strict=True)
    renewed = {old.identity: new.identity for old, new in pairs}
    known = {(found.id, found.message) for found in before.diagnostics}
    reported = _by_object(after.diagnostics)
    for job in before.jobs:
        document, runtime, old = job.plan.job.document, job.plan.runtime, job.objects
        key = renewed[document.identity]
        if runtime.is_first_release and text_place(runtime.document) in new:
            old = tuple(map(_renamed, old))
        if key not in objects or render(objects[key]) != render(old):
            why = NO_EQUIVALENT.format(run.settings.release.title)
            yield _not_upgradable(document, _reason(known, reported.get(_key(document), ())) or why)
            if text_place(runtime.document) in new:
                yield _not_upgradable(
                    runtime.document, f'TrainJob "{job.plan.job.source_name}" would compile to other objects'
                )


def _by_object(diagnostics: Iterable[Diagnostic]) -> dict[tuple[str, str], list[Diagnostic]]:
    """Return the diagnostics by namespace and name."""
    grouped: dict[tuple[str, str], list[Diagnostic]] = {}
    for found in diagnostics:
        grouped.setdefault((found.object.namespace, found.object.name), []).append(found)
    return grouped


def _reason(known: Set[tuple[str, str]], own: Iterable[Diagnostic]) -> str:
    """Return the errors of the upgraded TrainJob, or the warnings that the upgrade adds to it."""
    errors = [found.message for found in own if found.severity == "error"]
    new = [found.message for found in own if found.severity == "warning" and (found.id, found.message) not in known]
    return "; ".join(errors or new)


def _renamed(obj: Tree) -> Tree:
    """Return a JobSet of a v1.9 runtime with the names that `_names` gives to its trainer job."""
    for index, job in enumerate(get(obj, JOBS_OF_JOBSET, [])):
        if job.get("name") == TRAINER_NODE:
            template: Path = (*JOBS_OF_JOBSET, index, "template")
            obj = put(obj, (*template, "metadata", "labels", ANCESTOR), "trainer")
            for number, container in enumerate(get(obj, (*template, *CONTAINERS), [])):
                if container.get("name") == TRAINER:
                    obj = put(obj, (*template, *CONTAINERS, number, "name"), NODE)
    return obj


def _renewed(document: Document, new: Texts) -> Document:
    found = new.get(text_place(document))
    if found is None:
        return document
    return document._replace(text=found.text, value=get(found.tree, document.within))


def _not_upgradable(document: Document, why: str) -> Diagnostic:
    words = get(document.value, NUMBER) in WORDS
    return Diagnostic.declared(
        NOT_UPGRADABLE,
        f"the {document.value['kind']} cannot be upgraded: {why}",
        f"set {PROCESSES_FIELD} to a number first"
        if words
        else "rewrite it by hand, or keep it: `trainc build` reads it",
        object=ObjectId.from_source(document.value),
        field=field_of(NUMBER) if words else "",
        place=Place(document=document, path=NUMBER if words else ()),
    )


def _file(file: inputs.File, jobs: list[UpgradedJob], new: Texts) -> Upgraded:
    """Return the whole file with its new documents."""
    old = decode(file.data)
    starts = [0, *accumulate(len(line) + 1 for line in old.split("\n"))]
    parts: list[str] = []
    end = 0
    for place, document in sorted({text_place(job.document): job.document for job in jobs}.items()):
        begin = starts[document.line - 1] + document.column - 1
        assert old.startswith(document.text, begin), "the file contains the document's text at its position"
        parts += (old[end:begin], new[place].text)
        end = begin + len(document.text)
    text = "".join((*parts, old[end:]))
    changed = tuple(_changed(job) for job in jobs)
    renamed = any(ANCESTOR in move.target for job in jobs for move in job.moves)
    if file.data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return Upgraded(file.path, old, text, changed, "utf-16", renamed)  # the codec writes a byte order mark
    return Upgraded(file.path, old, text, changed, renamed=renamed)


def _changed(job: UpgradedJob) -> Changed:
    listed = [
        f"{field_of(move.source)} -> {field_of(move.target)}" if move.target else f"{field_of(move.source)} is removed"
        for move in (*job.moves, *job.renames)
        if not move.target or (move.source != move.target and (move.value is AS_IS or move in job.renames))
    ] + [f"{field_of(move.source)}: {move.value}" for move in (*job.moves, *job.renames) if move.source == move.target]
    dropped = [f"{field_of(path)} is dropped: it has no effect" for path in _dropped(job)]
    return Changed(ObjectId.from_source(job.document.value), job.document.line, job.dialect, (*listed, *dropped))


def _dropped(job: UpgradedJob) -> Iterator[Path]:
    """Yield the fields that the form does not have and that do not move: whole fields, and parts of fields."""
    sources = {move.source[:length] for move in job.moves for length in range(2, 4)}
    for key in job.gone:
        field = get(job.document.value, ("spec", key))
        if field is not None and ("spec", key) not in sources:
            yield "spec", key
        elif isinstance(field, dict) and any(source[:2] == ("spec", key) and len(source) > 2 for source in sources):
            yield from (("spec", key, part) for part in field if ("spec", key, part) not in sources)
