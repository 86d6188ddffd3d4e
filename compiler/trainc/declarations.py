"""Declarations of the ids that a report may show: each once, beside the code that reports it.

Reads    nothing.
Returns  `Declaration`, `Severity` and the cluster's admission phases. The catalogue collects the declarations of all
         modules; `trainc.checks.check` makes one of a generator function.
"""

from __future__ import annotations

from typing import Final, Literal

from trainc.records import NamedTuple

Severity = Literal["error", "warning", "note"]
Phase = Literal["read", "schema", "runtime", "trainjob", "build", "jobset-schema", "jobset", "job", "lint"]
"""Where the cluster would report a fault, in the order in which a TrainJob passes them; `lint` is trainc's own."""
PHASES: Final[tuple[Phase, ...]] = Phase.__args__  # type: ignore[attr-defined]


class Declaration(NamedTuple):
    """One id that trainc reports."""

    id: str
    phases: tuple[Phase, ...]
    """Where the fault may surface, the usual phase first."""
    title: str
    """What is wrong, as a sentence without a full stop."""
    severity: Severity = "error"
    own: bool = False
    """Whether trainc alone reports it: the cluster accepts it, or never sees it."""
