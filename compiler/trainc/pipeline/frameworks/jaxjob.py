"""JAXJob: the variables that Training Operator v1 adds. No runtime of a user can have it.

Reads    the settings that `frontends.legacy.jaxjob` derives from the job; the host names of the plan.
Adds     variables to every container, after those of the job. Of one name, the last variable applies.
Changes  the host names of the job's pods in the containers, which are other ones in a JobSet.
Source   kubeflow/training-operator v1.9.3, the environment of JAXJobs, in its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.legacy.host_names import layout_of, role_host, with_new_hosts
from trainc.legacy.jaxjob import KIND
from trainc.legacy.replica_specs import WORKER
from trainc.legacy.variables import with_operator_variables
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.checks import Check
    from trainc.pipeline.plan import Plan

RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec"
CHECKS: Final[tuple[Check[[Plan]], ...]] = ()
TRAITS: Final = Traits(family="jax", container=KIND.container, nodes_field="replicas")
RENDEZVOUS: Final = (("COORDINATOR_ADDRESS", "COORDINATOR_PORT"),)


def apply(plan: Plan) -> Plan:
    """Add the variables to all containers."""
    return with_new_hosts(with_operator_variables(plan, [*_variables(plan)]))


def _variables(plan: Plan) -> Iterator[Tree]:
    layout, settings = layout_of(plan), plan.runtime.settings
    yield value("PYTHONUNBUFFERED", 1)
    yield value("COORDINATOR_PORT", settings["port"])
    yield value("COORDINATOR_ADDRESS", role_host(plan, layout, WORKER))
    yield value("NUM_PROCESSES", settings["nodes"])
    yield from_field("PROCESS_ID", layout.rank_field)
