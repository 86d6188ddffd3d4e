"""The projects of some paths: the settings of a file are those of the nearest trainc.yaml above it.

Reads    the names of the files below the paths, and the trainc.yaml files at, above and below them.
Returns  a project for each of these files, with its part of the paths. A project ends at the folder of another one.
"""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING

from trainc.base.records import NamedTuple
from trainc.budget import size_of
from trainc.diagnostics import Diagnostic
from trainc.files import inputs
from trainc.files.selection import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from trainc.budget import Meter
    from trainc.files.selection import Role, Selection
    from trainc.frontends.reading import Reader
    from trainc.settings.model import Settings


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
    return outermost, any(own) or any(map(_is_of_path, faults))


def _is_of_path(fault: Diagnostic) -> bool:
    """Return whether a fault is one of a path: no file is read, so that patterns seem to exclude all of them."""
    from trainc.files.exclude import ALL_EXCLUDED

    return fault.id != ALL_EXCLUDED.id


def _is_below(path: str, folders: Mapping[str, str]) -> bool:
    """Return whether an absolute path is below one of some absolute folders."""
    return any(folder in folders for folder in folders_above(path))


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders above a path."""
    while path != (path := os.path.dirname(path)):
        yield path


class Apart(NamedTuple):
    """What the projects of a run leave out of each other."""

    projects: tuple[str, ...] = ()
    """The folders of the projects; a project ends at that of another one."""
    settings: tuple[str, ...] = ()
    """The settings files, with all links resolved."""
    patches: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    @classmethod
    def collect(cls, folders: Iterable[str], projects: Iterable[Settings]) -> Apart:
        """Return what some projects leave out of each other; `folders` may have more than theirs."""
        projects = tuple(projects)
        return cls(
            tuple(folders),
            tuple(file for each in projects for file in each.files),
            tuple(file for each in projects for file in each.patch_files),
            tuple(folder for each in projects for folder in each.output_folders),
        )
