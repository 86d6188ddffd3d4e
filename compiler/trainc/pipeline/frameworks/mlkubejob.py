"""MxJob: the variables that the first MXNet operator adds in mode dist. No runtime of a user can have it.

Reads    the settings that `frontends.legacy.mlkubejob` derives from the job; the host names of the plan. A
         replicated job has the name of its role in lower case.
Adds     the five variables of the operator and DMLC_USE_KUBERNETES to the container `mxnet`, after those of the job.
         With the last one, the scheduler binds to all addresses: ZeroMQ does not resolve the name in DMLC_PS_ROOT_URI.
         Nothing in mode local.
Source   deepinsight/mxnet-operator, the Jobs of mode dist. It writes the five variables over the first five of a
         container that has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.legacy.mlkube_admission import DIST, MXNET, SCHEDULER, SERVER, WORKER
from trainc.legacy.variables import with_operator_variables
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.frameworks import PlanCheck
    from trainc.pipeline.plan import Plan

RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec"
CHECKS: Final[tuple[PlanCheck, ...]] = ()
TRAITS: Final = Traits(family="mxnet", container=MXNET, nodes_field="replicas", gangs=False)
RENDEZVOUS: Final = (("DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT"),)


def apply(plan: Plan) -> Plan:
    """Add the variables to the main containers."""
    is_dist = plan.runtime.settings["mode"] == DIST
    for job, replicated in enumerate(plan.jobs):
        env = [*variables(plan, replicated["name"])] if is_dist else []
        plan = with_operator_variables(plan, env, job, container=MXNET)
    return plan


def variables(plan: Plan, role: str) -> Iterator[Tree]:
    """Yield the variables of the pods of a role, in the operator's order."""
    settings, scheduler = plan.runtime.settings, plan.named(SCHEDULER.lower())
    assert scheduler is not None, "admission requires a scheduler in mode dist"
    yield value("DMLC_PS_ROOT_PORT", settings["port"])
    yield value("DMLC_PS_ROOT_URI", plan.host(scheduler, 0, 0))
    yield value("DMLC_NUM_SERVER", settings["replicas"][SERVER])
    yield value("DMLC_NUM_WORKER", settings["replicas"][WORKER])
    yield value("DMLC_ROLE", role)
    yield value("DMLC_USE_KUBERNETES", 1)
