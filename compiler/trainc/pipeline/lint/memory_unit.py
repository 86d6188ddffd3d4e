"""Amounts of memory that are too small for any process, usually with the wrong unit.

Source: Kubernetes 1.36, which accepts them. In a quantity, m means thousandths; a number without a unit is in bytes. In
braces, a comma ends the value: `{memory: 64,000Mi}` has a second key without a value, which the API server drops.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from trainc.base.texts import plural
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import containers, lint_rule, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

AFTER_COMMA: Final = re.compile(r"[0-9]{1,9}(?:[kMGTP]|[KMGTP]i)?")
THOUSANDS: Final = re.compile(r"[0-9]{3}(?![0-9])")
LEAST: Final = Quantity.from_json("1Mi")


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the requests and limits of memory below 1 MiB, except zero."""
    for path, container in containers(plan):
        for kind in ("limits", "requests"):
            amount = get(container, ("resources", kind, "memory"))
            if amount is not None and Quantity.from_json(amount).sign > 0 and Quantity.from_json(amount) < LEAST:
                yield LintFinding("memory-unit", (*path, "resources", kind, "memory"), (kind[:-1], str(amount)))


@lint_rule("memory-unit")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """No training process starts with so little memory; as a request, it reserves nothing."""
    kind, amount = finding.what
    number = amount.rstrip("munkKi")
    size = Quantity.from_json(get(stored(plan), finding.path))
    small = "less than one byte" if size < Quantity.from_json("1") else f"only {plural(int(size.value()), 'byte')}"
    if after := after_comma(plan, finding):
        whole = "".join((amount, *after)) if all(map(THOUSANDS.match, after)) else f"{amount}.{''.join(after)}"
        return Finding(
            message=f"memory {kind} {amount} is {small}, because a comma in braces ends the value",
            help=f"write {whole if Quantity.from_json(whole) >= LEAST else f'{whole}Mi'}, without the comma",
        )
    return Finding(
        message=f"memory {kind} {amount} is {small}"
        + (", because m means thousandths" if amount.endswith("m") else ""),
        help=f"use {number}M or {number}Mi",
    )


def after_comma(plan: Plan, finding: LintFinding) -> list[str]:
    """Return the keys without a value after the amount in its document, as of `{memory: 64,000Mi}`: `000Mi`.

    YAML reads the key 000 as the number 0.
    """
    kind, amount = finding.what
    resources = f"{kind}s"
    written = (
        get(plan.job.document.value, ("spec", "trainer", "resourcesPerNode", resources)),
        get(plan.runtime.document.value, ("spec", "template", *finding.path[:-1])),
    )
    for mapping in written:
        if isinstance(mapping, dict) and str(mapping.get("memory")) == amount:
            items = list(mapping.items())
            rest = takewhile(lambda item: item[1] is None, items[list(mapping).index("memory") + 1 :])
            return ["000" if name == "0" else name for name, _ in rest if AFTER_COMMA.fullmatch(name)]
    return []
