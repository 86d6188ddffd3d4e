"""MXJob of kubeflow.org/v1 and v1beta1.

Reads    an MXJob that the schema of its version has admitted.
Returns  the TrainJob and its runtime, with a Job for each role. `pipeline.frameworks.mxjob` adds the variables.
Source   kubeflow/training-operator v1.7.0: the defaults, the validation and the status of MXJobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends.lowering import Loss, LossRule
from trainc.kubernetes.trees import Tree, get
from trainc.legacy.operator_jobs import LOSSES as OPERATOR_LOSSES
from trainc.legacy.operator_jobs import NO_LEAD, lowered
from trainc.legacy.own_runtime import PolicySetting, Success
from trainc.legacy.replica_specs import (
    CONTAINERS,
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

SCHEMA: Final = "training-operator-1.7"
SCHEDULER: Final = "Scheduler"
SERVER: Final = "Server"
KIND: Final = OperatorKind(
    key="mxjob",
    replicas=("spec", "mxReplicaSpecs"),
    roles=(SCHEDULER, SERVER, WORKER, "TunerTracker", "TunerServer", "Tuner"),
    container="mxnet",
    port_name="mxjob-port",
    port=9091,
    restart="Never",
    any_case=True,
    leads=(SERVER,),  # for the operator's label: it gives job-role to Servers, although the Scheduler decides
    managers=(),
    deletion_fails=("OnFailure", "Always"),
)
OLDER: Final = {
    "kubeflow.org/v1alpha1": (
        "replicaSpecs is spec.mxReplicaSpecs, with the mxReplicaType of each item as its key; PsRootPort is the port "
        f"`{KIND.port_name}` of the container `{KIND.container}`"
    ),
}
"""What has become of the fields of earlier versions."""
MODE: Final = ("spec", "jobMode")
LABEL: Final = ("template", "metadata", "annotations", "tuner-server-key")
"""The annotation with the label of a role in MX_CONFIG."""

ANY_MODE: Final = LossRule(
    "spec.jobMode", "without effect", "the operator only looks at the roles", "keep it: the schema requires it"
)
LOSSES: Final = (*OPERATOR_LOSSES, NO_LEAD, ANY_MODE)


def violations(written: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the operator's validation."""
    yield from shared_violations(written, job, KIND)


def lower(job: Tree, gang: GangScheduler | None = None) -> Lowered:
    """Return the TrainJob and its runtime. The Scheduler decides about success, and no other role does."""
    roles = replica_specs(job, KIND)
    lead = next((role for role in roles if role.name == SCHEDULER), None)
    losses = [Loss(MODE, ANY_MODE)] if lead else [Loss(MODE, ANY_MODE), Loss(KIND.replicas, NO_LEAD)]
    return lowered(
        job,
        KIND,
        roles,
        layout_by_role(roles),
        gang=gang,
        settings=_settings(job, roles),
        success=Success(lead.name, lead.at) if lead else None,
        losses=losses,
    )


def _settings(job: Tree, roles: tuple[ReplicaSpec, ...]) -> Iterator[PolicySetting]:
    for role in roles:
        yield PolicySetting(("roles", role.name, "replicas"), role.replicas, (*role.at, "replicas"))
        yield PolicySetting(("roles", role.name, "port"), role.port, (*role.at, *CONTAINERS))
        label = (*role.at, *LABEL)
        yield PolicySetting(("roles", role.name, "label"), get(job, label, ""), label)
