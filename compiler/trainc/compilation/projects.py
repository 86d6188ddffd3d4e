"""The projects of a run: the settings of a file are those of the nearest trainc.yaml above it.

Reads    the names of the files below the paths of a run, and the trainc.yaml files at, above and below the paths.
Returns  a project for each of these files, with its part of the paths. A project ends at the folder of another one. The
         settings file of an option replaces all of them.
"""

from __future__ import annotations

import os
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.plural import plural
from trainc.base.records import NamedTuple
from trainc.budget import Meter, size_of
from trainc.compilation.results import Apart
from trainc.diagnostics import Diagnostic, Location, failed
from trainc.files import inputs
from trainc.files.confine import is_within, resolved
from trainc.files.exclude import ALL_EXCLUDED
from trainc.files.selection import SETTINGS
from trainc.kubernetes.violations import field_of, listed
from trainc.settings import nearest_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from trainc.compilation.results import Options
    from trainc.files.selection import Role, Selection
    from trainc.frontends.reading import Reader
    from trainc.settings import ProjectPath, Settings

PROJECT_REQUIRED: Final = Declaration("project-required", ("read",), "No project selected", trainc_only=True)
SETTINGS_REPLACED: Final = Declaration(
    "settings-replaced", ("read",), "Settings files that an option replaces", "note", trainc_only=True
)
SHOWN: Final = 10
"""The most projects or files that a message names."""


class Files(NamedTuple):
    """Where the files of a run are: on disk, or in a commit."""

    nearest: Callable[[str], str | None]
    """Return the trainc.yaml of a path; None without one."""
    load: Callable[[str | None], Settings]
    """Return the settings of a trainc.yaml; None for files without one."""
    selection: Callable[[Settings], Selection]
    """Return the files that are not manifests in a project."""
    read: Reader
    shown: Callable[[str], str] = str
    """Return the path of the working tree for a name of a walk."""


class RunProject(NamedTuple):
    """A project, and its part of the paths of a run."""

    file: str
    """Its trainc.yaml; empty for files without one."""
    settings: Settings
    paths: tuple[str, ...]
    """The paths in it; for a project below a path, its folder."""
    has_documents: bool

    @property
    def folder(self) -> str:
        """The absolute folder of its trainc.yaml; the current folder without one."""
        return os.path.dirname(os.path.abspath(self.file)) if self.file else os.getcwd()


def find(paths: Sequence[str], files: Files, meter: Meter) -> list[RunProject]:
    """Return the projects of some paths, each one before those below it. Raise OverBudgetError beyond the budget."""
    found: dict[str, RunProject] = {}
    left = deque((files.nearest(path) or "", path) for path in paths)
    while left:
        file, path = left.popleft()
        key = os.path.abspath(file) if file else ""
        if key not in found:
            own = files.load(file or None)
            meter.spend("input bytes", sum(size_of(each.document.text) for each in own.settings_files))
            found[key] = RunProject(file, own, (), has_documents=False)
        project = found[key]
        if path in project.paths:
            continue
        below, has_documents = _projects_below(path, project, files)
        found[key] = project._replace(
            paths=(*project.paths, path), has_documents=project.has_documents or has_documents
        )
        left.extend((os.path.join(folder, SETTINGS) if folder else SETTINGS, folder or os.curdir) for folder in below)
    return [*found.values()]


def _projects_below(path: str, project: RunProject, files: Files) -> tuple[list[str], bool]:
    """Return the folders of the projects below a path, and whether the path has a manifest outside of them."""
    if inputs.is_stream(path):
        return [], True
    folders, documents = dict[str, str](), list[str]()

    def leave_out(name: str, role: Role, object: str) -> None:
        if role == "settings" and os.path.basename(name) == SETTINGS:
            shown = os.path.dirname(files.shown(name))
            folders[os.path.abspath(shown)] = shown
        elif role == "manifest":
            documents.append(name)

    selection = files.selection(project.settings)._replace(leave_out=leave_out, names_only=True)
    faults = [each for each in files.read([path], selection) if isinstance(each, Diagnostic)]
    folders.pop(project.folder if project.file else "", None)
    outermost = [shown for folder, shown in folders.items() if not _is_below(folder, folders)]
    own = (name for name in documents if not folders or not _is_below(os.path.abspath(files.shown(name)), folders))
    return outermost, any(own) or any(fault.id != ALL_EXCLUDED.id for fault in faults)


def _is_below(path: str, folders: Mapping[str, str]) -> bool:
    """Return whether an absolute path is below one of some absolute folders."""
    return any(folder in folders for folder in _folders_above(path))


def projects_of(options: Options, paths: Sequence[str], contents: Mapping[str, bytes] = {}) -> tuple[Options, ...]:
    """Return the options of a run for each project of some paths; without a path, of the current project and below.

    A trainc.yaml without manifests of its own is no project if there is another one. With `project`, return only that
    one; none if it is unknown.

    Args:
        options: the options.
        paths: the paths of the command line.
        contents: the contents of files that differ from those on the disk, by their paths.
    """
    meter = Meter(options.budget)
    own = options._replace(config=None, no_config=False, apart=Apart())
    files = _on_disk(own, contents)
    if options.config is not None or options.no_config:
        run = options.with_project(paths, contents)._replace(paths=tuple(paths))
        note = replaced_settings(find(run.inputs, files, meter), options)
        diagnostics = (*run.settings.diagnostics, *([note] if note else ()))
        return (run._replace(settings=run.settings._replace(diagnostics=diagnostics)),)
    found = find(paths or (_whole_project(files),), files, meter)
    named = [each for each in found if each.has_documents or failed(each.settings.diagnostics)] or found[:1]
    runs = _runs(named, own, None if paths else (), files)
    if options.project is None:
        return runs
    wanted = resolved(options.project)
    return tuple(run for run, each in zip(runs, named, strict=True) if resolved(each.folder) == wanted)


def _on_disk(options: Options, contents: Mapping[str, bytes]) -> Files:
    def load(file: str | None) -> Settings:
        return options._replace(config=file, no_config=file is None).with_project((), contents).settings

    return Files(
        nearest=partial(nearest_settings, root=options.root),
        load=load,
        selection=lambda own: options._replace(settings=own).selection,
        read=partial(inputs.read, root=options.root, follow_links=options.follow_links),
    )


def _whole_project(files: Files) -> str:
    """Return the folder of the current project; the current folder without one."""
    file = files.nearest(os.curdir)
    return os.path.dirname(file) or os.curdir if file else os.curdir


def _runs(
    projects: Sequence[RunProject], options: Options, paths: tuple[str, ...] | None, files: Files
) -> tuple[Options, ...]:
    """Return the options of each project; `paths` replace its paths, if they are not None."""
    apart = Apart.collect((each.folder for each in projects if each.file), (each.settings for each in projects))
    runs = []
    for each in projects:
        own = each.settings
        if faults := tuple(_faults(each)):
            own = own._replace(diagnostics=(*own.diagnostics, *faults))
        runs.append(options._replace(paths=each.paths if paths is None else paths, settings=own, apart=apart))
    return tuple(runs)


def _faults(project: RunProject) -> Iterator[Diagnostic]:
    """Yield an error for each of the sources of a project that is in another one."""
    for source in project.settings.sources:
        path = os.path.abspath(source.path)
        is_inside = is_within(path, project.folder)
        above = [path, *_folders_above(path)] if is_inside else [project.folder]
        nearest_file = next((file for at in above if os.path.lexists(file := os.path.join(at, SETTINGS))), "")
        if not is_inside or os.path.dirname(nearest_file) != project.folder:
            yield _other_project(source, os.path.relpath(nearest_file) if is_inside else None)


def _folders_above(path: str) -> Iterator[str]:
    """Yield the folders above a path."""
    while path != (path := os.path.dirname(path)):
        yield path


def _other_project(source: ProjectPath, file: str | None) -> Diagnostic:
    whose = f"belongs to the project of {file}" if file else "is outside"
    return Diagnostic.declared(
        inputs.SETTINGS_PATH,
        f'sources must be in the folder of their trainc.yaml: "{source.written}" {whose}',
        "remove it: a run on a folder has all projects below it" if file else "move trainc.yaml to a folder above",
        field=field_of(source.place.path),
        place=source.place,
    )


def replaced_settings(replaced: Iterable[RunProject], options: Options) -> Diagnostic | None:
    """Return the note about the settings files that an option replaces; None without any."""
    own = None if options.config is None else resolved(options.config)
    shown = (os.path.relpath(each.file) for each in replaced if each.file and resolved(each.file) != own)
    files = [*dict.fromkeys(shown)]
    if not files:
        return None
    option = "--no-config" if options.config is None else f"--config {options.config}"
    return Diagnostic.declared(
        SETTINGS_REPLACED,
        f"{option} replaces {_listed(files)}",
        "omit the option to use the settings that are in force in the folder of each file",
        place=Location(file=files[0]),
    )


def project_required(runs: Sequence[Options], project: str | None) -> Diagnostic:
    """Return the error for a command that shows one project, and has several, or none of the name of an option."""
    names = [run.settings.folder for run in runs]
    if project is not None:
        return Diagnostic.declared(
            PROJECT_REQUIRED,
            f"{project} is not the folder of a project in the given paths",
            "use the folder of a trainc.yaml",
        )
    return Diagnostic.declared(
        PROJECT_REQUIRED,
        f"no project is selected; the given paths have {plural(len(names), 'project')}: {_listed(names)}",
        "use --project DIR, or a path in one of them",
    )


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return listed([*names[:SHOWN], *more])
