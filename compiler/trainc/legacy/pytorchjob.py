"""PyTorchJob of kubeflow.org/v1, static and elastic.

Reads    a PyTorchJob that its schema has admitted.
Returns  the TrainJob and its runtime. `pipeline.frameworks.pytorchjob` adds the variables.
Source   kubeflow/training-operator v1.9.3: the defaults, the webhook and the environment of PyTorchJobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.frontends.lowering import Loss, LossRule
from trainc.kubernetes.trees import Tree, get
from trainc.kubernetes.violations import REQUIRED, Violation
from trainc.legacy.operator_jobs import LOSSES as OPERATOR_LOSSES
from trainc.legacy.operator_jobs import lowered
from trainc.legacy.own_runtime import PolicySetting, Success
from trainc.legacy.replica_specs import (
    CONTAINERS,
    MASTER,
    WORKER,
    OperatorKind,
    not_single,
    ranked_layout,
    replica_specs,
)
from trainc.legacy.replica_specs import violations as shared_violations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.lowering import Lowered
    from trainc.legacy.replica_specs import ReplicaSpec

SCHEMA: Final = "training-operator-1.9"
KIND: Final = OperatorKind(
    key="pytorchjob",
    replicas=("spec", "pytorchReplicaSpecs"),
    roles=(MASTER, WORKER),
    container="pytorch",
    port_name="pytorchjob-port",
    port=23456,
    restart="OnFailure",
    fewest=1,
    worker_leads=True,
)
OLDER: Final = {
    "kubeflow.org/v1alpha1": (
        "replicaSpecs is spec.pytorchReplicaSpecs.Master and .Worker, masterPort is the port "
        f"`{KIND.port_name}` of the container `{KIND.container}`, and backend is gone"
    ),
}
"""What has become of the fields of earlier versions."""
ELASTIC: Final = ("spec", "elasticPolicy")
PROCESSES: Final = ("spec", "nprocPerNode")
OF_ELASTIC: Final = (*ELASTIC, "nProcPerNode")
AUTO: Final = "auto"

METRICS: Final = LossRule(
    "spec.elasticPolicy.metrics",
    "not carried",
    "no autoscaler changes the number of a JobSet's pods; the operator creates one",
    "set the number of Workers in replicas",
)
LOSSES: Final = (*OPERATOR_LOSSES, METRICS)

PROCESSES_TWICE: Final = Declaration("processes-twice", ("schema",), "Number of processes in two fields", fix="unsafe")


def violations(written: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the rules of the webhook."""
    yield from shared_violations(written, job, KIND)
    yield from not_single(job, MASTER, KIND)
    specs = get(job, KIND.replicas, {})
    if get(job, ELASTIC) is not None and WORKER not in {name.capitalize() for name in specs}:
        yield Violation.at(ELASTIC, REQUIRED, "elasticPolicy applies to the role Worker, which is missing", "add it")
    if get(job, PROCESSES) is not None and get(job, OF_ELASTIC) is not None:
        from trainc.base.fixes import removal

        message = "the number of processes is set in elasticPolicy.nProcPerNode and in nprocPerNode"
        yield Violation.at(
            OF_ELASTIC, PROCESSES_TWICE, message, removal(OF_ELASTIC, "remove elasticPolicy.nProcPerNode")
        )


def lower(job: Tree, gang: GangScheduler | None = None) -> Lowered:
    """Return the TrainJob and its runtime."""
    roles = replica_specs(job, KIND)
    return lowered(
        job,
        KIND,
        roles,
        ranked_layout(roles),
        gang=gang,
        settings=_settings(job, roles),
        success=_success(job, roles),
        losses=_losses(job),
    )


def _success(job: Tree, roles: tuple[ReplicaSpec, ...]) -> Success | None:
    """Return the pods that decide about success: the Master; else any worker of an elastic job; else all workers."""
    if roles[0].name == MASTER:
        return Success(MASTER, roles[0].at, {"succeededIndexes": "0"})
    if get(job, ELASTIC) is not None:
        return Success(WORKER, ELASTIC, {"succeededCount": 1})
    return None


def _settings(job: Tree, roles: tuple[ReplicaSpec, ...]) -> Iterator[PolicySetting]:
    named = {role.name: role for role in roles}
    processes, elastic = get(job, PROCESSES), get(job, ELASTIC)
    if processes is None and get(job, OF_ELASTIC) is None:
        processes = AUTO
    if processes is not None:
        yield PolicySetting(("nprocPerNode",), processes, PROCESSES)
    if master := named.get(MASTER):
        yield PolicySetting(("port",), master.port, (*master.at, *CONTAINERS))
    if elastic is not None:
        worker = named[WORKER]
        low, high = elastic.get("minReplicas"), elastic.get("maxReplicas")
        defaults: dict[str, Any] = {
            "minReplicas": worker.replicas if high is None else high,
            "maxReplicas": worker.replicas if low is None else low,
            "rdzvBackend": "c10d",
            "rdzvPort": worker.port,
        }
        for key, value in (defaults | elastic).items():
            if key != "metrics":
                yield PolicySetting((ELASTIC[-1], key), value, (*ELASTIC, key) if key in elastic else ELASTIC)


def _losses(job: Tree) -> Iterator[Loss]:
    if get(job, (*ELASTIC, "metrics")) is not None:
        yield Loss((*ELASTIC, "metrics"), METRICS)
