"""Several projects and environments as one run: each is compiled with its own settings, and the results are merged.

`check` is the check of some projects, as `trainc validate` reports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.compilation import Compilation, compile_paths, environment_runs, wrong_namespace
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


def check(
    projects: Sequence[Run], files_of: Reader | None = None, *, files: Sequence[str] | None = None
) -> tuple[Compilation, tuple[EnvironmentRun, ...]]:
    """Return the result of a check, and the run of each environment if there are several projects or environments.

    Args:
        projects: the run of each project.
        files_of: the function that reads files; None for the disk.
        files: the files to check among the others of the projects; None for all of them.
    """
    first, *others = projects
    if not (others or first.options.environments or first.settings.environment_names):
        return _checked(first, files_of, files), ()

    return compile_all(projects, lambda run, streams: _checked(run, files_of or streams, files))


def _checked(run: Run, files_of: Reader | None, files: Sequence[str] | None) -> Compilation:
    if files is None:
        result = compile_paths(run.inputs, run, files_of)
    else:
        from trainc.compilation.subset import compile_subset

        result = compile_subset(files, run.inputs[0], run, files_of)
    result = result.with_diagnostics(wrong_namespace(result, result.copied))
    return result.with_undecided_queues() if run.verbose else result
