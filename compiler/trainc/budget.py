"""The budget of a run: the most work that it does, in units that are the same on every machine.

Reads    the units that readers, the pipeline and emitters charge.
Returns  one diagnostic for the first unit of which a run uses more than its budget has. The run then stops and emits
         nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OVER_BUDGET: Final = Declaration("over-budget", ("read",), trainc_only=True)

Unit = Literal[
    "input bytes",  # of all files and git objects that are parsed
    "skipped bytes",  # of the files of folders that are read but not parsed
    "entries of git trees",  # files, folders and links in the git trees that are read, and links that are followed
    "replicated jobs",  # of all TrainJobs; a TrainJob counts as at least one
    "errors and warnings",  # and notes that are found
    "output bytes",  # of manifests
    "pods",  # that `trainc pods` lists
    "environments",  # of a trainc.yaml
    "operations of a patch",  # of one JSON patch; the API server accepts as many
    "values of a patch in an object",  # that the operations of one JSON patch compare, copy, move and write
    "values of patches",  # of all patches in all objects
    "terms of targets",  # terms of the selectors of a patch, and the patch itself, for each object
    "bytes of environments",  # of the files that are parsed, for each environment
    "labels and annotations",  # of settings and of the templates of runtimes, for each TrainJob
    "values of settings",  # for each environment
    "values of runtimes",  # of their templates, for each TrainJob
    "runtimes of one name",  # for each TrainJob
]
Factor = tuple[int, str]
"""A number, and what it counts: 300 TrainJobs."""
NAMES: Final = ("ci", "default", "unlimited")
"""The budgets, the smallest first."""
OPTION: Final = "--budget {}"
SHOWN: Final = 100
"""The number of diagnostics that a report for people shows, and that are reported when a run stops."""
_SEVERITIES: Final = ("error", "warning", "note")


class Budget(NamedTuple):
    """The most units of a run; a missing unit has no limit."""

    name: str
    limits: Mapping[Unit, int]
    option: str = OPTION
    """How to select another budget, for the help; `{}` is its name."""

    def excess(self, unit: Unit, used: int, factors: Sequence[Factor] = ()) -> Diagnostic | None:
        """Return the diagnostic for a number of units, or None if it is within the budget.

        The units are of a product if there are `factors`, which the message names.
        """
        most = self.limits.get(unit)
        if most is None or used <= most:
            return None
        fewer = "define fewer environments" if unit == "environments" else "pass fewer files or folders"
        product = ""
        if factors:
            product = f" ({' x '.join(f'{count:,} {counted}' for count, counted in factors)})"
            fewer = f"use fewer {' or '.join(counted for _, counted in factors)}"
        larger = NAMES[NAMES.index(self.name) + 1]
        return Diagnostic.declared(
            OVER_BUDGET,
            f'more than {most} {unit}{product}, the limit of the budget "{self.name}"; nothing is emitted',
            f"{fewer}, or use {self.option.format(larger)}",
        )


_LIMITS: Final[Mapping[Unit, tuple[int, int]]] = {
    "input bytes": (16 * 2**20, 256 * 2**20),
    "skipped bytes": (16 * 16 * 2**20, 16 * 256 * 2**20),
    "entries of git trees": (25_000, 250_000),
    "replicated jobs": (10_000, 50_000),
    "errors and warnings": (1_000, 10_000),
    "output bytes": (32 * 2**20, 128 * 2**20),
    "pods": (1_000, 10_000),
    "environments": (100, 1_000),
    "operations of a patch": (10_000, 10_000),
    "values of a patch in an object": (100_000, 200_000),
    "values of patches": (1_000_000, 10_000_000),
    "terms of targets": (1_000_000, 10_000_000),
    "bytes of environments": (8 * 2**20, 128 * 2**20),
    "labels and annotations": (1_000_000, 10_000_000),
    "values of settings": (500_000, 1_000_000),
    "values of runtimes": (3_000_000, 30_000_000),
    "runtimes of one name": (100_000, 1_000_000),
}
"""The most units of the budgets ci and default."""
CI: Final = Budget("ci", {unit: most for unit, (most, _) in _LIMITS.items()})
"""For programs that compile the input of others: `cmp`, `krm`."""
DEFAULT: Final = Budget("default", {unit: most for unit, (_, most) in _LIMITS.items()})
UNLIMITED: Final = Budget("unlimited", {})
BUDGETS: Final = {budget.name: budget for budget in (CI, DEFAULT, UNLIMITED)}


class Meter:
    """The units that a run has used."""

    def __init__(self, budget: Budget = DEFAULT, all_runs: Meter | None = None) -> None:
        self.budget = budget
        self.all_runs = all_runs
        """The meter of the products of all runs, if there is one for each environment."""
        self.used: dict[Unit, int] = {}
        self.over: Diagnostic | None = None
        """The diagnostic for the first unit that is exceeded; the run stops when there is one."""

    def charge(self, unit: Unit, amount: int = 1, factors: Sequence[Factor] = ()) -> bool:
        """Add units to those used. Return whether the run may continue."""
        used = self.used[unit] = self.used.get(unit, 0) + amount
        if self.over is None:
            self.over = self.budget.excess(unit, used, factors)
        if factors and self.all_runs is not None and not self.all_runs.charge(unit, amount, factors):
            self.over = self.over or self.all_runs.over
        return self.over is None

    def charge_product(self, unit: Unit, *factors: Factor) -> bool:
        """Add the product of some numbers to the units used, before its work. Return whether the run may continue."""
        amount = 1
        for count, _ in factors:
            amount *= count
        return self.charge(unit, amount, factors)

    def spend(self, unit: Unit, amount: int = 1) -> None:
        """Add units to those used. Raise OverBudgetError beyond the budget."""
        if not self.charge(unit, amount):
            self.check()

    def check(self) -> None:
        """Raise OverBudgetError if a unit is exceeded."""
        if self.over is not None:
            raise OverBudgetError(self.over)


class OverBudgetError(Error):
    """The output exceeds the budget: its emission stops before anything is written."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def check(budget: Budget, unit: Unit, used: int) -> None:
    """Raise OverBudgetError if a number of units exceeds the budget."""
    if (over := budget.excess(unit, used)) is not None:
        raise OverBudgetError(over)


def size_of(text: str) -> int:
    """Return the number of bytes that a text has in an output."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def checked_output(budget: Budget, texts: Iterable[str]) -> Iterable[str]:
    """Return the parts of an output. Raise OverBudgetError if they exceed the budget, before the first one is returned.

    Without a limit, the parts are not collected.
    """
    if "output bytes" not in budget.limits:
        return texts
    meter, parts = Meter(budget), list[str]()
    for text in texts:
        meter.spend("output bytes", size_of(text))
        parts.append(text)
    return parts


def stopped(diagnostics: Sequence[Diagnostic], over: Diagnostic) -> list[Diagnostic]:
    """Return the diagnostics of a run that stopped: the first ones, and the reason."""
    return [*most_severe(diagnostics, SHOWN - 1), over]


def most_severe(diagnostics: Sequence[Diagnostic], most: int = SHOWN) -> Sequence[Diagnostic]:
    """Return at most `most` diagnostics, errors before warnings before notes, in the given order."""
    if len(diagnostics) <= most:
        return diagnostics
    ranked = sorted(range(len(diagnostics)), key=lambda index: _SEVERITIES.index(diagnostics[index].severity))
    return [diagnostics[index] for index in sorted(ranked[:most])]
