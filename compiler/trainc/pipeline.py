"""The whole way of a TrainJob, in order.

Each stage is a function from a plan to a new plan. Checks are stages, too: they add diagnostics and change nothing
else. What is wrong with a TrainJob is said all at once: the stages up to `admit` run whatever the earlier ones found,
on what is right of it. What is made of it afterwards is made only of a TrainJob without errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.passes.accelerate import accelerate
from trainc.passes.admit import admit
from trainc.passes.carry import carry
from trainc.passes.conform import conform
from trainc.passes.deliver import deliver
from trainc.passes.framework import framework
from trainc.passes.gang import gang
from trainc.passes.initialize import initialize
from trainc.passes.lint import lint
from trainc.passes.override import override
from trainc.passes.resolve import resolve
from trainc.passes.size import size
from trainc.passes.store import store
from trainc.passes.trainer import trainer
from trainc.passes.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.plan import Plan

STAGES: Final[tuple[Callable[[Plan], Plan], ...]] = (
    conform,  # what the CRD's schema and rules would refuse, and the webhook whatever the runtime; defaults filled in
    resolve,  # runtimeRef -> the runtime's template
    override,  # runtimePatches, merged as Kubernetes merges
    admit,  # what the webhook would refuse: it looks at the patched runtime
    size,  # resourcesPerNode, pod counts
    framework,  # the runtime's one policy: rendezvous, variables
    gang,  # the runtime's podGroupPolicy: pods that start together, and their PodGroups
    initialize,  # dataset and model
    trainer,  # what spec.trainer says itself: image, command, args, env
    accelerate,  # what trainc.yaml says belongs to a resource: host paths, variables
    carry,  # the TrainJob's labels and annotations, its deadline
    deliver,  # what the way into the cluster asks for: suspend, an annotation for Argo CD
    store,  # the JobSet in the form in which the cluster stores it, and what its schema would refuse
    verify,  # what JobSet's webhook would refuse, the API server in the Jobs and pods, and what is too large
    lint,  # what nobody refuses, and its user would finding
)


JUDGES: Final = frozenset({conform, resolve, override})
"""The stages whose errors do not make the next one's meaningless."""


def run(plan: Plan) -> Plan:
    """Take a plan through all stages, or as far as its errors allow."""
    for stage in STAGES:
        plan = stage(plan)
        if plan.stopped or (plan.failed and stage not in JUDGES):
            break
    return plan
