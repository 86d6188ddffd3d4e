"""Amounts of cpu with the wrong unit, of more cores than a node has.

Source: Kubernetes 1.36, which accepts them, and stores 4000 as 4k. In a quantity, m means thousandths, M millions, and
k thousands; a number without a unit is in cores. The largest machines of the cloud providers have 1,920.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import containers, lint_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

MOST: Final = Quantity.from_json("2048")
"""Cores. No node has more."""
LARGE: Final = re.compile(r"[0-9.]{1,20}([kMGTPE]i?|Ki)")
"""An amount with a unit of thousands or more."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the requests and limits of cpu in thousands of cores or more, or of more cores than a node has."""
    for path, container in containers(plan):
        for kind in ("limits", "requests"):
            amount = get(container, ("resources", kind, "cpu"))
            if amount is None or Quantity.from_json(amount).sign <= 0:
                continue
            if LARGE.fullmatch(str(amount)) or Quantity.from_json(amount) > MOST:
                yield LintFinding("cpu-unit", (*path, "resources", kind, "cpu"), (kind[:-1], str(amount)))


@lint_rule("cpu-unit")
def warning(_: Plan, finding: LintFinding) -> Finding:
    """A pod with such a request is never scheduled, and such a limit limits nothing."""
    kind, amount = finding.what
    unit, cores = LARGE.fullmatch(amount), Quantity.from_json(amount).value()
    number = amount[: unit.start(1)] if unit else ""
    if unit is None or unit[1] == "k":
        help = f"use {cores}m for thousandths of a core"
    else:
        help = f"use {number}m for thousandths of a core" if unit[1] == "M" else f"use {number}"
    return Finding(message=f"cpu {kind} {amount} is {cores} cores", help=help)
