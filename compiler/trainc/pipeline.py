"""The whole way of a TrainJob, in order.

Each stage is a function from a plan to a new plan. Checks are stages, too: they add diagnostics and change nothing
else. Where a stage leaves errors, the later ones are not run: what they would say follows from the first fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.passes.admit import admit
from trainc.passes.carry import carry
from trainc.passes.conform import conform
from trainc.passes.framework import framework
from trainc.passes.override import override
from trainc.passes.resolve import resolve
from trainc.passes.size import size
from trainc.passes.store import store
from trainc.passes.trainer import trainer

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.plan import Plan

STAGES: Final[tuple[Callable[[Plan], Plan], ...]] = (
    conform,  # what the CRD's schema and rules would refuse; its defaults filled in
    resolve,  # runtimeRef -> the runtime's template
    override,  # runtimePatches, merged as Kubernetes merges
    admit,  # what the webhook would refuse: it looks at the patched runtime
    size,  # resourcesPerNode, pod counts
    framework,  # the runtime's one policy: rendezvous, variables
    trainer,  # what spec.trainer says itself: image, command, args, env
    carry,  # the TrainJob's labels and annotations, its deadline
    store,  # the JobSet in the form in which the cluster stores it, and what its schema would refuse
)


def run(plan: Plan) -> Plan:
    """Take a plan through all stages, or up to the first that fails."""
    for stage in STAGES:
        plan = stage(plan)
        if plan.failed:
            break
    return plan
