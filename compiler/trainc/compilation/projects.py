"""The projects of a run: a run for each project of its paths.

Reads    the options of the run, and the projects of its paths.
Returns  the run of each project. The settings file of an option replaces those of all projects.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.budget import Meter
from trainc.diagnostics import Diagnostic, Location, failed
from trainc.files import inputs
from trainc.files.confine import is_within, resolved
from trainc.files.selection import SETTINGS
from trainc.kubernetes.violations import field_of, listed
from trainc.settings import DEFAULT, nearest_settings
from trainc.settings.nested_projects import Apart, Files, find, folders_above

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trainc.compilation.run import Run
    from trainc.settings import ProjectPath, Settings
    from trainc.settings.nested_projects import RunProject

PROJECT_REQUIRED: Final = Declaration("project-required", ("read",), trainc_only=True)
SETTINGS_REPLACED: Final = Declaration("settings-replaced", ("read",), "note", trainc_only=True)
SHOWN: Final = 10
"""The most projects or files that a message names."""


def projects_of(run: Run, paths: Sequence[str], contents: Mapping[str, bytes] = {}) -> tuple[Run, ...]:
    """Return a run for each project of some paths; without a path, of the current project and below.

    A trainc.yaml without manifests of its own is no project if there is another one. With `project`, return only that
    one; none if it is unknown.

    Args:
        run: the run.
        paths: the paths of the command line.
        contents: the contents of files that differ from those on the disk, by their paths.
    """
    meter = Meter(run.budget)
    files = _on_disk(run, contents)
    if run.options.config is not None or run.options.no_config:
        run = run.with_project(paths, contents)._replace(paths=tuple(paths))
        note = replaced_settings(find(run.inputs, files._replace(load=lambda file: DEFAULT), meter), run)
        diagnostics = (*run.settings.diagnostics, *([note] if note else ()))
        return (run._replace(settings=run.settings._replace(diagnostics=diagnostics)),)
    found = find(paths or (_whole_project(files),), files, meter)
    named = [each for each in found if each.has_documents or failed(each.settings.diagnostics)] or found[:1]
    runs = _runs(named, run, None if paths else ())
    if run.options.project is None:
        return runs
    wanted = resolved(run.options.project)
    return tuple(run for run, each in zip(runs, named, strict=True) if resolved(each.folder) == wanted)


def _on_disk(run: Run, contents: Mapping[str, bytes]) -> Files:
    def load(file: str | None) -> Settings:
        return run.with_file((), file, search=False, contents=contents).settings

    return Files(
        nearest=partial(nearest_settings, root=run.root),
        load=load,
        selection=lambda own: run.selection_with(own, Apart()),
        read=partial(inputs.read, root=run.root, follow_links=run.options.follow_links),
    )


def _whole_project(files: Files) -> str:
    """Return the folder of the current project; the current folder without one."""
    file = files.nearest(os.curdir)
    return os.path.dirname(file) or os.curdir if file else os.curdir


def _runs(projects: Sequence[RunProject], run: Run, paths: tuple[str, ...] | None) -> tuple[Run, ...]:
    """Return the run of each project; `paths` replace its paths, if they are not None."""
    apart = Apart.collect((each.folder for each in projects if each.file), (each.settings for each in projects))
    runs = []
    for each in projects:
        own = each.settings
        if faults := tuple(_faults(each)):
            own = own._replace(diagnostics=(*own.diagnostics, *faults))
        runs.append(run._replace(paths=each.paths if paths is None else paths, settings=own, apart=apart))
    return tuple(runs)


def _faults(project: RunProject) -> Iterator[Diagnostic]:
    """Yield an error for each of the sources of a project that is in another one."""
    for source in project.settings.sources:
        path = os.path.abspath(source.path)
        is_inside = is_within(path, project.folder)
        above = [path, *folders_above(path)] if is_inside else [project.folder]
        nearest_file = next((file for at in above if os.path.lexists(file := os.path.join(at, SETTINGS))), "")
        if not is_inside or os.path.dirname(nearest_file) != project.folder:
            yield _other_project(source, os.path.relpath(nearest_file) if is_inside else None)


def _other_project(source: ProjectPath, file: str | None) -> Diagnostic:
    whose = f"belongs to the project of {file}" if file else "is outside"
    return Diagnostic.declared(
        inputs.SETTINGS_PATH,
        f'sources must be in the folder of their trainc.yaml: "{source.written}" {whose}',
        "remove it: a run on a folder has all projects below it" if file else "move trainc.yaml to a folder above",
        field=field_of(source.place.path),
        place=source.place,
    )


def replaced_settings(replaced: Iterable[RunProject], run: Run) -> Diagnostic | None:
    """Return the note about the settings files that an option replaces; None without any."""
    own = None if run.options.config is None else resolved(os.fspath(run.options.config))
    shown = (os.path.relpath(each.file) for each in replaced if each.file and resolved(each.file) != own)
    files = [*dict.fromkeys(shown)]
    if not files:
        return None
    option = "--no-config" if run.options.config is None else f"--config {run.options.config}"
    return Diagnostic.declared(
        SETTINGS_REPLACED,
        f"{option} replaces {_listed(files)}",
        "omit the option to use the settings that are in force in the folder of each file",
        place=Location(file=files[0]),
    )


def project_required(runs: Sequence[Run], project: str | None) -> Diagnostic:
    """Return the error for a command that shows one project, and has several, or none of the name of an option."""
    names = [run.settings.folder for run in runs]
    if project is not None:
        return Diagnostic.declared(
            PROJECT_REQUIRED,
            f"{project} is not the folder of a project in the given paths",
            "use the folder of a trainc.yaml",
        )
    from trainc.base.texts import plural

    return Diagnostic.declared(
        PROJECT_REQUIRED,
        f"no project is selected; the given paths have {plural(len(names), 'project')}: {_listed(names)}",
        "use --project DIR, or a path in one of them",
    )


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return listed([*names[:SHOWN], *more])
