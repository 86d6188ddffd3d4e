"""A subset of a folder, checked in the context of the folder: the files of a commit.

Reads    the given files and the folder that contains them. In a project, files outside its `sources` and
         `runtimes.paths` are left out, as in any other run.
Returns  the diagnostics about these files from a run on the whole folder. A TrainJob finds its runtime anywhere in the
         folder. If the files include a runtime, the settings or one of their patches, any TrainJob may be affected, so
         all are checked.
         Unreadable files elsewhere in the folder are ignored.
"""

from __future__ import annotations

import os
from copy import copy
from functools import cache, partial
from typing import TYPE_CHECKING

from trainc.compilation import Compilation, Run, compile_documents, metered
from trainc.compilation.sources import settings_name_queue
from trainc.diagnostics import Diagnostic, ObjectId, Place, failed
from trainc.files import inputs
from trainc.files.confine import is_within, resolved
from trainc.files.selection import SETTINGS, is_manifest
from trainc.frontends.reading import Reading
from trainc.settings import nearest_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set

    from trainc.diagnostics import Document, Identity
    from trainc.edits.environment import Environment
    from trainc.frontends.reading import Reader
    from trainc.settings import Settings

    Given = Callable[[str], bool]
    """Whether a file belongs to the subset."""


def compile_subset(
    paths: Sequence[str],
    folder: str,
    run: Run,
    files_of: Reader | None = None,
) -> Compilation:
    """Compile the TrainJobs of `paths` and report the diagnostics about these files.

    Args:
        paths: files and folders, possibly including the settings.
        folder: where the runtimes and the other TrainJobs are.
        run: as for `compilation.compile`; `only` and `root` are not used.
        files_of: the function that reads files; by default, from the disk.
    """
    settings = run.settings
    paths = [path for path in paths if _is_of_project(path, run)]
    if failed(settings.diagnostics) or not paths:
        return Compilation(diagnostics=settings.diagnostics if paths else ())
    given = _file_predicate(paths)
    parts = _project_paths(folder, run)
    manifests = [path for path in paths if not _holds_settings(path, settings)]
    others = len(manifests) < len(paths)
    manifests = [path for path in manifests if parts is None or _is_in(path, parts)]
    read = Reading(
        files_of=files_of or inputs.read,
        kinds=run.settings.kinds,
        namespace=run.options.namespace,
        others="skip",
        meter=metered(run),
        parsed=run.parsed,
    )
    read.settings_name_queue = partial(settings_name_queue, run)
    asked_for: list[str] = []
    for file in _files((*_parts_of(folder, parts), *_not_excluded(manifests, settings)), run, read.files_of):
        if isinstance(file, Diagnostic):
            read.report(file)
        else:
            read.add(file._replace(found=True))
            asked_for += [file.path] if given(file.path) else []
        if read.meter.over is not None:
            break
    read.settle()
    everything = others or any(given(d.file) for d in read.documents["runtime"])
    # Who makes errors of warnings counts them, and that is done last.
    lenient = run._replace(
        settings=settings._replace(strict=""),
        is_part=True,
        complete=everything,
    )
    result = compile_documents(read if everything else _narrowed(read, given, settings), lenient)
    skipped = tuple(
        name for name in read.skipped_names() if given(name if is_manifest(name) else name.rpartition(":")[0])
    )
    of_run = [*settings.diagnostics, read.meter.over]
    namesakes = {each.identity for each in read.documents["job"] if not (everything or given(each.file))}
    kept = [
        d
        for d in result.diagnostics
        if d in of_run or _concerns(d, given) or not (d.stage == "read" or _is_at(d, namesakes))
    ]
    result = result._replace(diagnostics=(), strict=settings.strict, skipped=skipped).with_diagnostics(kept)
    if everything:
        return result
    return result._replace(
        jobs=tuple(job for job in result.jobs if given(job.plan.job.document.file)),
        jobsets=tuple(job for job in result.jobsets if given(job.plan.job.document.file)),
        others=tuple(document for document in result.others if given(document.file)),
        files=len(asked_for),
        checked_files=tuple(file for file in result.checked_files if given(file)),
        checked=tuple(checked for checked in result.checked if given(checked.file)),
    )


def _is_of_project(path: str, run: Run) -> bool:
    """Return whether a path belongs to the project of a run, or has runtimes, settings or a patch that it uses."""
    own = run.settings
    if run.options.config is not None or run.options.no_config:
        return True
    # Outside of a repository, a search from a file would not leave its folder.
    is_below = bool(own.file) and is_within(resolved(path), os.path.dirname(own.file))
    file = nearest_settings(path, os.path.dirname(own.file) if is_below else run.root)
    if (resolved(file) if file else "") == own.file:
        return True
    used = (*own.files, *map(resolved, own.patch_files))
    return resolved(path) in used or _is_in(path, (path.path for path in own.runtimes))


def _project_paths(folder: str, run: Run) -> tuple[str, ...] | None:
    """Return the files and folders that a run of the project reads; None if the folder is not one of a project."""
    settings = run.settings
    if settings.base is None:
        return None
    sources = tuple(source.path for source in settings.sources)
    if not sources and not is_within(resolved(folder), resolved(settings.base.folder)):
        return None
    runtimes = run.runtimes or tuple(path.path for path in settings.runtimes)
    return (*(sources or (settings.folder,)), *runtimes)


def _is_in(path: str, parts: Iterable[str]) -> bool:
    return any(is_within(resolved(path), resolved(part)) for part in parts)


def _parts_of(folder: str, parts: Sequence[str] | None) -> tuple[str, ...]:
    """Return the parts of a project in a folder: the folder itself if it is below one of them."""
    if parts is None or _is_in(folder, parts):
        return (folder,)
    return tuple(part for part in parts if _is_in(part, (folder,)))


def _files(paths: Sequence[str], run: Run, files_of: Reader) -> Iterable[inputs.File | Diagnostic]:
    return files_of(paths, run.selection, follow_links=run.options.follow_links)


def _not_excluded(paths: list[str], settings: Settings) -> list[str]:
    """Return the paths without the excluded ones: the subset is a part of the folder, which leaves them out."""
    if not settings.exclude:
        return paths
    from trainc.files.exclude import Excluded

    excluded = Excluded(settings.exclude)
    return [path for path in paths if not excluded.matches(path, is_folder=os.path.isdir(path))]


def _file_predicate(paths: Iterable[str]) -> Given:
    """Return what says whether a file is one of `paths` or below one of them, however both are spelled."""
    real_paths = frozenset(map(resolved, paths))
    folders = cache(resolved)  # one value for each folder of the run, until it ends

    @cache  # one value for each file of the run, until it ends
    def given(file: str) -> bool:
        folder, name = os.path.split(file)
        # Resolving every folder of every file would take longer than reading them.
        is_plain = name not in ("", os.curdir, os.pardir) and not os.path.islink(file)
        real = os.path.join(folders(folder), name) if is_plain else resolved(file)
        return real in real_paths or any(is_within(real, path) for path in real_paths)

    return given


def _concerns(diagnostic: Diagnostic, given: Given) -> bool:
    """Whether one of its places is in the files."""
    places = (diagnostic.place, *(related.place for related in diagnostic.related))
    return any(
        given(place.document.file if isinstance(place, Place) else place.file) for place in places if place is not None
    )


def _is_at(diagnostic: Diagnostic, documents: Set[Identity]) -> bool:
    """Whether its place is in one of the documents."""
    return isinstance(diagnostic.place, Place) and diagnostic.place.document.identity in documents


def _holds_settings(path: str, settings: Settings) -> bool:
    """Whether a file has settings of the project, or one of its patches."""
    if os.path.basename(path) == SETTINGS or resolved(path) in settings.files:
        return True
    return resolved(path) in map(resolved, settings.patch_files)


def _narrowed(read: Reading, given: Given, settings: Settings) -> Reading:
    """Return the same documents with only those TrainJobs that have a say about the files."""
    narrowed = copy(read)
    jobs = _with_namesakes(read.documents["job"], given, settings.environment)
    narrowed.documents = {**read.documents, "job": jobs}
    return narrowed


def _name(document: Document) -> str:
    return ObjectId.from_manifest(document.value).name


def _with_namesakes(jobs: Sequence[Document], given: Given, environment: Environment | None) -> list[Document]:
    """Return the TrainJobs of the files, and those of the same name in the namespace of the environment."""

    names = {_name(document) for document in jobs if given(document.file)}
    affixes = () if environment is None else (environment.name_prefix, environment.name_suffix)
    if environment is not None and any(affixes):
        # A JobSet, which keeps its name, may have the new name of a TrainJob.
        prefix, suffix = ("" if each is None else str(each.value) for each in affixes)
        names |= {f"{prefix}{name}{suffix}" for name in names}
        names |= {name.removeprefix(prefix).removesuffix(suffix) for name in names}
    jobs = [document for document in jobs if _name(document) in names]
    renamed = [*jobs]
    if environment is not None:
        from trainc.edits.transforming import Transformation

        renamed = [*map(Transformation(environment).job, jobs)]
    ids = [ObjectId.from_manifest(document.value) for document in renamed]
    wanted = {(id.namespace, id.name) for document, id in zip(jobs, ids, strict=True) if given(document.file)}
    return [document for document, id in zip(jobs, ids, strict=True) if (id.namespace, id.name) in wanted]
