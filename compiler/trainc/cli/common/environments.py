"""The summary of a check of several projects and environments."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from trainc.cli.common import printing
from trainc.compilation import environment_runs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.compilation import Compilation
    from trainc.compilation.environment_runs import EnvironmentRun


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
