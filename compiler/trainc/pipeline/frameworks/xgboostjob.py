"""XGBoostJob: the variables that Training Operator v1 adds. No runtime of a user can have it.

Reads    the settings that `frontends.legacy.xgboostjob` derives from the job; the host names of the plan.
Adds     variables to every container, after those of the job. Of one name, the last variable applies.
Changes  the host names of the job's pods in the containers, which are other ones in a JobSet.
Source   kubeflow/training-operator v1.9.3, the environment of XGBoostJobs, in its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.legacy.host_names import (
    layout_of,
    long_variable,
    role_host,
    role_hosts,
    role_hosts_length,
    with_new_hosts,
)
from trainc.legacy.replica_specs import MASTER, WORKER
from trainc.legacy.variables import with_operator_variables
from trainc.legacy.xgboostjob import KIND
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Diagnostic, ObjectId
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.frameworks import PlanCheck
    from trainc.pipeline.plan import Plan

RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec"
TRAITS: Final = Traits(family="xgboost", container=KIND.container, nodes_field="replicas")
RENDEZVOUS: Final = (("MASTER_ADDR", "MASTER_PORT"),)
WORKERS: Final = "WORKER_ADDRS"


def apply(plan: Plan) -> Plan:
    """Add the variables to all containers."""
    return with_new_hosts(with_operator_variables(plan, [*_variables(plan)]))


def _variables(plan: Plan) -> Iterator[Tree]:
    layout = layout_of(plan)
    ports, nodes = plan.runtime.settings["ports"], plan.runtime.settings["nodes"]
    yield value("MASTER_PORT", ports[MASTER])
    yield value("MASTER_ADDR", role_host(plan, layout, MASTER))
    yield value("WORLD_SIZE", nodes)
    yield from_field("RANK", layout.rank_field)
    yield value("PYTHONUNBUFFERED", 1)
    if nodes > 1:
        yield value("WORKER_PORT", ports[WORKER])
        yield value(WORKERS, ",".join(role_hosts(plan, layout, WORKER, nodes - 1)))


def long_addresses(subject: ObjectId, plan: Plan) -> Iterator[Diagnostic]:
    """Yield an error if WORKER_ADDRS is too long for a process: before it is written, because a count is cheap."""
    layout, workers = layout_of(plan), plan.runtime.settings["nodes"] - 1
    if workers:
        size = role_hosts_length(plan, layout, WORKER, workers) + workers - 1
        yield from long_variable(subject, plan, WORKERS, size)


CHECKS: Final[tuple[PlanCheck, ...]] = (long_addresses,)
