"""Amounts of a device that no node has: bytes where a number of devices is expected.

Source: Kubernetes 1.36, which accepts any integer as the amount of a resource with a domain, also one with a suffix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.pod_resources import LARGEST, device_amounts
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import shown
from trainc.pipeline.lint import containers, lint_rule, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

MOST: Final = 1_000_000
"""The first amount that is reported."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the amounts of devices that no node has. Resources with `mem` in the name are counted in other units."""
    for path, container in containers(plan):
        resources = container.get("resources") or {}
        for name, amount in device_amounts(resources).items():
            if amount >= MOST and "mem" not in name.lower():
                key = next(key for key in ("limits", "requests") if name in (resources.get(key) or {}))
                yield LintFinding("device-count", (*path, "resources", key, name), (name, str(amount)), error=True)


@lint_rule("device-count", severity="error")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The scheduler finds no node with so many devices, so the pods stay pending."""
    name, amount = finding.what
    written = shown(get(stored(plan), finding.path)).strip('"')
    count = "" if int(amount) == LARGEST else f" {int(amount):,} devices,"
    return Finding(
        message=f"{written} of {name} is{count} more than any node has: the pods stay pending",
        help=f"set the number of devices, such as `{name}: 8`",
    )
