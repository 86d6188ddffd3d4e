"""The projects of a review: the settings of a file are those of the nearest trainc.yaml above it, on each side.

Reads    the names of the files of both sides, and their trainc.yaml files.
Returns  the sides of each project. A folder with a trainc.yaml on one side is a project of its own on both: on the
         other side, its settings are those of a file above it, or none.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from trainc.compilation import projects
from trainc.compilation.projects import PROJECT_REQUIRED
from trainc.diagnostics import Diagnostic
from trainc.files import inputs
from trainc.files.inputs import STDIN
from trainc.review import sides
from trainc.review.commits import commit_files
from trainc.settings import DEFAULT, nearest_settings
from trainc.settings.nested_projects import Apart, Files, find

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.budget import Meter
    from trainc.compilation import Run
    from trainc.review.sides import SideSpec
    from trainc.settings import Settings


def pairs(
    old: SideSpec, new: SideSpec, run: Run, meter: Meter
) -> tuple[list[tuple[SideSpec, SideSpec]], Diagnostic | None]:
    """Return both sides of each project, and the note about settings files that an option replaces.

    Raise OverBudgetError beyond the budget.
    """
    before, after = _Side(old, run, meter), _Side(new, run, meter)
    if run.options.config is not None or run.options.no_config:
        return [(old, new)], projects.replaced_settings([*after.found, *before.found], run)
    units: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for paths in zip(old.paths, new.paths, strict=True):
        units.setdefault((before.file(paths[0]), after.file(paths[1])), []).append(paths)
    given = len(units)
    below = dict.fromkeys((*after.folders_below(), *before.folders_below()))
    for key in below:
        paths = before.path(key), after.path(key)
        unit = units.setdefault((before.file(paths[0]), after.file(paths[1])), [])
        unit += [paths] if paths not in unit else []
    found = []
    for number, unit in enumerate(units.values()):
        sides = (
            side.spec._replace(paths=tuple(paths), apart=side.left_out(below), below=number >= given)
            for side, paths in zip((before, after), zip(*unit, strict=True), strict=True)
        )
        found.append((next(sides), next(sides)))
    return found, None


class _Side:
    """A side, and its projects."""

    def __init__(self, spec: SideSpec, run: Run, meter: Meter) -> None:
        self.spec = spec
        self.run = run
        self.is_replaced = run.options.config is not None or run.options.no_config
        """Whether an option replaces the settings of all projects."""
        whole = (os.path.dirname(self.file(os.curdir)) or os.curdir,)
        self.paths = whole if spec.project else spec.paths
        self.found = find(self.paths, self._files(), meter)

    def file(self, path: str) -> str:
        """Return the trainc.yaml of a path; empty without one."""
        commit = self.spec.commit
        if commit is None or path == STDIN:
            return nearest_settings(path) or ""
        file = commit.settings(path)
        if isinstance(file, Diagnostic):
            located = file.locate()
            return "" if located is None else self._shown(located.file)
        return "" if file is None else commit.path_of(file)

    def _shown(self, name: str) -> str:
        """Return the path of the working tree for a name of a walk."""
        commit = self.spec.commit
        return name if commit is None else os.path.join(commit.top, name.removeprefix(commit.named("")))

    def _files(self) -> Files:
        spec, run = self.spec, self.run

        def load(file: str | None) -> Settings:
            if file is None or self.is_replaced:
                return run.with_settings(DEFAULT).settings
            return sides.settings_of(spec._replace(paths=(os.path.dirname(file) or os.curdir,)), run)

        commit = spec.commit
        disk = partial(inputs.read, follow_links=run.options.follow_links)
        return Files(
            nearest=lambda path: self.file(path) or None,
            load=load,
            selection=lambda own: sides.selection_of(spec, own, run),
            read=disk if commit is None else partial(commit_files.read, commit),
            shown=self._shown,
        )

    def folders_below(self) -> Iterator[str]:
        """Yield the folder of each project below the paths, relative to those of the side."""
        for project in self.found:
            for path in project.paths:
                if path not in self.paths:
                    yield os.path.relpath(path, self.spec.folder)

    def path(self, key: str) -> str:
        """Return the path of this side for a folder relative to its paths."""
        return os.path.relpath(os.path.join(self.spec.folder, key))

    def left_out(self, below: Iterable[str]) -> Apart:
        """Return what the projects of the side leave out of each other."""
        settings = [project.settings for project in self.found]
        apart = Apart.collect(map(self.path, below), settings)
        return apart._replace(settings=tuple(file.path for own in settings for file in own.settings_files))


def rendered_beside_several(old: SideSpec, new: SideSpec) -> Diagnostic:
    """Return the error for rendered manifests beside the sources of several projects: whose they are is unknown."""
    return Diagnostic.declared(
        PROJECT_REQUIRED,
        f"one of {old.name} and {new.name} is rendered, and the other one has several projects",
        "compare the output of each project with the folder of the project",
    )
