"""Limits of the TrainJob over requests of the runtime.

Source: kubeflow/trainer v2.3.0, which merges resourcesPerNode into the container's resources one by one; Kubernetes
1.36, where a limit alone is a request, too, but only where there is none. Of GPUs and other extended resources the API
server wants both to be equal: `limits` and `requests` there are its business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.quantity import Quantity
from trainc.lint.signs import OVERSOLD
from trainc.plan import NODE, Plan, Slot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree


def find(plan: Plan) -> Iterator[Regret]:
    """The resources of which the TrainJob sets the limit alone, and the runtime a smaller request."""
    slot = plan.find(plan.trainer, NODE)
    if plan.runtime.policy is None or slot is None:
        return
    said, runtime = plan.job.trainer["resourcesPerNode"], requested(plan, slot)
    for name in OVERSOLD:
        limit = said["limits"].get(name)
        if limit is None or name in (said.get("requests") or {}) or name not in runtime:
            continue
        if Quantity.from_json(runtime[name]) < Quantity.from_json(limit):
            path = (*slot.path, "resources", "requests", name)
            yield Regret("runtime-request-stays", (), (name,), shared=True, related=(("the request", path),))


def requested(plan: Plan, slot: Slot) -> Tree:
    """The requests of a container as they are stored."""
    from trainc.kubernetes.trees import get
    from trainc.lint import stored

    requests: Tree = get(stored(plan), (*slot.path, "resources", "requests"), {})
    return requests


@check(
    "runtime-request-stays",
    stage="lint",
    severity="warning",
    title="The runtime's request under the TrainJob's limit",
    own=True,
)
def request_stays(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """The scheduler goes by requests: the pods are placed where the smaller amount is free, and use the larger one."""
    (name,) = regret.what
    slot = plan.find(plan.trainer, NODE)
    assert slot is not None
    limit, request = plan.job.trainer["resourcesPerNode"]["limits"][name], requested(plan, slot)[name]
    yield Finding(
        message=f"resourcesPerNode limits {name} to {limit} and requests none of it, so the runtime's request of "
        f"{request} stays: a node that has no more than that free is taken for large enough",
        help=f"say in resourcesPerNode what a node needs: `requests: {{{name}: {limit}}}`",
        field=f"spec.trainer.resourcesPerNode.limits[{name}]",
        place=plan.job.at("spec", "trainer", "resourcesPerNode", "limits", name),
    )


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (request_stays,)
