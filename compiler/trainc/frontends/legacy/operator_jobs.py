"""The parts of a JobSet that the kinds of Training Operator v1 share: its replicated jobs, and how it ends.

Reads    a valid job, its roles and its layout.
Returns  the TrainJob and its runtime, with a move for each field; and the losses.
Source   kubeflow/training-operator v1.9.3: the job controller, and the status of each kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBS_OF_RUNTIME, RUNTIME, TRAINJOB, VERSION
from trainc.base.records import NamedTuple
from trainc.frontends.legacy.field_refs import with_field_path
from trainc.frontends.legacy.replica_specs import LABEL, OPERATOR, POLICY, REPLICA_INDEX
from trainc.frontends.lowering import Loss, Lowered
from trainc.frontends.moves import Move
from trainc.kubernetes.trees import Path, Tree, get, put

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.frontends.legacy.layout import Group, Layout
    from trainc.frontends.legacy.replica_specs import OperatorKind, ReplicaSpec

SPEC: Final = ("spec", "template", "spec")
"""The path of the JobSetSpec in a runtime."""
ANCESTOR: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
QUEUE: Final = "kueue.x-k8s.io/queue-name"
NO_LIMIT: Final = 2147483647
"""The backoff limit of pods that restart without a limit."""
_FIRST_RETRIED: Final = 128
"""The first exit code with which the restart policy ExitCode creates the pod again."""


class PolicySetting(NamedTuple):
    """A setting of the framework, and the field that it comes from."""

    key: Path
    value: Any
    source: Path


class Success(NamedTuple):
    """The role whose pods decide about the success of the job."""

    role: str
    source: Path
    """The field that decides."""
    rule: Tree
    """The rule of the success policy of its Job, if the Job has several pods."""


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
    policy, settings = get(job, POLICY, {}), tuple(settings)
    named = {role.name: role for role in roles}
    groups = [(group, [named[name] for name, _ in group.roles]) for group in layout.groups]
    template: Tree = {"replicatedJobs": [_job(job, kind, group, members) for group, members in groups]}
    moves = [Move(kind.replicas, JOBS_OF_RUNTIME), Move(("spec",), SPEC)]
    for index, (_, members) in enumerate(groups):
        moves += _moves(index, members)
    for key in ("ttlSecondsAfterFinished", "managedBy"):
        if policy.get(key) not in (None, OPERATOR):
            template[key] = policy[key]
            moves.append(Move((*POLICY, key), (*SPEC, key)))
    if success is not None:
        moves += _add_success(template, layout, success)
    moves += [Move(setting.source, ("spec", "mlPolicy", kind.key, *setting.key)) for setting in settings]
    framework: Tree = {}
    for setting in settings:
        framework = put(framework, setting.key, setting.value)
    own = {key: job["metadata"][key] for key in ("name", "namespace") if key in job["metadata"]}
    fields = {key: policy[key] for key in ("suspend", "activeDeadlineSeconds") if key in policy}
    return Lowered(
        job={
            "apiVersion": VERSION,
            "kind": TRAINJOB.kind,
            "metadata": job["metadata"],
            "spec": {"runtimeRef": {"kind": RUNTIME.kind, **own}, **fields},
        },
        runtime={
            "apiVersion": VERSION,
            "kind": RUNTIME.kind,
            "metadata": own,
            "spec": {
                "mlPolicy": {kind.key: framework},
                "template": {"spec": template},
            },
        },
        of_job=tuple(Move((*POLICY, key), ("spec", key)) for key in fields),
        of_runtime=tuple(moves),
        losses=(*_losses(job, roles, layout), *losses),
        repeated=tuple(
            ((*members[0].at, "template"), (*role.at, "template")) for _, members in groups for role in members[1:]
        ),
    )


def _job(job: Tree, kind: OperatorKind, group: Group, roles: list[ReplicaSpec]) -> Tree:
    """Return the replicated job of a group; roles that share it have equal templates."""
    role, limit = roles[0], get(job, (*POLICY, "backoffLimit"))
    template = role.template | {
        "metadata": _pod_metadata(job, roles),
        "spec": with_field_path(role.template["spec"], REPLICA_INDEX, group.index_field)
        | {"restartPolicy": _restart_policy(role)},
    }
    count = group.pods if group.is_one_job else 1
    spec: Tree = {"parallelism": count, "completions": count, "backoffLimit": 0, "template": template}
    if role.restart == "ExitCode":
        spec["podFailurePolicy"] = {"rules": [*_failure_rules(kind.container, retries=limit != 0)]}
    elif role.restart != "Never":
        spec["backoffLimit"] = NO_LIMIT if limit is None else limit
    metadata = {"labels": {ANCESTOR: "trainer"}}
    return {
        "name": group.name,
        "replicas": 1 if group.is_one_job else group.pods,
        "template": {"metadata": metadata, "spec": spec},
    }


def _pod_metadata(job: Tree, roles: list[ReplicaSpec]) -> Tree:
    """Return the metadata of the pods, with those of the operator's labels that do not depend on the pod."""
    metadata = {key: get(roles[0].template, ("metadata", key)) for key in ("labels", "annotations")}
    labels = {f"{LABEL}job-name": get(job, ("metadata", "name"), "")}
    if len(roles) == 1:
        labels[f"{LABEL}replica-type"] = roles[0].name.lower()
        if roles[0].name == "Master":
            labels[f"{LABEL}job-role"] = "master"
    return {key: value for key, value in metadata.items() if value} | {"labels": (metadata["labels"] or {}) | labels}


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


def _add_success(template: Tree, layout: Layout, success: Success) -> Iterator[Move]:
    """Add the success policies to a JobSetSpec, and yield their moves."""
    position = layout.position(success.role, 0)
    assert position is not None, "the role has a pod"
    index, group = position.job, layout.groups[position.job]
    if group.is_one_job and group.pods > 1:
        template["replicatedJobs"][index]["template"]["spec"]["successPolicy"] = {"rules": [success.rule]}
        yield Move(success.source, (*JOBS_OF_RUNTIME, index, "template", "spec", "successPolicy"))
    if len(layout.groups) > 1:
        template["successPolicy"] = {"operator": "All", "targetReplicatedJobs": [group.name]}
        yield Move(success.source, (*SPEC, "successPolicy"))


def _moves(index: int, roles: list[ReplicaSpec]) -> Iterator[Move]:
    """Yield the moves of a replicated job. Fields that several roles share are those of the first one."""
    first, last = roles[0], roles[-1]
    job: Path = (*JOBS_OF_RUNTIME, index)
    spec: Path = (*job, "template", "spec")
    labels: Path = (*spec, "template", "metadata", "labels")
    yield Move(first.at, job)
    for count in ((*job, "replicas"), (*spec, "parallelism"), (*spec, "completions")):
        yield Move((*last.at, "replicas"), count)
    yield Move((*POLICY, "backoffLimit"), (*spec, "backoffLimit"))
    yield Move((*first.at, "restartPolicy"), (*spec, "podFailurePolicy"))
    yield Move((*first.at, "template"), (*spec, "template"))
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
    if "schedulingPolicy" in policy:
        yield Loss((*POLICY, "schedulingPolicy"), "the pods are not scheduled as a gang")
    if policy.get("backoffLimit") is not None:
        yield from _losses_of_limit(roles, layout)
    if "activeDeadlineSeconds" in policy:
        why = "the operator checks the deadline only when a pod changes; a Job ends in time"
        yield Loss((*POLICY, "activeDeadlineSeconds"), why, approximated=True)
    if "suspend" in policy:
        why = "pods that have succeeded do not run again when the job resumes"
        yield Loss((*POLICY, "suspend"), why, approximated=True)
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
