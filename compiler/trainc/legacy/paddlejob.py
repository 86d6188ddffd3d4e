"""PaddleJob of kubeflow.org/v1.

Reads    a PaddleJob that its schema has admitted.
Returns  the TrainJob and its runtime, with a Job for each role. `pipeline.frameworks.paddlejob` adds the variables.
Source   kubeflow/training-operator v1.9.3: the defaults, the webhook and the status of PaddleJobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends.lowering import Loss, LossRule
from trainc.kubernetes.trees import Tree, get
from trainc.legacy.operator_jobs import LOSSES as OPERATOR_LOSSES
from trainc.legacy.operator_jobs import lowered
from trainc.legacy.own_runtime import PolicySetting, Success
from trainc.legacy.replica_specs import (
    CONTAINERS,
    MASTER,
    WORKER,
    OperatorKind,
    layout_by_role,
    replica_specs,
)
from trainc.legacy.replica_specs import violations as shared_violations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.lowering import Lowered
    from trainc.kubernetes.violations import Violation
    from trainc.legacy.replica_specs import ReplicaSpec

SCHEMA: Final = "training-operator-1.9"
KIND: Final = OperatorKind(
    key="paddlejob",
    replicas=("spec", "paddleReplicaSpecs"),
    roles=(MASTER, WORKER),
    container="paddle",
    port_name="master",
    port=36543,
    restart="OnFailure",
)
OLDER: Final = {
    "batch.paddlepaddle.org/v1": (
        "ps is spec.paddleReplicaSpecs.Master and worker is .Worker, each with replicas and template, whose main "
        f"container is `{KIND.container}`; cleanPodPolicy and schedulingPolicy are in spec.runPolicy; intranet, "
        "withGloo, elastic and sampleSetRef are gone"
    ),
}
"""What has become of the fields of earlier versions."""
ELASTIC: Final = ("spec", "elasticPolicy")

NOT_ELASTIC: Final = LossRule(
    "spec.elasticPolicy", "without effect", "the operator adds nothing for it", "remove it, and set replicas"
)
OWN_ADDRESS: Final = LossRule(
    "*.replicas: PADDLE_MASTER of the first pod, of the operator",
    "approximated",
    "it has the host name of the pod instead of its IP address",
    "bind to the address to which the host name resolves",
    is_added=True,
)
LOSSES: Final = (*OPERATOR_LOSSES, NOT_ELASTIC, OWN_ADDRESS)


def violations(written: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the rules of the webhook."""
    yield from shared_violations(written, job, KIND)


def lower(job: Tree, gang: GangScheduler | None = None) -> Lowered:
    """Return the TrainJob and its runtime. The Master decides about success; without one, all workers."""
    roles = replica_specs(job, KIND)
    return lowered(
        job,
        KIND,
        roles,
        layout_by_role(roles),
        gang=gang,
        settings=_settings(roles[0]),
        success=Success(MASTER, roles[0].at) if roles[0].name == MASTER else None,
        losses=_losses(job, roles),
    )


def _settings(lead: ReplicaSpec) -> Iterator[PolicySetting]:
    yield PolicySetting(("lead",), lead.name, lead.at)
    yield PolicySetting(("port",), lead.port, (*lead.at, *CONTAINERS))


def _losses(job: Tree, roles: tuple[ReplicaSpec, ...]) -> Iterator[Loss]:
    for key in get(job, ELASTIC) or ():
        yield Loss((*ELASTIC, key), NOT_ELASTIC)
    yield Loss((*roles[0].at, "replicas"), OWN_ADDRESS)
