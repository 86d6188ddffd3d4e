"""Amounts of memory that are too small for any process, usually with the wrong unit.

Source: Kubernetes 1.36, which accepts them. In a quantity, m means thousandths; a number without a unit is in bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import containers, lint_rule, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

LEAST: Final = Quantity.from_json("1Mi")


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the requests and limits of memory below 1 MiB, except zero."""
    for path, container in containers(plan):
        for kind in ("limits", "requests"):
            amount = get(container, ("resources", kind, "memory"))
            if amount is not None and Quantity.from_json(amount).sign > 0 and Quantity.from_json(amount) < LEAST:
                yield LintFinding("memory-unit", (*path, "resources", kind, "memory"), (kind[:-1], str(amount)))


@lint_rule("memory-unit", "Memory below 1 MiB")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """No training process starts with so little memory; as a request, it reserves nothing."""
    kind, amount = finding.what
    number = amount.rstrip("munkKi")
    size = Quantity.from_json(get(stored(plan), finding.path))
    small = "less than one byte" if size < Quantity.from_json("1") else f"only {size.value()} bytes"
    return Finding(
        message=f"memory {kind} {amount} is {small}"
        + (", because m means thousandths" if amount.endswith("m") else ""),
        help=f"use {number}M or {number}Mi",
    )
