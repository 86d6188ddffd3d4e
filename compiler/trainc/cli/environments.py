"""The environments of `build` and `validate`: a run for each one, and one report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc import projects
from trainc.cli import options
from trainc.cli.codes import WRONG_INPUT
from trainc.compilation import Compilation
from trainc.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.cli.build import Run as Build
    from trainc.projects import Run
    from trainc.settings import Settings


def build(
    run: Build,
    settings: Settings,
    names: Iterable[str],
    folder: str | None,
    report: Callable[..., None],
    *,
    form: str,
    check: bool,
) -> int:
    """Build the environments with these names, by default all of them; standard output has only one."""
    names = tuple(names)
    chosen = projects.selected(settings, names)
    if not isinstance(chosen, Diagnostic) and folder is None and len(chosen) > 1:
        chosen = projects.required(settings, options.ENV, ", or -o DIR for a folder with all of them")
    if isinstance(chosen, Diagnostic):
        report(Compilation(diagnostics=(chosen,)))
        return WRONG_INPUT
    found, result = _compiled(chosen, run.compiled)
    if result.failed:
        report(result)
        return WRONG_INPUT
    from trainc.cli.build import to_stdout

    if folder is None:
        return to_stdout(result, form, report, passthrough=run.passthrough)
    from trainc.cli.folder import Order, Part, to_folder

    order = Order(folder, run.covered, passthrough=run.passthrough, prune=run.only is None, check=check)
    parts = [Part(each.name, each.result) for each in found]
    return to_folder(order, parts, report, result, whole=not names)


def compiled(
    settings: Settings, names: Iterable[str], compile: Callable[..., Compilation]
) -> tuple[Compilation, tuple[Run, ...]]:
    """Return the result of the environments with these names, by default of all, and their runs."""
    chosen = projects.selected(settings, names)
    if isinstance(chosen, Diagnostic):
        return Compilation(diagnostics=(chosen,)), ()
    found, result = _compiled(chosen, compile)
    return result, found


def _compiled(chosen: Iterable[Settings], compile: Callable[..., Compilation]) -> tuple[tuple[Run, ...], Compilation]:
    reader = projects.Once()
    found = projects.runs(chosen, lambda settings: compile(settings, reader))
    result = projects.together(found)
    result = result.saying(projects.shared_objects(found))
    options.report_skipped(result.skipped, verbose=found[0].settings.verbose)
    return found, result


def verdict(found: Iterable[Run]) -> str:
    """Return the numbers of checked objects of each environment, for a run without diagnostics."""
    from trainc.plural import plural

    numbers: dict[str, list[str]] = {}
    for run in found:
        jobs, runtimes = plural(len(run.result.jobs), "TrainJob"), plural(run.result.runtimes, "runtime")
        numbers.setdefault(f"{jobs}, {runtimes}", []).append(run.name)
    return "no problems found: " + "; ".join(f"{found} in {projects.listed(names)}" for found, names in numbers.items())
