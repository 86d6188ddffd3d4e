"""Migration: TrainJobs that run as legacy jobs did, and their runtimes.

Reads    the given paths, in each environment of the project.
Returns  for each legacy job the first form that keeps its behaviour (`forms`): each candidate is compiled in place of
         the job, and the objects are compared (`accepted_differences`). A job that does not compile, or that no
         candidate replaces, stays, with diagnostics.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import CLUSTER_RUNTIME, COMPILED, LEGACY, find
from trainc.base.records import NamedTuple
from trainc.compilation import compile_documents, environment_runs, metered, read
from trainc.compilation.run import MIGRATE, PLAIN, Options
from trainc.diagnostics import Diagnostic, ObjectId, Place, Related, failed, warnings_as_errors
from trainc.files import inputs
from trainc.frontends.lowering import losses_with_effect
from trainc.frontends.reading import Reading
from trainc.frontends.training_jobs import training_job
from trainc.kubernetes.violations import listed
from trainc.review.changes.renamed_jobs import renamed
from trainc.rewriting.migration import obstacles
from trainc.rewriting.migration.accepted_differences import ONE_JOB, compare, one_line, reason
from trainc.rewriting.migration.forms import candidates
from trainc.rewriting.migration.host_files import renaming, with_files
from trainc.rewriting.migration.migrated import Migrated, Migration, Pair, RejectedForm, kind_in_words
from trainc.rewriting.migration.new_runtimes import with_names
from trainc.rewriting.migration.one_job import in_one_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.compilation import Compilation, Compiled, Run
    from trainc.diagnostics import Document
    from trainc.files.inputs import File
    from trainc.files.selection import Selection
    from trainc.kubernetes.trees import Path, Tree
    from trainc.rewriting.migration.accepted_differences import Row
    from trainc.rewriting.migration.migrated import Candidate, Form, Key

NOT_MIGRATABLE: Final = Declaration("not-migratable", ("read",), trainc_only=True)
SHOWN: Final = 3
"""The number of fields that a diagnostic refers to."""


class Reason(NamedTuple):
    """A reason why a candidate does not replace a job."""

    text: str
    at: tuple[Compiled, Path] | None = None
    """The legacy job, and the field of its JobSet that differs."""
    help: str = ""


LOSSES: Final = "legacy-losses"
"""The lint rule whose warnings are verdicts about a migration."""


def migrate(
    paths: Sequence[str],
    run: Run = PLAIN,
    *,
    form: Form | None = None,
    extensions: bool = True,
    runtime_kind: str = CLUSTER_RUNTIME.kind,
    stdin: bytes | None = None,
) -> Migration:
    """Return the TrainJobs and runtimes that replace the legacy jobs of the paths. Raise OverBudgetError.

    Args:
        paths: as for `compilation.compile_paths`.
        run: the run, with the settings of the project.
        form: the form of all jobs; None for the first one that keeps the behaviour of each job.
        extensions: whether a runtime may have fields that only trainc reads.
        runtime_kind: the kind of new runtimes; a TrainingRuntime is in the namespace of its job.
        stdin: the content of the path `-`; None for that of standard input.
    """
    if failed(run.settings.diagnostics):
        return Migration(diagnostics=run.settings.diagnostics)
    run = run._replace(flags={**run.flags, **Options(legacy=True).flags}, purpose=MIGRATE, complete=False)
    chosen = environment_runs.selected(run)
    if isinstance(chosen, Diagnostic):
        return Migration(diagnostics=(chosen,))
    files: dict[str, File] = {}
    reader = _recording(environment_runs.CachedStreams() if stdin is None else _given(stdin), files)
    projects = [_Project(paths, each, reader) for each in chosen]
    plain = _Project(paths, _unedited(projects[0].run), reader)
    search = _Search(plain, projects, form, extensions=extensions, runtime_kind=runtime_kind)
    search.run(files)
    strict = any(each.strict for each in projects)
    found = environment_runs.merge_diagnostics(search.diagnostics)
    return Migration(
        jobs=_unblocked(search.migrated(), found),
        legacy=(*search.documents.values(), *search.unsupported),
        known=plain.runtimes(),
        files=files,
        settings=run.settings,
        strict=strict,
        diagnostics=warnings_as_errors(found) if strict else found,
        skipped=tuple(plain.reading.skipped_names()),
    )


def _unblocked(jobs: Iterable[Migrated], diagnostics: Iterable[Diagnostic]) -> tuple[Migrated, ...]:
    """Return the jobs of the files without an error: a file with one stays as it is."""
    errors = [found for found in diagnostics if found.severity == "error" and isinstance(found.place, Place)]
    blocked = {found.place.document.file for found in errors if isinstance(found.place, Place)}
    return tuple(job for job in jobs if job.document.file not in blocked)


def _given(stdin: bytes) -> Callable[..., Iterable[File | Diagnostic]]:
    """Return a reader that yields some bytes for each path."""

    def read(paths: Iterable[str], *_: object, **options: object) -> Iterator[File | Diagnostic]:
        yield from (inputs.File(path, stdin) for path in paths)

    return read


def _recording(
    reader: Callable[..., Iterable[File | Diagnostic]], files: dict[str, File]
) -> Callable[..., Iterable[File | Diagnostic]]:
    """Return a reader that keeps the files that it yields."""

    def read(paths: Iterable[str], *selection: Selection, **options: object) -> Iterator[File | Diagnostic]:
        for file in reader(paths, *selection, **options):
            if isinstance(file, inputs.File):
                files[file.path] = file
            yield file

    return read


def _comparable(run: Run) -> Run:
    """Return a run whose objects have no hash in their names, and whose warnings are no errors."""
    settings = run.settings
    delivery = settings.delivery._replace(name_suffix_hash=False)
    kinds = tuple(row.kind for row in LEGACY)
    return run._replace(settings=settings._replace(delivery=delivery, legacy_kinds=kinds))


def _unedited(run: Run) -> Run:
    """Return a run without the changes that the settings make to documents."""
    return run._replace(settings=run.settings._replace(environment=None, strict=""))


class _Project:
    """The documents of a run in one environment."""

    def __init__(self, paths: Sequence[str], run: Run, reader: Callable[..., Iterable[File | Diagnostic]]) -> None:
        self.given = run.settings
        run = _comparable(run)
        self.run = run._replace(settings=run.settings._replace(strict=""))
        self.strict = run.settings.strict
        self.reader = reader
        self.reading = read(paths, run, reader, kinds=(*COMPILED, *LEGACY))
        self.before = compile_documents(self.reading, self.run)
        self._whole: dict[Key, Compiled | None] = {}
        self.compiled = {_key(job.plan.job.document): job for job in self.before.jobs}

    @property
    def name(self) -> str:
        """The environment."""
        return self.run.settings.environment_name

    def runtimes(self) -> dict[str, Tree]:
        """Return the specs of the runtimes by name."""
        return {
            ObjectId.from_manifest(document.value).name: document.value.get("spec")
            for document in self.reading.documents["runtime"]
        }

    def in_one_job(self, key: Key) -> Compiled | None:
        """Return a job with its pods in one Job; None if it has one already, or if its roles differ."""
        if key not in self._whole:
            self._whole[key] = in_one_job(self.compiled[key])
        return self._whole[key]

    def compile(self, trials: dict[Key, Candidate]) -> tuple[Compilation, dict[Key, Compiled]]:
        """Compile candidates in place of some jobs, without the other jobs; return also the new jobs with old names.

        A generated name depends on the objects, which have other names in the new form.
        """
        reading = Reading(
            self.reader, kinds=self.reading.kinds, namespace=self.reading.namespace, meter=metered(self.run)
        )
        reading.documents = dict(self.reading.documents)
        reading.kustomizations = self.reading.kustomizations
        new_documents = {
            key: self._with_value(document, trials[key].job)
            for document in reading.documents["job"]
            if (key := _key(document)) in trials
        }
        reading.documents["job"] = [*new_documents.values()]
        known = self.runtimes()
        own = [trial for trial in trials.values() if not trial.is_built_in and trial.runtime_name not in known]
        new = {trial.runtime_name: trial.runtime for trial in own}
        path = self.reading.documents["job"][0].file
        reading.documents["runtime"] = [
            *reading.documents["runtime"],
            *(_written(path, runtime) for runtime in new.values()),
        ]
        result = compile_documents(reading, self.run)
        jobs = {job.plan.job.document.identity: job for job in result.jobs}
        found: dict[Key, Compiled] = {}
        for key, document in new_documents.items():
            before, after = self.compiled[key], jobs.get(document.identity)
            if after is not None:
                found[key] = after if after.name == before.name else renamed(after, before.name)
        return result, found

    def _with_value(self, document: Document, value: Tree) -> Document:
        found = _written(document.file, value)
        return self.reading.with_namespace(found, "job")


def _written(file: str, value: Tree) -> Document:
    """Return a document with its own text."""
    from trainc.diagnostics import Document
    from trainc.emit.yaml import Writer

    return Document(file, 1, Writer().document(value), value)


def _key(document: Document) -> Key:
    return document.file, document.line, document.column, document.within


class _Search:
    """The search for the first candidate of each job that keeps its behaviour in all environments."""

    def __init__(
        self,
        plain: _Project,
        projects: Sequence[_Project],
        form: Form | None,
        *,
        extensions: bool,
        runtime_kind: str,
    ) -> None:
        self.plain, self.projects, self.runtime_kind = plain, projects, runtime_kind
        self.form, self.extensions = form, extensions
        self.documents = {_key(each): each for each in plain.reading.documents["job"] if _is_legacy(each)}
        self.unsupported: list[Document] = []
        self.diagnostics: list[tuple[str, Diagnostic]] = []
        self.accepted: dict[Key, tuple[Candidate, tuple[Pair, ...], tuple[Row, ...], tuple[tuple[str, str], ...]]] = {}
        self.rejected: dict[Key, list[RejectedForm]] = {}
        self.reasons: dict[Key, int] = {}
        """The number of reasons against the last candidate of each job; the largest for one that is not compiled."""

    def run(self, files: dict[str, File]) -> None:
        """Find the forms of all jobs, and report those that stay."""
        stay = self._report(files)
        waiting: dict[Key, Iterator[Candidate | RejectedForm]] = {
            key: self._candidates(key)
            for key in self.documents
            if key not in stay and all(key in project.compiled for project in (self.plain, *self.projects))
        }
        while trials := self._next_candidates(waiting):
            self._try(trials)
            waiting = {key: found for key, found in waiting.items() if key in trials and key not in self.accepted}
        for key in self.rejected.keys() - self.accepted.keys():
            self.diagnostics.append(("", self._not_migratable(self.documents[key], self.rejected[key])))

    def _candidates(self, key: Key) -> Iterator[Candidate | RejectedForm]:
        whole = self.plain.in_one_job(key)
        return candidates(self.plain.compiled[key].plan, whole and whole.plan, lambda: self.reasons[key])

    def migrated(self) -> Iterator[Migrated]:
        """Yield the migrated jobs in the order of their files."""
        keys = [key for key in self.documents if key in self.accepted]
        found = ((self.documents[key], self.accepted[key][0]) for key in keys)
        known = self.plain.reading.documents["runtime"]
        for key, candidate in zip(keys, with_names(found, known, self.runtime_kind), strict=True):
            document, (_, runs, rows, details) = self.documents[key], self.accepted[key]
            rejected = tuple(each for each in self.rejected.get(key, ()) if each.form != candidate.form)
            plan = self.plain.compiled[key].plan
            losses = tuple(losses_with_effect(plan.job.document, plan.losses))
            yield Migrated(document, candidate, _by_form(rejected), runs, rows, details, losses)

    def _report(self, files: dict[str, File]) -> set[Key]:
        """Report the faults of the jobs and of what is read, and return the jobs that cannot be migrated."""
        stay: set[Key] = set()
        for project in self.projects:
            for diagnostic in environment_runs.with_source_names(project.before):
                is_error = diagnostic.severity == "error" and not _is_of_trainjob(diagnostic)
                if is_error or diagnostic.id == LOSSES:
                    self.diagnostics.append((project.name, diagnostic))
            jobs = [each for each in project.reading.documents["job"] if _is_legacy(each)]
            for document, diagnostic in obstacles.patched_by_settings(jobs, project.run, self.plain.reader):
                stay.add(_key(document))
                self.diagnostics.append((project.name, diagnostic))
        kustomizations = self.plain.reading.kustomizations
        for document, diagnostic in obstacles.patched_by_kustomizations(self.documents.values(), kustomizations, files):
            stay.add(_key(document))
            self.diagnostics.append(("", diagnostic))
        found = obstacles.images_of_kustomizations(self.documents.values(), kustomizations)
        self.diagnostics += (("", each) for each in found)
        if all(project.compiled or not self.documents for project in self.projects):
            # An error of the settings is reported by each project, which then has no objects.
            self.diagnostics += (("", each) for each in self._only_unedited())
        for document in self.plain.reading.documents["other"]:
            row = training_job(document)
            if row is not None and not row.plugin:  # Volcano runs the Jobs that trainc does not compile
                self.unsupported.append(document)
                self.diagnostics.append(("", _unsupported(document, row.word)))
        return stay

    def _only_unedited(self) -> Iterator[Diagnostic]:
        """Yield the errors of the jobs without the settings of any environment."""
        known = {diagnostic.message for _, diagnostic in self.diagnostics}
        for diagnostic in self.plain.before.diagnostics:
            if diagnostic.severity == "error" and not _is_of_trainjob(diagnostic) and diagnostic.message not in known:
                yield diagnostic

    def _next_candidates(self, waiting: dict[Key, Iterator[Candidate | RejectedForm]]) -> dict[Key, Candidate]:
        """Return the next candidate of each job that the options allow."""
        trials: dict[Key, Candidate] = {}
        for key, found in waiting.items():
            for each in found:
                if self.form not in (None, each.form):
                    pass
                elif isinstance(each, RejectedForm):
                    self.rejected.setdefault(key, []).append(each)
                elif each.extensions and not self.extensions:
                    why = f"only trainc reads {one_line(each.extensions)}"
                    self.rejected.setdefault(key, []).append(RejectedForm(each.form, (why,)))
                elif each.named and (settings := self._renaming(key)):
                    why = f"the names in {each.named} do not follow {listed(settings)}"
                    help = "keep the names of the JobSets, or keep the job"
                    self.rejected.setdefault(key, []).append(RejectedForm(each.form, (why,), help=help))
                else:
                    trials[key] = each
                    break
                self.reasons[key] = sys.maxsize
        return trials

    def _renaming(self, key: Key) -> list[str]:
        """Return the settings that give the JobSet of a job another name than in its file."""
        document, plan = self.documents[key], self.plain.compiled[key].plan
        settings = (project.given for project in self.projects)
        return [*renaming(document, plan, settings, self.plain.reading.kustomizations)]

    def _try(self, trials: dict[Key, Candidate]) -> None:
        """Compile the candidates of several jobs in each environment, and accept those that keep the behaviour."""
        runs: dict[Key, list[Pair]] = {key: [] for key in trials}
        rows: dict[Key, list[Row]] = {key: [] for key in trials}
        details: dict[Key, list[tuple[str, str]]] = {key: [] for key in trials}
        reasons: dict[Key, list[Reason]] = {key: [] for key in trials}
        for project in self.projects:
            result, jobs = project.compile(trials)
            for key, trial in trials.items():
                before, after = project.compiled[key], jobs.get(key)
                whole = (project.in_one_job(key) if trial.is_one_job else None) or before
                if after is None:
                    reasons[key] += map(Reason, _errors(result, self.documents[key]))
                    continue
                after = with_files(after, trial.files, before.objects)
                comparison = compare(whole.objects, after.objects)
                where = f" in environment {project.name}" if project.name else ""
                reasons[key] += (
                    Reason(f"{reason(change)}{where}", (before, change.old_path)) for change in comparison.others
                )
                reasons[key] += _new_faults(project.before, result, self.documents[key], trial.runtime_name)
                rows[key] += (*((ONE_JOB,) if trial.is_one_job else ()), *comparison.rows)
                details[key] += comparison.accepted
                runs[key].append(Pair(project.name, before, after))
        for key, candidate in trials.items():
            self.reasons[key] = len(reasons[key])
            if reasons[key]:
                self.rejected.setdefault(key, []).append(_rejected(candidate.form, reasons[key]))
            else:
                unique = tuple(dict.fromkeys(rows[key])), tuple(dict.fromkeys(details[key]))
                self.accepted[key] = candidate, tuple(runs[key]), *unique

    def _not_migratable(self, document: Document, rejected: Sequence[RejectedForm]) -> Diagnostic:
        subject = ObjectId.from_source(document.value)
        forms = [f"{each.form}: {one_line(each.reasons)}" for each in _by_form(rejected)]
        last = _by_form(rejected)
        help = next((each.help for each in last if each.help), "change these fields first, or keep the job")
        help = "use another --form, or none" if self.form else help
        fields = (field for each in last for field in each.fields)
        found = (job.trace().point(0, path)[0] for job, path in fields)
        places = {place.locate().line: place for place in found if len(place.path) > 1}
        return Diagnostic.declared(
            NOT_MIGRATABLE,
            f'no TrainJob runs as {kind_in_words(document)} "{subject.name}" does ({". ".join(forms)})',
            help,
            object=subject,
            place=Place(document, ("kind",)),
            related=tuple(Related("the field", place) for place in (*places.values(),)[:SHOWN]),
        )


def _rejected(form: Form, reasons: Sequence[Reason]) -> RejectedForm:
    """Return a rejected form with the fields that the reasons are about."""
    fields = tuple(each.at for each in reasons if each.at is not None and each.at[1])
    help = next((each.help for each in reasons if each.help), "")
    return RejectedForm(form, tuple(dict.fromkeys(each.text for each in reasons)), fields, help)


def _by_form(rejected: Iterable[RejectedForm]) -> tuple[RejectedForm, ...]:
    """Return one rejection for each form, with the fewest reasons: the last one of those."""
    found: dict[Form, RejectedForm] = {}
    for each in rejected:
        known = found.get(each.form)
        if known is None or len(each.reasons) <= len(known.reasons):
            found[each.form] = each
    return tuple(found.values())


def _is_legacy(document: Document) -> bool:
    kind = find(document.value.get("apiVersion"), document.value.get("kind"))
    return kind in LEGACY


def _is_of_trainjob(diagnostic: Diagnostic) -> bool:
    """Return whether a diagnostic is about a TrainJob or a runtime, which `trainc validate` reports.

    A legacy job has a runtime of its own, which is in the same document.
    """
    kind = diagnostic.object.kind
    if isinstance(diagnostic.place, Place):
        kind = ObjectId.from_manifest(diagnostic.place.document.unedited).kind or kind
    return any(kind == row.kind for row in COMPILED)


def _errors(result: Compilation, document: Document) -> Iterator[str]:
    """Yield the errors of a candidate that does not compile."""
    name = ObjectId.from_source(document.value).name
    errors = [each for each in result.diagnostics if each.severity == "error"]
    own = [each for each in errors if name in (each.object.name, "")]
    yield from (f"{each.message}" for each in own or errors)


def _new_faults(before: Compilation, after: Compilation, document: Document, runtime: str) -> Iterator[Reason]:
    """Yield the rules that a candidate or its runtime breaks, and that the legacy job does not break."""
    subject = ObjectId.from_source(document.value)
    name = subject.name
    known = {each.id for each in before.diagnostics if name in (each.object.name, _source_name(each))}
    for each in after.diagnostics:
        own = each.object.name in (name, runtime) if each.users is None else subject.qualified_name in each.users.names
        if own and each.severity != "note" and each.id not in known:
            yield Reason(f"it breaks the rule {each.id}: {each.message}", help=each.help or "")


def _source_name(diagnostic: Diagnostic) -> str:
    """Return the name of a diagnostic's object without the affixes of a project."""
    place = diagnostic.place
    return ObjectId.from_source(place.document.unedited).name if isinstance(place, Place) else ""


def _unsupported(document: Document, kind: str) -> Diagnostic:
    subject = ObjectId.from_source(document.value)
    return Diagnostic.declared(
        NOT_MIGRATABLE,
        f'{subject.apiVersion} {kind} "{subject.name}" is of a kind that trainc does not compile',
        "write the TrainJob by hand, or leave the file out with --exclude",
        object=subject,
        place=Place(document, ("kind",)),
    )
