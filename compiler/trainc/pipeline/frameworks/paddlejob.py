"""PaddleJob: the variables that Training Operator v1 adds. No runtime of a user can have it.

Reads    the settings that `frontends.legacy.paddlejob` derives from the job; the host names of the plan.
Adds     variables to every container, after those of the job. Of one name, the last variable applies. All pods of a
         role share one template, so PADDLE_MASTER has the host name of the first pod also in this pod itself.
Changes  the host names of the job's pods in the containers, which are other ones in a JobSet.
Source   kubeflow/training-operator v1.9.3, the environment of PaddleJobs, in its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.legacy.host_names import layout_of, role_host, with_new_hosts
from trainc.legacy.paddlejob import KIND
from trainc.legacy.replica_specs import MASTER
from trainc.legacy.variables import with_operator_variables
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.legacy.layout import Layout
    from trainc.pipeline.checks import Check
    from trainc.pipeline.plan import Plan

RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec"
CHECKS: Final[tuple[Check[[Plan]], ...]] = ()
TRAITS: Final = Traits(family="paddle", container=KIND.container, nodes_field="replicas")
RENDEZVOUS: Final = (("PADDLE_MASTER",),)
ADDRESS: Final = "status.podIP"


def apply(plan: Plan) -> Plan:
    """Add the variables to all containers."""
    layout = layout_of(plan)
    for job, group in enumerate(layout.groups):
        plan = with_operator_variables(plan, [*_variables(plan, layout, group.roles[0][0])], job)
    return with_new_hosts(plan)


def _variables(plan: Plan, layout: Layout, role: str) -> Iterator[Tree]:
    settings = plan.runtime.settings
    lead = settings["lead"]
    yield value("PYTHONUNBUFFERED", 1)
    yield value("PADDLE_JOB_ID", plan.name)
    yield value("PADDLE_NNODES", settings["nodes"])
    if role == lead:
        yield from_field("POD_IP_DUMMY", ADDRESS)
    yield value("PADDLE_MASTER", f"{role_host(plan, layout, lead)}:{settings['port']}")
    if lead == MASTER:
        yield value("PADDLE_SERVER_NUM" if role == MASTER else "PADDLE_TRAINER_NUM", 1)
