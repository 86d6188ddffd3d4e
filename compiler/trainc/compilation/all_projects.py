"""Several projects and environments as one run: each is compiled with its own settings, and the results are merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.compilation import Compilation, environment_runs
from trainc.compilation.shared_objects import shared_folders, shared_objects, written_objects
from trainc.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainc.compilation import Run
    from trainc.compilation.environment_runs import EnvironmentRun
    from trainc.frontends.reading import Reader

FOR_STANDARD_OUTPUT: Final = environment_runs.SelectHelp("use {}, or -o DIR for a folder with all of them", "--env {}")


def compile_all(
    projects: Sequence[Run], compile: Callable[[Run, Reader], Compilation], *, several: bool = True
) -> tuple[Compilation, tuple[EnvironmentRun, ...]]:
    """Return the result of the requested environments of some projects, by default of all, and their runs.

    Args:
        projects: the run of each project.
        compile: the function that compiles the run of one environment.
        several: whether there may be several environments: standard output has only one.
    """
    chosen: list[tuple[Run, ...]] = []
    faults: list[Diagnostic] = []
    for project in projects:
        found = environment_runs.selected(project)
        if not isinstance(found, Diagnostic) and len(found) > 1 and not several:
            found = environment_runs.environment_required(project.settings, FOR_STANDARD_OUTPUT)
        if isinstance(found, Diagnostic):
            faults.append(found)
        else:
            chosen.append(found)
    if faults:
        return Compilation(diagnostics=tuple(faults)), ()
    reader = environment_runs.CachedStreams()
    runs = environment_runs.runs(chosen, lambda run: compile(run, reader))
    return merged(projects, runs), runs


def merged(projects: Sequence[Run], runs: Sequence[EnvironmentRun]) -> Compilation:
    """Return the results of the runs as one, with the objects and folders that several of them write."""
    shared = (*shared_objects(each for run in runs for each in written_objects(run)), *shared_folders(projects))
    return environment_runs.merge_runs(runs).with_diagnostics(shared)
