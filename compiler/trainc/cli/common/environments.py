"""The projects and environments of `build` and `validate`: a run for each one, and their results as one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from trainc.cli.common import printing
from trainc.compilation import Compilation, environment_runs
from trainc.compilation.shared_objects import shared_folders, shared_objects, written_objects
from trainc.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trainc.compilation import Options
    from trainc.compilation.environment_runs import EnvironmentRun
    from trainc.frontends.reading import Reader

FOR_STANDARD_OUTPUT: Final = environment_runs.SelectHelp("use {}, or -o DIR for a folder with all of them", "--env {}")


def compiled(
    projects: Sequence[Options], compile: Callable[[Options, Reader], Compilation], *, several: bool = True
) -> tuple[Compilation, tuple[EnvironmentRun, ...]]:
    """Return the result of the requested environments of some projects, by default of all, and their runs.

    Args:
        projects: the options of each project.
        compile: the function that compiles with the options of one environment.
        several: whether there may be several environments: standard output has only one.
    """
    chosen: list[tuple[Options, ...]] = []
    faults: list[Diagnostic] = []
    for options in projects:
        found = environment_runs.selected(options)
        if not isinstance(found, Diagnostic) and len(found) > 1 and not several:
            found = environment_runs.environment_required(options.settings, FOR_STANDARD_OUTPUT)
        if isinstance(found, Diagnostic):
            faults.append(found)
        else:
            chosen.append(found)
    if faults:
        return Compilation(diagnostics=tuple(faults)), ()
    reader = environment_runs.CachedStreams()
    runs = environment_runs.runs(chosen, lambda options: compile(options, reader))
    result = environment_runs.merge_runs(runs)
    shared = (*shared_objects(each for run in runs for each in written_objects(run)), *shared_folders(projects))
    return result.with_diagnostics(shared), runs


def verdict(result: Compilation, runs: Iterable[EnvironmentRun]) -> str:
    """Return the summary of a check; without diagnostics, the number of checked objects of each environment."""
    runs = tuple(run for run in runs if run.result.files)
    several = len({run.project for run in runs}) > 1
    if result.diagnostics or not (several or any(run.name for run in runs)):
        return printing.verdict(result)

    counted = []
    for _, project in groupby(runs, key=lambda run: run.project):
        numbers: dict[str, list[EnvironmentRun]] = {}
        for run in project:
            number = f"{run.result.counted_jobs}, {printing.counted_runtimes(run.result)}"
            numbers.setdefault(number, []).append(run)
        for number, alike in numbers.items():
            names = environment_runs.listed([run.name for run in alike if run.name])
            where = [*([names] if names else []), *([alike[0].settings.folder] if several else [])]
            counted.append(f"{number} in {' of '.join(where)}")
    return "; ".join(filter(None, ("no problems found: " + "; ".join(counted), printing.unsupported_note(result))))
