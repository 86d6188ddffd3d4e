"""The environments of `build` and `validate`: a run for each one, and their results as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc import projects
from trainc.cli import printing
from trainc.compilation import Compilation
from trainc.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.projects import Run
    from trainc.settings import Settings

FOR_STANDARD_OUTPUT: Final = projects.Fix("use {}, or -o DIR for a folder with all of them", "--env {}")


def compiled(
    settings: Settings, names: Iterable[str], compile: Callable[..., Compilation], *, several: bool = True
) -> tuple[Compilation, tuple[Run, ...]]:
    """Return the result of the environments with these names, by default of all, and their runs.

    Args:
        settings: the project's settings.
        names: the requested environments.
        compile: the function that compiles with the settings of one of them.
        several: whether there may be several: standard output has only one.
    """
    chosen = projects.selected(settings, names)
    if not isinstance(chosen, Diagnostic) and len(chosen) > 1 and not several:
        chosen = projects.required(settings, FOR_STANDARD_OUTPUT)
    if isinstance(chosen, Diagnostic):
        return Compilation(diagnostics=(chosen,)), ()
    reader = projects.Once()
    found = projects.runs(chosen, lambda settings: compile(settings, reader))
    result = projects.together(found)
    return result.saying(projects.shared_objects(found)), found


def verdict(result: Compilation, found: Iterable[Run]) -> str:
    """Return the summary of a check; without diagnostics, the number of checked objects of each environment."""
    found = tuple(found)
    if result.diagnostics or not any(run.name for run in found):
        return printing.verdict(result)
    from trainc.plural import plural

    numbers: dict[str, list[str]] = {}
    for run in found:
        jobs, runtimes = plural(len(run.result.jobs), "TrainJob"), plural(run.result.runtimes, "runtime")
        numbers.setdefault(f"{jobs}, {runtimes}", []).append(run.name)
    counted = [f"{number} in {projects.listed(names)}" for number, names in numbers.items()]
    return "; ".join(filter(None, ("no problems found: " + "; ".join(counted), printing.not_compiled(result))))
