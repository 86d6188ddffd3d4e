"""Declarations of diagnostic ids: each id is declared once, in the module that reports it.

Reads    nothing.
Returns  `Declaration`, `Severity` and the cluster's admission phases. The catalogue collects the declarations of all
         modules; the decorator `trainc.pipeline.checks.check` declares the id of a generator function.
"""

from __future__ import annotations

from typing import Final, Literal

from trainc.base.records import NamedTuple

Severity = Literal["error", "warning", "note"]
Phase = Literal[
    "read", "schema", "runtime", "trainjob", "build", "jobset-schema", "jobset", "kueue", "queue", "job", "lint"
]
"""The admission phase in which the cluster reports a fault, in the order of admission; `lint` is trainc's own."""
PHASES: Final[tuple[Phase, ...]] = Phase.__args__  # type: ignore[attr-defined]


class Declaration(NamedTuple):
    """One id that trainc reports."""

    id: str
    phases: tuple[Phase, ...]
    """The phases in which the fault can surface, the usual phase first."""
    severity: Severity = "error"
    trainc_only: bool = False
    """Whether only trainc reports it: the cluster accepts it, or never receives it."""
    fix: Literal["", "safe", "unsafe"] = ""
    """The fix of at least some of its diagnostics, which `trainc validate --fix` applies; empty without any."""
