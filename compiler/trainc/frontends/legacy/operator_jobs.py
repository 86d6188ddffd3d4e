"""The parts of a JobSet that the kinds of Training Operator v1 share: its replicated jobs, and how it ends.

Reads    a valid job, its roles and its layout.
Returns  the TrainJob and its runtime, with a move for each field; and the losses.
Source   kubeflow/training-operator v1.9.3: the job controller, and the status of each kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBS_OF_RUNTIME
from trainc.frontends.legacy import own_runtime
from trainc.frontends.legacy.field_refs import with_field_path
from trainc.frontends.legacy.own_runtime import NO_LIMIT, add_success, moves_of_job, pod_metadata, replicated_job
from trainc.frontends.legacy.replica_specs import LABEL, OPERATOR, POLICY, REPLICA_INDEX
from trainc.frontends.lowering import Loss
from trainc.frontends.moves import Move
from trainc.kubernetes.trees import Path, Tree, get

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.frontends.legacy.layout import Group, Layout
    from trainc.frontends.legacy.own_runtime import PolicySetting, Success
    from trainc.frontends.legacy.replica_specs import OperatorKind, ReplicaSpec
    from trainc.frontends.lowering import Lowered

_FIRST_RETRIED: Final = 128
"""The first exit code with which the restart policy ExitCode creates the pod again."""


def lowered(
    job: Tree,
    kind: OperatorKind,
    roles: tuple[ReplicaSpec, ...],
    layout: Layout,
    *,
    settings: Iterable[PolicySetting],
    success: Success | None,
    losses: Iterable[Loss],
) -> Lowered:
    """Return a job as a TrainJob and a runtime of its own."""
    named = {role.name: role for role in roles}
    groups = [(group, [named[name] for name, _ in group.roles]) for group in layout.groups]
    template: Tree = {"replicatedJobs": [_job(job, kind, group, members) for group, members in groups]}
    moves = [Move(kind.replicas, JOBS_OF_RUNTIME)]
    for index, (_, members) in enumerate(groups):
        moves += _moves(index, members)
    if success is not None:
        moves += add_success(template, layout, success)
    found = own_runtime.lowered(
        job,
        kind.key,
        template,
        manager=OPERATOR,
        settings=settings,
        moves=moves,
        losses=(*_losses(job, roles, layout), *losses),
    )
    repeated = (((*members[0].at, "template"), (*role.at, "template")) for _, members in groups for role in members[1:])
    return found._replace(repeated=tuple(repeated))


def _job(job: Tree, kind: OperatorKind, group: Group, roles: list[ReplicaSpec]) -> Tree:
    """Return the replicated job of a group; roles that share it have equal templates."""
    role, limit = roles[0], get(job, (*POLICY, "backoffLimit"))
    template = role.template | {
        "metadata": _pod_metadata(job, roles),
        "spec": with_field_path(role.template["spec"], REPLICA_INDEX, group.index_field)
        | {"restartPolicy": _restart_policy(role)},
    }
    spec: Tree = {"backoffLimit": 0, "template": template}
    if role.restart == "ExitCode":
        spec["podFailurePolicy"] = {"rules": [*_failure_rules(kind.container, retries=limit != 0)]}
    elif role.restart != "Never":
        spec["backoffLimit"] = NO_LIMIT if limit is None else limit
    return replicated_job(group, spec)


def _pod_metadata(job: Tree, roles: list[ReplicaSpec]) -> Tree:
    """Return the metadata of the pods, with those of the operator's labels that do not depend on the pod."""
    labels = {"job-name": get(job, ("metadata", "name"), "")}
    if len(roles) == 1:
        labels["replica-type"] = roles[0].name.lower()
        if roles[0].name == "Master":
            labels["job-role"] = "master"
    return pod_metadata(roles[0].template, labels)


def _restart_policy(role: ReplicaSpec) -> str:
    """Return the restart policy of the pods; those of a Job cannot restart after they have succeeded."""
    return {"Always": "OnFailure", "ExitCode": "Never"}.get(role.restart, role.restart)


def _failure_rules(container: str, *, retries: bool) -> Iterator[Tree]:
    """Yield the rules of the restart policy ExitCode: low exit codes fail the job, high ones create the pod again."""

    def on_exit_codes(first: int, last: int) -> Tree:
        return {"containerName": container, "operator": "In", "values": [*range(first, last + 1)]}

    yield {"action": "FailJob", "onExitCodes": on_exit_codes(1, _FIRST_RETRIED - 1)}
    if retries:
        yield {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
        yield {"action": "Ignore", "onExitCodes": on_exit_codes(_FIRST_RETRIED, 255)}


def _moves(index: int, roles: list[ReplicaSpec]) -> Iterator[Move]:
    """Yield the moves of a replicated job. Fields that several roles share are those of the first one."""
    first, last = roles[0], roles[-1]
    spec: Path = (*JOBS_OF_RUNTIME, index, "template", "spec")
    labels: Path = (*spec, "template", "metadata", "labels")
    yield from moves_of_job(index, first.at, last.at)
    yield Move((*POLICY, "backoffLimit"), (*spec, "backoffLimit"))
    yield Move((*first.at, "restartPolicy"), (*spec, "podFailurePolicy"))
    yield Move((*first.at, "restartPolicy"), (*spec, "template", "spec", "restartPolicy"))
    yield Move(("metadata", "name"), (*labels, f"{LABEL}job-name"))
    for label in ("replica-type", "job-role"):
        yield Move(first.at, (*labels, f"{LABEL}{label}"))


def _losses(job: Tree, roles: tuple[ReplicaSpec, ...], layout: Layout) -> Iterator[Loss]:
    """Yield the fields of the job with defaults, and the operator's labels, that the JobSet does not have."""
    policy = get(job, POLICY, {})
    if policy.get("cleanPodPolicy", "None") != "Running":
        why = "JobSet deletes the running pods of a finished job and keeps the others"
        yield Loss((*POLICY, "cleanPodPolicy"), why, approximated=True)
    if policy.get("backoffLimit") is not None:
        yield from _losses_of_limit(roles, layout)
    if "activeDeadlineSeconds" in policy:
        why = "the operator checks the deadline only when a pod changes; a Job ends in time"
        yield Loss((*POLICY, "activeDeadlineSeconds"), why, approximated=True)
    for role in roles:
        yield from _losses_of_restart(role)
    labels = [
        "operator-name",
        "replica-index",
        *(("replica-type", "job-role") if len(layout.groups) < len(roles) else ()),
    ]
    for label in labels:
        yield Loss((*roles[0].at, "template", "metadata", "labels", f"{LABEL}{label}"), "the pods lack the label")


def _losses_of_limit(roles: tuple[ReplicaSpec, ...], layout: Layout) -> Iterator[Loss]:
    path = (*POLICY, "backoffLimit")
    if any(role.restart not in ("OnFailure", "Always") for role in roles):
        yield Loss(path, "it has no effect on pods that do not restart", approximated=True)
    elif len(layout.groups) > 1:
        yield Loss(path, "each Job counts its own restarts", approximated=True)


def _losses_of_restart(role: ReplicaSpec) -> Iterator[Loss]:
    path = (*role.at, "restartPolicy")
    if role.restart == "Always":
        yield Loss(path, "a pod that succeeds does not restart", approximated=True)
    elif role.restart == "ExitCode":
        yield Loss(path, "a Job waits 10 s or longer before it creates a failed pod again", approximated=True)
