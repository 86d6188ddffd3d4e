"""The output folders of `trainc build`: one file per TrainJob, in a subfolder for each environment.

Reads    the results of a build, without errors, and the folder of each project.
Returns  the exit code. Nothing is written for any project if one of the folders cannot be written as planned.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.base.texts import escape, first_of
from trainc.budget import OverBudgetError, checked_output
from trainc.cli.common import DIFFERENT, OK, WRONG_INPUT, printing
from trainc.compilation.results import is_object
from trainc.diagnostics import Diagnostic, Location, ObjectId
from trainc.files import outputs
from trainc.files.output_marks import PASSED_MARK, first_line, source_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.compilation import Compilation
    from trainc.compilation.results import Compiled
    from trainc.diagnostics import Document
    from trainc.files.exclude import Excluded
    from trainc.files.outputs import Changes, Output


PASSTHROUGH_DROPPED: Final = Declaration("passthrough-dropped", ("build",), trainc_only=True)
MOST_KEPT: Final = 20
"""The maximum number of kept files that are named."""


class Part(NamedTuple):
    """The result of an environment."""

    environment: str
    """The name; empty for a project without environments."""
    result: Compilation
    passthrough: bool
    """Whether a setting or the option decides which documents of other kinds are copied."""


class Order(NamedTuple):
    """How to write the build of a project."""

    folder: str
    paths: tuple[str, ...]
    """The PATHs whose outputs the folder has."""
    project: bool
    """Whether the folder has all outputs of a project, and no others."""
    prune: bool
    check: bool
    every: bool
    """Whether all environments are built, so that the outputs of deleted ones are pruned."""
    keep: tuple[str, ...]
    """The patterns of other files that stay, relative to the folder."""
    parts: tuple[Part, ...]
    """The result of each environment."""


class _Planned(NamedTuple):
    """The changes of a folder; those beside the folders of the environments have no part."""

    output: Output
    changes: Changes
    files: int = 0
    part: Part | None = None
    others: tuple[Document, ...] = ()


class _FolderError(Exception):
    """A folder cannot be read or written."""

    def __init__(self, folder: str, error: OSError) -> None:
        super().__init__(folder)
        self.diagnostic = outputs.write_fault(folder, "", error)


def to_folders(orders: Sequence[Order], result: Compilation, report: Callable[..., None]) -> int:
    """Write the outputs of all projects and environments, or compare them with their folders.

    Args:
        orders: how to write each project.
        result: the result to report.
        report: the function that reports a result and lines of text.
    """
    check = orders[0].check
    with ExitStack() as stack:
        planned: list[_Planned] = []
        lost: list[Diagnostic] = []
        lost_data: list[str] = []
        try:
            for order in orders:
                own = [*_planned(order, stack)]
                decided = all(part.passthrough for part in order.parts)
                lost += (fault for each in own if (fault := _loss(each, decided=decided)))
                lost_data += (_data_note(each, order.parts) for each in own)
                planned += own
        except (_FolderError, OverBudgetError) as error:
            report(result.with_diagnostics([error.diagnostic]))
            return WRONG_INPUT
        unexpected = [
            outputs.unexpected_file(one.output.folder, path) for one in planned for path in one.changes.unmarked
        ]
        result = result.with_diagnostics(chain(lost, *map(_diagnostics, planned), () if check else unexpected))
        if result.failed:
            report(result)
            return WRONG_INPUT
        kept = [*map(_kept_outputs_note, planned)]
        if check:
            folders = ", ".join(dict.fromkeys(order.folder for order in orders))
            return _compare(folders, result.with_diagnostics(unexpected), planned, kept, report)
        for each in planned:
            if refused := outputs.apply(each.output, each.changes):
                report(result.with_diagnostics(refused))
                return WRONG_INPUT
    done = [line for each in planned if (line := _done(each))]
    omitted = dict.fromkeys(_omitted(each) for each in planned if each.part is not None)
    report(result, _lines(*kept, *done, *lost_data, *omitted))
    return OK


def _planned(order: Order, stack: ExitStack) -> Iterator[_Planned]:
    """Yield the changes of each folder of a project. Raise OverBudgetError beyond the budget, and _FolderError."""
    keep, folder = _kept_files(order), order.folder
    rendered = [_rendered(order, part) for part in order.parts]
    try:
        for part, files in zip(order.parts, rendered, strict=True):
            folder = _folder(order, part.environment)
            output = stack.enter_context(outputs.opened(folder, make=not order.check, notify=printing.report))
            yield _plan(order, keep, part, files, output)
        names = [part.environment for part in order.parts if part.environment]
        if names and order.every:
            # The outputs of deleted environments, and those from before the project had environments.
            folder = order.folder
            output = stack.enter_context(outputs.opened(folder, make=not order.check, notify=printing.report))
            yield _Planned(output, _changes(order, keep, output, {}, skip=names))
    except OSError as error:
        raise _FolderError(folder, error) from None


def _folder(order: Order, environment: str) -> str:
    return os.path.join(order.folder, environment) if environment else order.folder


def _rendered(order: Order, part: Part) -> dict[str, str]:
    """Return the files of one environment's folder. Raise OverBudgetError beyond the budget."""
    environment, result, _ = part
    folder = _folder(order, environment)
    texts = [text for _, _, text in result.manifests()]
    files = {_path(job): _header(job, folder) + text for job, text in zip(result.jobs, texts, strict=True)}
    if others := _copied_objects(result):
        whole = chain(files.values(), (with_source(document, folder) for document in others))
        copies = islice(checked_output(result.budget, whole), len(files), None)
        header = f"{PASSED_MARK}\n{source_lines(folder, sorted(document.file for document in others))}"
        files[outputs.PASSED] = "---\n".join((header, *copies))
    return files


def _copied_objects(result: Compilation) -> tuple[Document, ...]:
    return tuple(document for document in result.copied if is_object(document))


def _kept_files(order: Order) -> Excluded | None:
    """Return the patterns of the other files that stay; None without any."""
    if not order.keep:
        return None
    from trainc.files.exclude import Excluded, Patterns

    return Excluded([Patterns(os.path.abspath(order.folder), order.keep)])


def _plan(order: Order, keep: Excluded | None, part: Part, files: dict[str, str], output: Output) -> _Planned:
    """Return the changes of one environment's folder."""
    return _Planned(output, _changes(order, keep, output, files), len(files), part, _copied_objects(part.result))


def _changes(
    order: Order, keep: Excluded | None, output: Output, files: dict[str, str], *, skip: Sequence[str] = ()
) -> Changes:
    """Return the changes of a folder; `keep` are the patterns of the other files that stay."""
    return outputs.plan(output, files, paths=order.paths, whole=order.project, prune=order.prune, skip=skip, keep=keep)


def _path(job: Compiled) -> str:
    """Return the file of a TrainJob, relative to the folder of its environment."""
    return f"{job.namespace}/{job.name}.yaml" if job.namespace else f"{job.name}.yaml"


def _header(job: Compiled, folder: str) -> str:
    """Return the lines at the top of a TrainJob's output."""
    id = job.plan.job.id
    below = os.path.join(folder, job.namespace or "")
    return first_line(id.kind, id.namespace, id.name) + source_lines(below, [job.plan.job.document.file])


def _diagnostics(planned: _Planned) -> Iterator[Diagnostic]:
    for diagnostic in planned.changes.diagnostics:
        name = planned.part.environment if planned.part is not None else ""
        yield diagnostic._replace(environments=(name,)) if name else diagnostic


def _loss(planned: _Planned, *, decided: bool) -> Diagnostic | None:
    """Return the error for a build that removes documents of other kinds without a setting."""
    part = planned.part
    if outputs.PASSED not in planned.changes.remove or (decided if part is None else part.passthrough):
        return None
    names = [f"{id.kind} {id.qualified_name}" for id in _objects_in(planned.output, outputs.PASSED)]
    found = Diagnostic.declared(
        PASSTHROUGH_DROPPED,
        f"would be removed, with {first_of(names, MOST_KEPT) or 'documents of other kinds'}",
        "use --passthrough, or set `passthrough` in trainc.yaml: true keeps the objects, false removes them",
        place=Location(file=os.path.join(planned.output.folder, outputs.PASSED)),
    )
    return found._replace(environments=(part.environment,)) if part is not None and part.environment else found


def _objects_in(output: Output, path: str) -> list[ObjectId]:
    """Return the identities of the objects in a file of the folder."""
    from trainc.files.atomic import read_current
    from trainc.kubernetes.documents import read_stream

    data = read_current(output.at, path)
    documents, _ = read_stream(data if isinstance(data, bytes) else b"")
    return [ObjectId.from_manifest(document.value) for document in documents]


def _data_note(planned: _Planned, parts: Sequence[Part]) -> str:
    """Return a line that names the copied objects that leave the folder and whose deletion loses data."""
    changed = [*planned.changes.write, *planned.changes.remove]
    old = [
        id for path in changed if os.path.basename(path) == outputs.PASSED for id in _objects_in(planned.output, path)
    ]
    if not old:
        return ""
    from trainc.compilation.important_objects import DELETED, loses_data, used_config_maps

    staying = [planned.part.result] if planned.part is not None else [part.result for part in parts]
    kept = {
        _unversioned(ObjectId.from_manifest(document.value))
        for result in staying
        for document in _copied_objects(result)
    }
    used = used_config_maps(tree for result in staying for tree in result.objects)
    lost = [f"{id.kind} {id.qualified_name}" for id in old if _unversioned(id) not in kept and loses_data(id, used)]
    if not lost:
        return ""
    return escape(f"{planned.output.folder}: removed {first_of(lost, MOST_KEPT)}: {DELETED}")


def _unversioned(id: ObjectId) -> ObjectId:
    """Return an identity without the version: an object of one version exists in every other version of its group."""
    return id._replace(apiVersion=id.apiVersion.rpartition("/")[0])


def _compare(
    folders: str, result: Compilation, planned: Sequence[_Planned], kept: Sequence[str], report: Callable[..., None]
) -> int:
    """Print the differences between the folders and the output."""
    from trainc.source.file_diffs import unified_diff

    differences = [each for one in planned for each in outputs.diff(one.output, one.changes)]
    difference = "".join(line for each in differences for line in unified_diff(*each))
    outdated = f"{escape(folders)} is out of date: run trainc build without --check" if difference else ""
    report(result, _lines(*kept, outdated))
    printing.write(difference)
    return WRONG_INPUT if result.failed else DIFFERENT if difference else OK


def _done(planned: _Planned) -> str:
    shown = escape(planned.output.folder)
    removed = len(planned.changes.remove)
    if planned.part is None:
        return f"{shown}: {removed} removed" if removed else ""
    written = len(planned.changes.write)
    return f"{shown}: {written} written, {removed} removed, {planned.files - written} unchanged"


def _omitted(planned: _Planned) -> str:
    assert planned.part is not None
    result = planned.part.result
    lines = [printing.omitted_note(result, chosen=planned.part.passthrough)]
    if count := len(result.copied) - len(planned.others):
        from trainc.base.texts import plural

        lines.append(f"omitted {plural(count, 'document')} that {'is' if count == 1 else 'are'} not Kubernetes objects")
    return _lines(*lines)


def _kept_outputs_note(planned: _Planned) -> str:
    """Return lines that name the kept outputs and the reason."""
    folder, changes = planned.output.folder, planned.changes
    if not changes.kept:
        return ""
    files = [f"{folder}/{path}: kept, not compiled from the given paths" for path in changes.kept[:MOST_KEPT]]
    if more := len(changes.kept) - len(files):
        files.append(f"{more} more files kept")
    missing = outputs.shown(changes.missing)
    return "\n".join(map(escape, [*files, f"nothing is pruned: the given paths do not cover {missing}"]))


def _lines(*lines: str) -> str:
    return "\n".join(line for line in lines if line)


def as_read(document: Document) -> str:
    """Return a document's own text, to follow a `---` line; an item of a List or an edited one is rendered again."""
    if document.within or document.edits:
        from trainc.emit import yaml

        return yaml.render([document.value])
    text = document.text
    if text[:4] in ("--- ", "---\t", "---\r", "---\n"):
        first, newline, rest = text.partition("\n")
        text = first[3:].strip() + newline + rest if first[3:].strip() else rest
    return text if text.endswith("\n") else text + "\n"


def with_source(document: Document, folder: str) -> str:
    """Return a document's own text below a comment with its file, relative to the output folder."""
    from trainc.base.texts import escape
    from trainc.files.output_marks import STDIN, relative_source

    source = relative_source(folder, document.file)
    return f"# Source: {'<stdin>' if source == STDIN else escape(source)}\n{as_read(document)}"
