"""Limits of the TrainJob above smaller requests of the runtime.

Source: kubeflow/trainer v2.3.0, which merges resourcesPerNode into the container's resources one by one; Kubernetes
1.36, where a limit is the default of a missing request. For GPUs and other extended resources the API server itself
requires equal limits and requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.fixes import Addition, Fix
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.quantity import Quantity
from trainc.pipeline.lint import lint_rule
from trainc.pipeline.lint.triggers import OVERCOMMITTED
from trainc.pipeline.plan import NODE, Plan, Slot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the resources for which the TrainJob sets only a limit, and the runtime a smaller request."""
    slot = plan.find(plan.trainer, NODE)
    if plan.runtime.policy is None or slot is None:
        return
    per_node, runtime = plan.job.trainer["resourcesPerNode"], requested(plan, slot)
    for name in OVERCOMMITTED:
        limit = per_node["limits"].get(name)
        if limit is None or name in (per_node.get("requests") or {}) or name not in runtime:
            continue
        if Quantity.from_json(runtime[name]) < Quantity.from_json(limit):
            path = (*slot.path, "resources", "requests", name)
            yield LintFinding("runtime-request-stays", (), (name,), shared=True, related=(("the request", path),))


def requested(plan: Plan, slot: Slot) -> Tree:
    """Return the requests of a container as they are stored."""
    from trainc.kubernetes.trees import get
    from trainc.pipeline.lint import stored

    requests: Tree = get(stored(plan), (*slot.path, "resources", "requests"), {})
    return requests


@lint_rule("runtime-request-stays", fix="unsafe")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The scheduler uses requests: it places the pods where the smaller amount is free, but they use the larger one."""
    (name,) = finding.what
    slot = plan.find(plan.trainer, NODE)
    assert slot is not None
    limits, request = plan.job.trainer["resourcesPerNode"]["limits"], requested(plan, slot)[name]
    path = ("spec", "trainer", "resourcesPerNode", "requests")
    amounts = {other: limits[other] for found in find(plan) for other in found.what}
    changes = tuple(Addition((*path, other), limit) for other, limit in amounts.items())
    if not plan.job.trainer["resourcesPerNode"].get("requests"):
        changes = (Addition(path, amounts),)
    title = "set the request in resourcesPerNode, too: "
    return Finding(
        message=f"resourcesPerNode sets a {name} limit of {limits[name]} but no request, so the runtime's request of "
        f"{request} stays: the pod may be scheduled to a node that is too small",
        help=Fix(changes, title, {"requests": amounts}, "fields", applicability="unsafe"),
        field=f"spec.trainer.resourcesPerNode.limits[{name}]",
        place=plan.job.at("spec", "trainer", "resourcesPerNode", "limits", name),
    )
