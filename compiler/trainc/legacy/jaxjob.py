"""JAXJob of kubeflow.org/v1.

Reads    a JAXJob that its schema has admitted.
Returns  the TrainJob and its runtime. `pipeline.frameworks.jaxjob` adds the variables.
Source   kubeflow/training-operator v1.9.3: the defaults, the webhook and the status of JAXJobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends.lowering import Loss, LossRule
from trainc.kubernetes.trees import Tree, get
from trainc.legacy.operator_jobs import LOSSES as OPERATOR_LOSSES
from trainc.legacy.operator_jobs import lowered
from trainc.legacy.own_runtime import PolicySetting
from trainc.legacy.replica_specs import (
    CONTAINERS,
    WORKER,
    OperatorKind,
    layout_by_role,
    replica_specs,
)
from trainc.legacy.replica_specs import violations as shared_violations
from trainc.legacy.run_policy import POLICY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.lowering import Lowered
    from trainc.kubernetes.violations import Violation

SCHEMA: Final = "training-operator-1.9"
KIND: Final = OperatorKind(
    key="jaxjob",
    replicas=("spec", "jaxReplicaSpecs"),
    roles=(WORKER,),
    container="jax",
    port_name="jaxjob-port",
    port=6666,
    restart="Never",
    worker_leads=True,
    managers=(),
)
OLDER: Final[dict[str, str]] = {}
MANAGER: Final = (*POLICY, "managedBy")

MANAGED: Final = LossRule(
    "spec.runPolicy.managedBy",
    "approximated",
    "the controller that it names manages the JobSet; the operator ignores it for this kind",
    "remove it to run the job in this cluster",
)
LOSSES: Final = (*OPERATOR_LOSSES, MANAGED)


def violations(written: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the rules of the webhook."""
    yield from shared_violations(written, job, KIND)


def lower(job: Tree, gang: GangScheduler | None = None) -> Lowered:
    """Return the TrainJob and its runtime. All workers decide about success."""
    roles = replica_specs(job, KIND)
    return lowered(
        job,
        KIND,
        roles,
        layout_by_role(roles),
        gang=gang,
        settings=[PolicySetting(("port",), roles[0].port, (*roles[0].at, *CONTAINERS))],
        success=None,
        losses=_losses(job),
    )


def _losses(job: Tree) -> Iterator[Loss]:
    if get(job, MANAGER) is not None:
        yield Loss(MANAGER, MANAGED)
