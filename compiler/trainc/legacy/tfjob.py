"""TFJob of kubeflow.org/v1, v1beta2 and v1beta1.

Reads    a TFJob that the schema of its version has admitted.
Returns  the TrainJob and its runtime, with a Job for each role. `pipeline.frameworks.tfjob` adds TF_CONFIG.
Source   kubeflow/training-operator v1.9.3: the defaults, the webhook and the status of TFJobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.frontends.lowering import Loss, LossRule
from trainc.kubernetes.trees import Tree, get
from trainc.kubernetes.violations import Violation
from trainc.legacy.operator_jobs import LOSSES as OPERATOR_LOSSES
from trainc.legacy.operator_jobs import NO_LEAD, lowered
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
from trainc.legacy.run_policy import POLICY, with_run_policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.lowering import Lowered
    from trainc.legacy.replica_specs import ReplicaSpec

SCHEMA: Final = "training-operator-1.9"
CHIEF: Final = "Chief"
PS: Final = "PS"
KIND: Final = OperatorKind(
    key="tfjob",
    replicas=("spec", "tfReplicaSpecs"),
    roles=(CHIEF, "Evaluator", MASTER, PS, WORKER),
    container="tensorflow",
    port_name="tfjob-port",
    port=2222,
    restart="Never",
    any_case=True,
    leads=(CHIEF, MASTER),
    worker_leads=True,
    removes_failed=True,
    deletion_fails=("OnFailure", "Always", "ExitCode"),
)
OLDER: Final = {
    "kubeflow.org/v1alpha1": (
        "replicaSpecs is spec.tfReplicaSpecs, with the tfReplicaType of each item as its key: MASTER is Chief; "
        f"tfPort is the port `{KIND.port_name}` of the container `{KIND.container}`"
    ),
    "kubeflow.org/v1alpha2": "spec.tfReplicaSpecs has the same fields, and cleanPodPolicy is in spec.runPolicy",
}
"""What has become of the fields of earlier versions."""
DYNAMIC: Final = ("spec", "enableDynamicWorker")
SUCCESS: Final = ("spec", "successPolicy")
ALL_WORKERS: Final = "AllWorkers"

LEAD_DECIDES: Final = LossRule(
    "spec.successPolicy, with a Chief, a Master, or fewer than two Workers",
    "without effect",
    "in such a job, the policy decides nothing about its success",
    "remove it",
)
EXPENDABLE: Final = LossRule(
    "spec.enableDynamicWorker, with restartPolicy Never or ExitCode",
    "approximated",
    "a Job creates a Worker that fails again; the operator goes on without it",
    "use OnFailure, with which the container restarts in its pod",
)
ONE_TASK: Final = LossRule(
    "spec.enableDynamicWorker, of a single task that restarts",
    "without effect",
    "a single task has no cluster, and does not fail",
    "remove it",
)
LOSSES: Final = (*OPERATOR_LOSSES, NO_LEAD, LEAD_DECIDES, EXPENDABLE, ONE_TASK)

SEVERAL_LEADS: Final = Declaration("several-leads", ("schema",), "Two roles that decide about success")


def violations(written: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the rules of the webhook."""
    yield from shared_violations(written, job, KIND)
    leads = {name: key for key in get(job, KIND.replicas, {}) if (name := KIND.role(key)) in KIND.leads}
    if len(leads) > 1:
        first, path = (*KIND.replicas, leads[CHIEF]), (*KIND.replicas, leads[MASTER])
        yield Violation.at(
            path,
            SEVERAL_LEADS,
            "the job has a Chief and a Master, which is another name of it",
            f"remove {leads[MASTER]}",
            field="spec.tfReplicaSpecs",
            key=True,
            related=(("the Chief", first),),
        )


def lower(job: Tree, gang: GangScheduler | None = None) -> Lowered:
    """Return the TrainJob and its runtime."""
    is_dynamic = bool(get(job, DYNAMIC))
    roles = tuple(role._replace(is_expendable=is_dynamic and role.name == WORKER) for role in replica_specs(job, KIND))
    success = _success(job, roles)
    return lowered(
        job,
        KIND,
        roles,
        layout_by_role(roles),
        gang=gang,
        settings=_settings(job, roles),
        success=success,
        losses=_losses(job, roles, success),
    )


def _success(job: Tree, roles: tuple[ReplicaSpec, ...]) -> Success | None:
    """Return the pods that decide about success: the lead; else the first worker, or all of them."""
    named = {role.name: role for role in roles}
    for lead in KIND.leads:
        if lead in named:
            return Success(lead, named[lead].at)
    if WORKER not in named:
        return None
    policy = get(job, SUCCESS)
    source = named[WORKER].at if policy is None else SUCCESS
    return Success(WORKER, source, None if policy == ALL_WORKERS else {"succeededIndexes": "0"})


def _is_distributed(roles: tuple[ReplicaSpec, ...]) -> bool:
    """Return whether the tasks get TF_CONFIG: a single one does not. Unknown roles do not count."""
    return sum(role.replicas for role in roles if role.name in KIND.roles) != 1


def _settings(job: Tree, roles: tuple[ReplicaSpec, ...]) -> Iterator[PolicySetting]:
    yield PolicySetting(("isDistributed",), _is_distributed(roles), (*roles[-1].at, "replicas"))
    for role in roles:
        yield PolicySetting(("tasks", role.name, "replicas"), role.replicas, (*role.at, "replicas"))
        yield PolicySetting(("tasks", role.name, "port"), role.port, (*role.at, *CONTAINERS))
    if get(job, DYNAMIC):
        yield PolicySetting(("dynamicWorkers",), True, DYNAMIC)


def _losses(job: Tree, roles: tuple[ReplicaSpec, ...], success: Success | None) -> Iterator[Loss]:
    has_workers = (
        success is not None and success.role == WORKER and any(role.name == WORKER and role.pods > 1 for role in roles)
    )
    if get(job, SUCCESS) is not None and not has_workers:
        yield Loss(SUCCESS, LEAD_DECIDES)
    if success is None:
        yield Loss(KIND.replicas, NO_LEAD)
    restarts = all(role.restart not in ("Never", "ExitCode") for role in roles if role.name == WORKER)
    if get(job, DYNAMIC) and not restarts and get(with_run_policy(job), (*POLICY, "backoffLimit")) != 0:
        yield Loss(DYNAMIC, EXPENDABLE)
    if get(job, DYNAMIC) is not None and restarts and not _is_distributed(roles):
        yield Loss(DYNAMIC, ONE_TASK)
