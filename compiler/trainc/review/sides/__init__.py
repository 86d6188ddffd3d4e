"""Sides: the objects before and after a change.

Reads    files, folders and git revisions, as parsed by `side_arguments`.
Returns  the objects of each side: a side with TrainJobs is compiled, and the JobSets beside them are checked. A side
         with JobSets only is used as rendered, unless its settings may change them.
"""

from __future__ import annotations

import os
from functools import cache, partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from trainc.base.declarations import Declaration
from trainc.base.kinds import JOBSET
from trainc.compilation import (
    Compilation,
    Compiled,
    Run,
    compile_documents,
    duplicate_object,
    duplicates,
    environment_runs,
)
from trainc.compilation.sources import settings_name_queue
from trainc.diagnostics import Diagnostic, Document, Location, ObjectId, Place, failed
from trainc.files import inputs
from trainc.files.confine import is_within, resolved
from trainc.files.exclude import ALL_EXCLUDED
from trainc.files.inputs import STDIN
from trainc.files.output_marks import is_marked
from trainc.files.outputs import PASSED
from trainc.files.selection import Selection
from trainc.files.unsaved import laid_over
from trainc.files.walk import UNREADABLE
from trainc.frontends.reading import Reading
from trainc.kubernetes.trees import get
from trainc.pods.footprint import is_jobset
from trainc.review.commits import commit_files
from trainc.review.commits import commit_files as commit_settings
from trainc.review.sides import rendered_files
from trainc.review.sides.rendered_files import without_server_fields
from trainc.settings import DEFAULT, Settings, in_environment
from trainc.settings.nested_projects import Apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from trainc.budget import Meter
    from trainc.frontends.reading import Reader
    from trainc.kubernetes.trees import Tree
    from trainc.kueue.usage import QueueUse
    from trainc.review import commits as revisions
    from trainc.review.sides.side_files import SideFiles

Content = Literal["compiled", "rendered", "nothing"]

NOTHING_TO_COMPARE: Final = Declaration("nothing-to-compare", ("read",), trainc_only=True)


class SideSpec(NamedTuple):
    """A side as the user names it."""

    name: str
    """The side's name in a report."""
    paths: tuple[str, ...]
    commit: revisions.Commit | None = None
    """The commit whose files are read; None for files on disk."""
    project: bool = False
    """Whether no path is given, so that the sources of its trainc.yaml are read."""
    trainer_version: str = ""
    """The release of Trainer that it is compiled for; empty for that of the settings."""
    environment: str = ""
    """The environment that it is compiled in, if the other side is another environment of the same tree."""
    is_live: bool = False
    """Whether it has the objects of a cluster."""
    below: bool = False
    """Whether its paths are folders of projects below the given paths, which the side may lack."""
    apart: Apart = Apart()
    """What the other projects of the side have."""
    contents: Mapping[str, bytes] | None = None
    """The contents of files that are not on the disk, or differ from it; None for the files of a commit."""

    def without_revision(self, file: str) -> str:
        """Return a file name of this side without its revision."""
        return file if self.commit is None else file.removeprefix(self.commit.named(""))

    def revision(self) -> tuple[str, str]:
        """Return the prefix of this side's file names, and that of the same files in the work tree; empty on disk."""
        if self.commit is None:
            return "", ""
        top = os.path.relpath(self.commit.top)
        return self.commit.named(""), "" if top == os.curdir else os.path.join(top, "")

    @property
    def folder(self) -> str:
        """The absolute path of the first path's folder."""
        path = os.path.abspath(os.curdir if self.paths[0] == STDIN else self.paths[0])
        return os.path.dirname(path) if self.is_file(self.paths[0]) else path

    def is_file(self, path: str) -> bool:
        """Whether a path is a file, or standard input."""
        return path == STDIN or (os.path.isfile(path) if self.commit is None else self.commit.is_file(path))


class SideItem(NamedTuple):
    """One object of a side."""

    id: ObjectId
    tree: Tree
    document: Document
    """Its document; for a compiled object, its TrainJob's document."""
    job: Compiled | None = None
    """The compiled TrainJob; None for a rendered object."""
    position: int = 0
    """Its index in the objects of its TrainJob."""
    own: SideItem | None = None
    """The object under its own name, if it is compared under another one."""
    environment: str = ""
    """The environment of a rendered object: the folder below `output` that has its file; empty for any other."""

    @property
    def is_renamed(self) -> bool:
        """Whether the name in its source file, or a setting, has changed. A generated name follows the content."""
        return self.own is not None and self.job is not None and self.job.plan.job.letters_at is None


class Side(NamedTuple):
    """The content of one side."""

    spec: SideSpec
    content: Content
    items: tuple[SideItem, ...]
    diagnostics: tuple[Diagnostic, ...]
    settings: Settings = DEFAULT
    """The side's own settings."""
    skipped: tuple[str, ...] = ()
    """The files in folders that were skipped, because the side does not depend on them."""
    as_rendered: Callable[[], Side] | None = None
    """The function that returns a side without TrainJobs and JobSets as a rendered one, with its hidden files."""
    runtimes: tuple[Document, ...] = ()
    """The runtimes of its paths, without the changes of the settings."""
    others: tuple[Document, ...] = ()
    """The documents of other kinds, of which Kueue's queues have the quotas of its JobSets."""

    def file(self, name: str) -> str:
        """Return a file name of this side without its revision."""
        return self.spec.without_revision(name)

    @property
    def queues(self) -> tuple[QueueUse, ...]:
        """What its JobSets request from Kueue's queues, beside the quotas."""
        if not any(each.value.get("kind") == "ClusterQueue" for each in self.others):
            return ()
        from trainc.kueue.usage import queue_uses

        found = ((item.own or item).tree for item in self.items)
        return tuple(queue_uses((tree for tree in found if is_jobset(tree)), self.others))

    @property
    def one_jobset(self) -> bool:
        """Whether the side is one file with one JobSet."""
        jobsets = [item for item in self.items if item.id.kind == JOBSET.kind]
        return len(jobsets) == 1 and len(self.spec.paths) == 1 and self.spec.is_file(self.spec.paths[0])


def environments(old: SideSpec, new: SideSpec, run: Run) -> tuple[str, ...] | Diagnostic:
    """Return the environments to compare: those of the new side, then the deleted ones; an error for an unknown one.

    An empty name is a side without environments, or two environments that are compared with each other.
    """
    found = [settings_of(spec, run) for spec in (new, old)]
    if old.environment:
        for own, spec in zip(found, (new, old), strict=True):
            if spec.environment not in own.environment_names and not failed(own.diagnostics):
                return in_environment(own, spec.environment).diagnostics[-1]
        return ("",)
    if not run.options.environments and not any(each.environment_names for each in found):
        return ("",)
    names = tuple(
        dict.fromkeys(name for each in found for name in (each.environment_names or _default_environment(each)))
    )
    for name in run.options.environments:
        if name not in names:
            return in_environment(found[0], name).diagnostics[-1]
    return tuple(dict.fromkeys(run.options.environments)) or names


def _default_environment(own: Settings) -> tuple[str, ...]:
    """Return the name of a side without environments; none if its settings are unknown."""
    return () if failed(own.diagnostics) else ("",)


def read(
    spec: SideSpec,
    run: Run,
    meter: Meter,
    environment: str,
    *,
    own: Settings,
    files: SideFiles,
    reporting: Settings | None,
) -> Side:
    """Read one side; compile it if it contains TrainJobs. A side without the environment is empty.

    The caller checks the meter.

    Args:
        spec: the side as the user names it.
        run: the options of the run, which override the side's own settings.
        meter: the work of both sides.
        environment: the environment; empty for a project without environments.
        own: the side's own settings, without an environment (`settings_of`).
        files: where the files of the side are recorded.
        reporting: the settings that decide what is reported; None for the side's own.
    """
    if not failed(own.diagnostics) and (environment or own.environment_names):
        if environment not in own.environment_names:
            return Side(spec, "nothing", (), (), own)
        own = in_environment(own, environment, run.flags)
    spec = spec._replace(paths=_paths_of_project(spec, own))
    files_of: Reader = laid_over(spec.contents) if spec.contents else inputs.read
    if spec.commit is not None:
        files_of = partial(commit_files.read, spec.commit)
    selection = selection_of(spec, own, run)._replace(leave_out=files.leave_out)
    found = Reading(
        files_of,
        kinds=own.kinds,
        namespace=run.options.namespace,
        others=run.purpose.others,
        copied_files=_copied_files(spec, own, run),
        meter=meter,
    )
    found.kept = []
    found.settings_name_queue = partial(settings_name_queue, run._replace(settings=own))
    found.gather(spec.paths, selection, follow_links=run.options.follow_links)
    files.add(found, own, spec.paths)
    found.diagnostics = [each for each in found.diagnostics if not _is_left_out(each, spec)]
    if found.documents["job"] and not _is_rendered(found, spec, own):
        return _compiled(spec, found, own, run, reporting)
    rendered = _Rendered(spec, own, run, found, files_of, files)
    if rendered.is_certain:
        return rendered.side()
    # A build of a project without TrainJobs writes its copied documents.
    side = _compiled(spec, found, own, run, reporting)
    return side if side.items else side._replace(content="nothing", as_rendered=cache(rendered.side))


def _is_left_out(diagnostic: Diagnostic, spec: SideSpec) -> bool:
    """Return whether a diagnostic is about an unreadable entry of a folder, which is listed as not compared."""
    place = diagnostic.place
    if diagnostic.id not in {UNREADABLE.id, inputs.LINK_OUT.id} or not isinstance(place, Location):
        return False
    given = {os.path.normpath(path) for path in spec.paths}
    if spec.commit is not None:
        given = {inside for path in spec.paths if (inside := spec.commit.path_in_repository(path)) is not None}
    return spec.without_revision(place.file) not in given and os.path.normpath(place.file) not in given


def _paths_of_project(spec: SideSpec, own: Settings) -> tuple[str, ...]:
    """Return the paths of a side; of a project, its sources."""
    paths = spec.paths
    if spec.project and own.base is not None:
        sources = tuple(source.path for source in own.sources) or (own.folder,)
        paths = tuple(_parts_in_folders(sources, paths)) if spec.below else sources
    if (spec.below or spec.project) and spec.commit is None:
        paths = tuple(path for path in paths if os.path.lexists(path))
    return paths


def _parts_in_folders(sources: Iterable[str], folders: Iterable[str]) -> Iterator[str]:
    """Yield the parts of the sources that are in some folders."""
    for source in sources:
        for folder in folders:
            one, other = os.path.abspath(source), os.path.abspath(folder)
            if is_within(one, other) or is_within(other, one):
                yield source if is_within(one, other) else folder


def selection_of(spec: SideSpec, own: Settings, run: Run) -> Selection:
    """Return the files of a side that are not manifests. A commit's links are its own."""
    selection = run.selection_with(own, spec.apart)
    if spec.commit is None:
        return selection
    settings = (*([run.options.config] if run.options.config else ()), *(file.path for file in own.extended))
    return selection._replace(settings=(*settings, *spec.apart.settings))


class _Rendered:
    """A side without TrainJobs as a rendered one. Files that were read for TrainJobs are not read again."""

    def __init__(
        self, spec: SideSpec, own: Settings, run: Run, reading: Reading, files_of: Reader, files: SideFiles
    ) -> None:
        self.spec = spec
        self.own = own
        self.follow_links = run.options.follow_links
        self.meter = reading.meter
        self.files_of = files_of
        self.files = files
        kept = reading.kept or ()
        self.names = {file.path for file in kept if isinstance(file, inputs.File)}
        # Patterns of trainc.yaml do not exclude files from a rendered side.
        readable = [file for file in kept if isinstance(file, inputs.File) or file.id != ALL_EXCLUDED.id]
        self.found = rendered_files.read(readable, self.meter.budget)
        outputs = {file.path for file in readable if isinstance(file, inputs.File) and file.output}
        self.has_own_jobsets = self.found.has_jobsets_outside(outputs)

    @property
    def is_certain(self) -> bool:
        """Whether one of its objects is a JobSet, or its paths are in the output folder of its settings.

        The outputs beside the sources are those of an earlier build.
        """
        return self.has_own_jobsets or _is_output(self.spec, self.own)

    def side(self) -> Side:
        """Return the side with its hidden files; its content is "nothing" if it has no document."""
        patterns = [patterns for patterns in self.own.exclude if not patterns.places]
        apart = self.spec.apart
        outputs = [*self.own.output_folders, *apart.outputs]
        selection = Selection(outputs=outputs, exclude=patterns, read_before=self.names, projects=apart.projects)
        files = self.files_of(self.spec.paths, selection, follow_links=self.follow_links)
        found = rendered_files.joined(self.found, rendered_files.read(self._charged(files), self.meter.budget))
        self.meter.charge("errors and warnings", len(found.diagnostics))
        items, duplicates = _rendered(found.documents, partial(_environment_of, self.spec, self.own))
        is_rendered = found.has_jobsets or (_is_output(self.spec, self.own) and any(found))
        content: Content = "rendered" if is_rendered else "nothing"
        others = tuple(item.document for item in items if item.id.kind != JOBSET.kind)
        return Side(self.spec, content, items, (*found.diagnostics, *duplicates), others=others)

    def _charged(self, files: Iterable[inputs.File | Diagnostic]) -> Iterator[inputs.File | Diagnostic]:
        """Yield the files up to the budget. The reader of commits charges its own."""
        for file in files:
            self.files.add_file(file)
            yield file
            if isinstance(file, inputs.File) and not file.revision:
                self.meter.charge("input bytes", len(file.data))
            if self.meter.over is not None:
                return


def _is_output(spec: SideSpec, own: Settings) -> bool:
    """Return whether all paths of a side are in the output folder."""
    if own.output is None:
        return False
    folder, commit = own.output.path, spec.commit
    if commit is None:
        return all(path != STDIN and is_within(resolved(path), resolved(folder)) for path in spec.paths)
    folder = commit.real_path(folder)
    return bool(folder) and all(is_within(commit.real_path(path), folder) for path in spec.paths)


def _environment_of(spec: SideSpec, own: Settings, file: str) -> str:
    """Return the environment that has an output: the folder below `output`, in a project with environments."""
    if own.output is None or not own.environment_names:
        return ""
    name = spec.without_revision(file)
    path = os.path.abspath(name if spec.commit is None else os.path.join(spec.commit.top, name))
    folder = os.path.abspath(own.output.path)
    environment, _, below = path[len(folder) + 1 :].partition(os.sep) if is_within(path, folder) else ("", "", "")
    return environment if below else ""


def _copied_files(spec: SideSpec, own: Settings, run: Run) -> Callable[[str], bool] | None:
    """Return the function that tells whether the documents of other kinds in a file of a side are copied."""
    copied_files, commit = run._replace(settings=own).copied_files, spec.commit
    if copied_files is None or commit is None:
        return copied_files
    return lambda path: copied_files(os.path.join(commit.top, path.removeprefix(commit.named(""))))


def _is_rendered(reading: Reading, spec: SideSpec, own: Settings) -> bool:
    """Return whether a side has only JobSets that no setting changes: trainc or a cluster has written them."""
    jobs = reading.documents["job"]
    if any(job.value.get("kind") != JOBSET.kind for job in jobs):
        return False
    if STDIN in spec.paths or all(get(job.value, ("metadata", "uid")) for job in jobs):
        return True
    files = {job.file for job in jobs}
    kept = [file for file in reading.kept or () if isinstance(file, inputs.File) and file.path in files]
    return own.document is None or _is_output(spec, own) or all(is_marked(file.data) for file in kept)


def settings_of(spec: SideSpec, run: Run) -> Settings:
    """Return the settings of a side. Each side has its own, because accelerators change the objects."""
    if run.options.no_config or spec.commit is None or run.options.config is not None:
        return run.with_project(spec.paths, spec.contents or {}).settings
    file = spec.commit.settings(spec.paths[0])
    if isinstance(file, Diagnostic):
        return Settings(diagnostics=(file,))
    own = DEFAULT if file is None else commit_settings.settings_of(spec.commit, file)
    return run.with_settings(own).settings


def _compiled(spec: SideSpec, reading: Reading, own: Settings, run: Run, reporting: Settings | None) -> Side:
    # A hash in the names would make every changed JobSet another object.
    delivery = own.delivery._replace(name_suffix_hash=False)
    result = compile_documents(
        reading,
        run._replace(
            settings=_as_reported(own, run, reporting)._replace(delivery=delivery),
            complete=False,
            revision=spec.revision(),
        ),
    )
    result = result.with_diagnostics(duplicates(result, (job.plan.job.document for job in result.jobsets)))
    items = tuple(_items(result))
    diagnostics = environment_runs.with_source_names(result) if own.environment_name else result.diagnostics
    return Side(
        spec,
        "compiled",
        items,
        diagnostics,
        own,
        result.skipped,
        runtimes=tuple(reading.documents["runtime"]),
        others=result.others,
    )


def _as_reported(own: Settings, run: Run, reporting: Settings | None) -> Settings:
    """Return the settings of a side with those that others decide: disabled rules, strictness, field validation.

    They are those of the same environment; an environment that the others lack has those of their file.
    """
    if reporting is None:
        return own
    if own.environment_name in reporting.environment_names:
        reporting = in_environment(reporting, own.environment_name)
    validation = run.flags.get(("fieldValidation",))
    return own._replace(
        disable=reporting.disable,
        lint_paths=reporting.lint_paths,
        strict=reporting.strict,
        field_validation=validation or reporting.field_validation,
        legacy_field_validation=validation or reporting.legacy_field_validation,
    )


def compiled_side(name: str, result: Compilation, run: Run) -> Side:
    """Return a side with the objects of a compilation."""
    return Side(
        SideSpec(name, ()),
        "compiled",
        tuple(_items(result)),
        result.diagnostics,
        run.settings,
        result.skipped,
        others=result.others,
    )


def job_items(jobs: Iterable[Compiled]) -> Iterator[SideItem]:
    """Yield the objects of TrainJobs."""
    for job in jobs:
        for index, tree in enumerate(job.objects):
            yield SideItem(ObjectId.from_manifest(tree), tree, job.plan.job.document, job, index)


def _items(result: Compilation) -> Iterator[SideItem]:
    yield from job_items(result.shown)
    yield from _rendered(each for each in result.copied if each.value.get("kind") != JOBSET.kind)[0]


def _rendered(
    documents: Iterable[Document], environment_of: Callable[[str], str] | None = None
) -> tuple[tuple[SideItem, ...], list[Diagnostic]]:
    """Return the objects of a rendered side, and a diagnostic for each duplicate; other documents are skipped."""
    first: dict[tuple[str, ObjectId], SideItem] = {}
    numbers: dict[tuple[str, ObjectId], int] = {}
    found = []
    for document in documents:
        id = rendered_files.identity(document)
        if id is None:
            continue
        environment = "" if environment_of is None else environment_of(document.file)
        if not ObjectId.from_manifest(document.value).name:  # several objects can have one generateName
            number = numbers[environment, id] = numbers.get((environment, id), 0) + 1
            id = id._replace(name=f"{id.name} ({number})" if number > 1 else id.name)
        # An object of one version exists in every other version of its group.
        key = environment, id._replace(apiVersion=id.apiVersion.rpartition("/")[0])
        if key in first:
            name = ("metadata", "name")
            found.append(duplicate_object(id, Place(document, name), Place(first[key].document, name)))
        else:
            tree = without_server_fields(document.value)
            first[key] = SideItem(id, tree, document, environment=environment)
    return tuple(first.values()), found


def comparable_sides(old: Side, new: Side) -> tuple[Side, Side]:
    """Return both sides; compared with a compiled side, a rendered one keeps only the kinds that it has.

    These are the kinds that trainc writes, and with `passthrough` also all others.
    """
    copies = any(side.settings.passthrough for side in (old, new) if side.content == "compiled")
    if copies or old.content == new.content or "compiled" not in {old.content, new.content}:
        return old, new
    return without_other_kinds(old), without_other_kinds(new)


def without_other_kinds(side: Side) -> Side:
    """Return a side without the objects of kinds that trainc does not write."""
    items = tuple(
        item
        for item in side.items
        if item.job is not None or (item.id.kind in rendered_files.WRITTEN and not item.document.file.endswith(PASSED))
    )
    return side._replace(items=items)


def no_jobs(old: SideSpec, new: SideSpec) -> Diagnostic:
    """Return the error for two sides without TrainJobs and JobSets."""
    return Diagnostic.declared(
        NOTHING_TO_COMPARE,
        f"neither {old.name} nor {new.name} contains a TrainJob or a JobSet"
        if old != new
        else f"{new.name} contains no TrainJob and no JobSet",
        "give the folder that contains them: `trainc diff main jobs/`",
    )
