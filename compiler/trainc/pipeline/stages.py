"""The stages that compile a TrainJob, in order.

Each stage is a function from a plan to a new plan. Checks are stages, too: they add diagnostics and change nothing
else. The first stage with an error is the last one, but `resolve` follows `conform`, so that messages know the runtime.
`compilation.later_errors` finds the errors of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.pipeline.passes.accelerate import accelerate
from trainc.pipeline.passes.admit import admit
from trainc.pipeline.passes.carry import carry
from trainc.pipeline.passes.conform import conform
from trainc.pipeline.passes.deliver import deliver
from trainc.pipeline.passes.framework import framework
from trainc.pipeline.passes.gang import gang
from trainc.pipeline.passes.initialize import initialize
from trainc.pipeline.passes.lint import lint
from trainc.pipeline.passes.override import override
from trainc.pipeline.passes.patch import patch
from trainc.pipeline.passes.resolve import resolve
from trainc.pipeline.passes.size import size
from trainc.pipeline.passes.store import store
from trainc.pipeline.passes.trainer import trainer
from trainc.pipeline.passes.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.pipeline.plan import Plan

STAGES: Final[tuple[Callable[[Plan], Plan], ...]] = (
    conform,  # the CRD's schema and rules, the webhook checks that do not need the runtime, defaults
    resolve,  # runtimeRef -> the runtime's template
    override,  # runtimePatches, with a strategic merge
    admit,  # the webhook checks of the patched runtime
    size,  # resourcesPerNode, pod counts
    framework,  # the runtime's framework policy: rendezvous, variables
    gang,  # the runtime's podGroupPolicy: pods that start together, and their PodGroups
    initialize,  # dataset and model
    trainer,  # spec.trainer: image, command, args, env
    accelerate,  # the accelerators of trainc.yaml: host paths, variables
    carry,  # the TrainJob's labels and annotations, its deadline
    deliver,  # the delivery options: suspend, an annotation for Argo CD
    patch,  # the patches of trainc.yaml for the JobSet
    store,  # the JobSet in the form in which the cluster stores it; its schema
    verify,  # the rules of the webhooks of JobSet and Kueue, of Jobs and pods, and size limits
    lint,  # lint rules
)


def run(plan: Plan) -> Plan:
    """Run the stages on a plan, up to the first one with an error."""
    for stage in STAGES:
        plan = stage(plan)
        if plan.stopped or (plan.failed and stage is not conform):  # messages need the runtime
            break
    return plan
