"""The pairs of sides that a review compares: both sides of each project, in each of its environments.

Reads    the names of the files of both sides, and their trainc.yaml files.
Returns  the sides of each project. The settings of a file are those of the nearest trainc.yaml above it, on each side.
         A folder with a trainc.yaml on one side is a project of its own on both: on the other side, its settings are
         those of a file above it, or none. A compiled side is read once for each environment, a rendered one once:
         objects are matched by environment and identity, or by identity alone if one side has no environments.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from trainc.compilation import environment_runs, projects
from trainc.compilation.projects import PROJECT_REQUIRED
from trainc.diagnostics import Diagnostic, failed
from trainc.files import inputs
from trainc.files.inputs import STDIN
from trainc.review import sides
from trainc.review.commits import commit_files
from trainc.review.sides.side_files import SideFiles
from trainc.settings import DEFAULT, in_environment, nearest_settings
from trainc.settings.nested_projects import Apart, Files, find

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.budget import Meter
    from trainc.compilation import Run
    from trainc.diagnostics import ObjectId
    from trainc.review.sides import Side, SideSpec
    from trainc.settings import Settings
Pair = tuple[str, "Side", "Side"]
"""An environment, and the two sides in it."""


def project_pairs(
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


def environment_fault(project: Versions) -> Diagnostic | None:
    """Return the error for an environment that a project does not have, or for environments of several clusters."""
    names = sides.environments(project.spec, project.spec, project.run)
    if isinstance(names, Diagnostic):
        return names
    found = {name: in_environment(project.project, name).cluster for name in filter(None, names)}
    if len({*found.values()}) < 2:
        return None
    rows = (f"{name} of {cluster or 'a cluster without a name'}" for name, cluster in found.items())
    return environment_runs.environment_required(project.project, environment_runs.OPTION)._replace(
        message=f"the selected environments are those of several clusters: {environment_runs.listed([*rows])}",
        help="use --env with the environments of one cluster",
    )


def environments_of_sources(spec: SideSpec) -> Diagnostic:
    """Return the error for two environments of rendered manifests, whose source jobs are unknown."""
    return Diagnostic.declared(
        sides.NOTHING_TO_COMPARE,
        f"{' '.join(spec.paths)} has no TrainJob: two environments are compared by their source jobs",
        "give the folder of the TrainJobs, or compare the folders of the output: `trainc diff DIR DIR`",
    )


def rendered_beside_several(old: SideSpec, new: SideSpec) -> Diagnostic:
    """Return the error for rendered manifests beside the sources of several projects: whose they are is unknown."""
    return Diagnostic.declared(
        PROJECT_REQUIRED,
        f"one of {old.name} and {new.name} is rendered, and the other one has several projects",
        "compare the output of each project with the folder of the project",
    )


class Versions:
    """One side in each of its environments."""

    def __init__(self, spec: SideSpec, run: Run, meter: Meter, reporting: Settings | None) -> None:
        self.spec = spec
        if spec.trainer_version:
            run = run.with_flag("trainerVersion", spec.trainer_version)
        self.run = run
        self.project = sides.settings_of(spec, run)
        """The side's own settings, without an environment."""
        self.meter = meter
        self.reporting = reporting
        self.files = SideFiles(spec.paths, spec.commit, follow_links=run.options.follow_links)
        names = self.project.environment_names
        wanted = tuple(name for name in names if name in run.options.environments or not run.options.environments)
        self.names = (spec.environment,) if spec.environment else wanted or names or ("",)
        self.first = self._read(self.names[0])

    @property
    def side_files(self) -> SideFiles:
        """The files of the side, in all environments that were read."""
        self.files.is_rendered = self.is_rendered
        return self.files

    @property
    def is_rendered(self) -> bool:
        """Whether the side has JobSets, and not TrainJobs."""
        return self.first.content == "rendered"

    @property
    def has_hidden_jobsets(self) -> bool:
        """Whether all JobSets of the side, which has no TrainJobs, are in files that sources may not have."""
        first = self.first
        if first.as_rendered is None or failed(first.diagnostics):
            return False
        return first.as_rendered().content == "rendered"

    def read_as_rendered(self) -> None:
        """Read a side without TrainJobs and JobSets as a rendered one, because the other side is one."""
        if self.first.as_rendered is not None:
            self.first = self.first.as_rendered()

    def side(self, name: str) -> Side:
        """Return the side in an environment."""
        return self.first if name == self.names[0] else self._read(name)

    def by_environment(self) -> dict[str, Side]:
        """Return the side in each of the requested environments; a side without environments has the name ""."""
        if not self.is_rendered:
            return {name: self.side(name) for name in self.names}
        names = sorted({item.environment for item in self.first.items})
        if self.run.options.environments and names != [""]:
            names = [name for name in names if name in self.run.options.environments]
        return {name: _selected(self.first, (name,)) for name in names}

    def path_of(self, other: Versions, path: str) -> str:
        """Return the path in this side of a file of the other side: two folders may be compared."""
        if self.spec.paths == other.spec.paths:
            return path
        return os.path.normpath(os.path.join(self.spec.folder, os.path.relpath(path, other.spec.folder)))

    def _read(self, name: str) -> Side:
        side = sides.read(
            self.spec, self.run, self.meter, name, own=self.project, files=self.files, reporting=self.reporting
        )
        self.meter.check()
        return side


def environment_pairs(old: Versions, new: Versions) -> list[Pair] | None:
    """Return the pairs of sides to compare; None if an object without an environment is in several environments."""
    if old.first.one_jobset and new.first.one_jobset:
        return [("", old.first, new.first)]
    before, after = old.by_environment(), new.by_environment()
    if before.keys() == after.keys():
        return [(name, before[name], after[name]) for name in after]
    for one, several, is_new in ((before, after, False), (after, before, True)):
        if [*one] == [""]:
            found = _by_identity(one[""], several)
            return found and [(name, *((b, a) if is_new else (a, b))) for name, a, b in found]
    names = dict.fromkeys((*after, *before))
    return [(name, before.get(name) or _empty(old.first), after.get(name) or _empty(new.first)) for name in names]


def _by_identity(one: Side, several: dict[str, Side]) -> list[Pair] | None:
    """Return the environment_pairs of a side without environments and another side, by the identity of the objects."""
    found: list[Pair] = []
    seen: set[ObjectId] = set()
    for name, side in several.items():
        ids = {item.id for item in side.items}
        part = one._replace(items=tuple(item for item in one.items if item.id in ids))
        if seen & {item.id for item in part.items}:
            return None
        seen |= {item.id for item in part.items}
        found.append((name, part, side))
    left = tuple(item for item in one.items if item.id not in seen)
    if left:
        found.append(("", one._replace(items=left), _empty(next(iter(several.values()), one))))
    return found


def _selected(side: Side, names: Iterable[str]) -> Side:
    return side._replace(items=tuple(item for item in side.items if item.environment in names))


def _empty(side: Side) -> Side:
    """Return a side of the same kind without objects. The faults of a rendered side are those of all environments."""
    return side._replace(items=(), diagnostics=side.diagnostics if side.content == "rendered" else ())
