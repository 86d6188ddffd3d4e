"""The jobs of Training Operator v1: their replicated jobs, how they end, and the framework of a kind.

Reads    a valid job.
Returns  the TrainJob and its runtime, with a move for each field, and the losses; the plan with the variables of the
         operator in every container, after those of the job, and with the host names that the pods have in a JobSet.
Source   kubeflow/training-operator v1.9.3: the job controller, and the status of each kind.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBS_OF_RUNTIME
from trainc.frontends.lowering import FrontEnd, Loss, LossRule, Move, without_effect
from trainc.kubernetes.trees import Path, Tree, get
from trainc.legacy import own_runtime
from trainc.legacy.common_losses import LABELS, common_losses, missing_labels
from trainc.legacy.common_losses import LOSSES as SHARED_LOSSES
from trainc.legacy.layout import with_field_path
from trainc.legacy.operator_kinds import OPERATOR, TOP_FIELDS, OperatorKind, layout_of, replica_specs, violations
from trainc.legacy.own_runtime import (
    NO_LIMIT,
    REPLICA_SPECS,
    PolicySetting,
    Success,
    add_success,
    moves_of_job,
    replicated_job,
    with_labels,
)
from trainc.legacy.pod_environment import Pods, long_variable, unknown_hosts, with_new_hosts, with_operator_variables
from trainc.legacy.replica_specs import CONTAINERS, LABEL, POLICY, REPLICA_INDEX, WORKER
from trainc.pipeline.frameworks import Framework
from trainc.pipeline.objects import Traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Diagnostic, ObjectId
    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.lowering import Lowered
    from trainc.legacy.layout import Group, Layout
    from trainc.legacy.operator_kinds import Roles
    from trainc.legacy.replica_specs import ReplicaSpec
    from trainc.pipeline.plan import Plan

_FIRST_RETRIED: Final = 128
"""The first exit code with which the restart policy ExitCode creates the pod again."""

MISSING_LABELS: Final = ("operator-name", "replica-index")
FOLDED_LABELS: Final = (*MISSING_LABELS, "replica-type", "job-role")
"""The operator's labels that the pods of a role lack, if it shares its Job."""
DEADLINE: Final = LossRule(
    "spec.runPolicy.activeDeadlineSeconds",
    "approximated",
    "each Job ends at the deadline; the operator looks at it only when a pod changes",
    "set a deadline that is longer than the training",
)
TTL: Final = LossRule(
    "spec.runPolicy.ttlSecondsAfterFinished, with restartPolicy ExitCode",
    "approximated",
    "every finished JobSet deletes itself; the operator keeps a job that fails by an exit code from 1 to 127",
    "store logs outside of the pods",
)
NO_RESTARTS: Final = without_effect(
    "spec.runPolicy.backoffLimit, with restartPolicy Never or ExitCode",
    "the limit counts restarts of containers, of which such pods have none",
)
LIMIT_OF_EACH: Final = LossRule(
    "spec.runPolicy.backoffLimit, with several Jobs",
    "approximated",
    "each Job counts its own restarts; the operator adds them up",
    "set the number of restarts that one pod can have",
)
RESTARTS: Final = {
    "Always": LossRule(
        "*.restartPolicy: Always", "approximated", "a pod that succeeds does not restart", "use OnFailure"
    ),
    "ExitCode": LossRule(
        "*.restartPolicy: ExitCode",
        "approximated",
        "a Job waits 10 s or longer before it creates a failed pod again; the operator does not wait",
        "use OnFailure, with which the container restarts in its pod",
    ),
}
DELETED: Final = LossRule(
    "*.restartPolicy, of a pod that is deleted",
    "approximated",
    "the Job creates the pod again; the operator fails the job",
    "delete the JobSet to stop the training",
    is_added=True,
)
NO_LEAD: Final = LossRule(
    "*: a job without a role that decides about success",
    "approximated",
    "the job succeeds when all pods have; to the operator, it never succeeds",
    "add the role",
)
SERVICES: Final = LossRule(
    "*.replicas: a Service for each pod, of the operator",
    "not carried",
    "the pods have host names in the one Service of the JobSet",
    "use the host names that `trainc pods` lists",
    is_added=True,
)
LOSSES: Final = (
    *SHARED_LOSSES,
    DEADLINE,
    TTL,
    NO_RESTARTS,
    LIMIT_OF_EACH,
    *RESTARTS.values(),
    DELETED,
    SERVICES,
    *(LABELS[name] for name in FOLDED_LABELS),
)
"""The rules of the losses that all kinds of the operator share."""


def framework(kind: OperatorKind) -> Framework:
    """Return the framework of a kind, with its front end."""
    return Framework(
        partial(_apply, kind),
        (partial(_long_variables, kind),),
        traits=Traits(kind.family, kind.container, nodes_field="replicas", processes_field=kind.processes_field),
        rendezvous=kind.rendezvous,
        front_end=FrontEnd(partial(violations, kind), partial(lower, kind), (*LOSSES, *kind.losses)),
        unknown_hosts=unknown_hosts,
    )


def _apply(kind: OperatorKind, plan: Plan) -> Plan:
    """Add the variables to the containers of all pods. Of one name, the last variable applies."""
    pods = Pods.from_plan(plan)
    for job, group in enumerate(pods.layout.groups):
        env = [*kind.variables(pods, group)]
        plan = with_operator_variables(plan, env, job, container=kind.container if kind.only_main else "")
    least = kind.least_nodes(pods)
    return with_new_hosts(plan if least is None else plan._replace(needed=least))


def _long_variables(kind: OperatorKind, subject: ObjectId, plan: Plan) -> Iterator[Diagnostic]:
    """Yield an error for a variable that is too long for a process: before it is written, because a count is cheap."""
    for name, size in kind.lengths(Pods.from_plan(plan)):
        yield from long_variable(subject, plan, name, size)


def lower(kind: OperatorKind, job: Tree, gang: GangScheduler | None) -> Lowered:
    """Return a job as a TrainJob and a runtime of its own."""
    written, job = job, _with_run_policy(job)
    roles = replica_specs(job, kind)
    layout = layout_of(roles, kind)
    named = {role.name: role for role in roles}
    groups = [(group, [named[name] for name, _ in group.roles]) for group in layout.groups]
    template: Tree = {"replicatedJobs": [_job(job, kind, group, members, gang) for group, members in groups]}
    moves = [Move(kind.replicas, JOBS_OF_RUNTIME)]
    for index, (_, members) in enumerate(groups):
        moves += _moves(index, members)
    success = _success(job, kind, named)
    if success is not None:
        moves += add_success(template, layout, success)
    losses = common_losses(job, [role.at for role in roles], gang)
    found = own_runtime.lowered(
        job,
        kind.key,
        template,
        manager=OPERATOR,
        settings=(*_settings(roles, layout), *kind.settings(job, roles)),
        moves=moves,
        losses=(*losses, *_losses(job, kind, roles, layout), *kind.lost(job, roles, success)),
    )
    repeated = (((*members[0].at, "template"), (*role.at, "template")) for _, members in groups for role in members[1:])
    found = own_runtime.with_gang(found, job, roles, gang)
    return _with_top_fields(written, found._replace(repeated=tuple(repeated)))


def _with_run_policy(job: Tree) -> Tree:
    """Return a job whose top fields are in its run policy."""
    top = {key: value for key, value in job["spec"].items() if key in TOP_FIELDS}
    if not top:
        return job
    spec = {key: value for key, value in job["spec"].items() if key not in TOP_FIELDS}
    return job | {"spec": spec | {POLICY[-1]: spec.get(POLICY[-1], {}) | top}}


def _with_top_fields(job: Tree, lowered: Lowered) -> Lowered:
    """Return the lowered form of `_with_run_policy(job)` with the paths of the fields of `job`."""
    places: dict[Path, Path] = {(*POLICY, key): ("spec", key) for key in TOP_FIELDS if key in job["spec"]}
    if not places:
        return lowered
    return lowered._replace(
        of_job=tuple(move._replace(source=places.get(move.source, move.source)) for move in lowered.of_job),
        of_runtime=tuple(move._replace(source=places.get(move.source, move.source)) for move in lowered.of_runtime),
        losses=tuple(loss._replace(path=places.get(loss.path, loss.path)) for loss in lowered.losses),
    )


def _success(job: Tree, kind: OperatorKind, roles: dict[str, ReplicaSpec]) -> Success | None:
    """Return the pods that decide about success: those of the lead, of which a Job with other roles has only one."""
    for lead in kind.leads:
        if lead in roles:
            return Success(lead, roles[lead].at, {"succeededIndexes": "0"} if kind.ranked else None)
    return kind.success(job, tuple(roles.values()))


def _settings(roles: Roles, layout: Layout) -> Iterator[PolicySetting]:
    """Yield the settings that the variables of all kinds depend on, first of the last role, whose pods people count."""
    yield PolicySetting(("layout",), layout.tree, (*roles[-1].at, "replicas"))
    for role in reversed(roles):
        yield PolicySetting((REPLICA_SPECS, role.name, "replicas"), role.replicas, (*role.at, "replicas"))
        yield PolicySetting((REPLICA_SPECS, role.name, "port"), role.port, (*role.at, *CONTAINERS))


def _job(job: Tree, kind: OperatorKind, group: Group, roles: list[ReplicaSpec], gang: GangScheduler | None) -> Tree:
    """Return the replicated job of a group; roles that share it have equal templates."""
    role, limit = roles[0], get(job, (*POLICY, "backoffLimit"))
    pod = with_field_path(role.template["spec"], REPLICA_INDEX, group.index_field)
    pod["restartPolicy"] = _restart_policy(role)
    if gang is not None and not pod.get("schedulerName"):
        pod["schedulerName"] = gang.scheduler
    spec: Tree = {
        "backoffLimit": 0,
        "template": with_labels(role.template | {"spec": pod}, _labels(job, kind, roles, group)),
    }
    if role.is_expendable and role.restart in ("Never", "ExitCode") and limit != 0:
        spec["backoffLimit"] = NO_LIMIT
    elif role.restart == "ExitCode":
        spec["podFailurePolicy"] = {"rules": [*_failure_rules(role.container, retries=limit != 0)]}
    elif role.restart != "Never":
        spec["backoffLimit"] = NO_LIMIT if limit is None else limit
    return replicated_job(group, spec)


def _labels(job: Tree, kind: OperatorKind, roles: list[ReplicaSpec], group: Group) -> dict[str, str]:
    """Return those of the operator's labels that all pods of a group have."""
    labels = {"job-name": get(job, ("metadata", "name"), "")}
    if len(roles) == 1:
        labels["replica-type"] = roles[0].name.lower()
        if roles[0].name in kind.with_label or (group.pods == 1 and _has_first_worker(job, kind, roles[0])):
            labels["job-role"] = "master"
    return labels


def _has_first_worker(job: Tree, kind: OperatorKind, role: ReplicaSpec) -> bool:
    """Return whether the operator adds the label `job-role` to the first pod of a role, and to no other."""
    has_lead = any(kind.role(key) in kind.with_label for key in get(job, kind.replicas, {}))
    return kind.worker_leads and role.name == WORKER and not has_lead


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


def _losses(job: Tree, kind: OperatorKind, roles: Roles, layout: Layout) -> Iterator[Loss]:
    """Yield the losses that all kinds of the operator share."""
    policy = get(job, POLICY, {})
    restarts = {role.restart for role in roles}
    if policy.get("backoffLimit") is not None:
        yield from _losses_of_limit(roles, policy["backoffLimit"], layout)
    if "activeDeadlineSeconds" in policy:
        yield Loss((*POLICY, "activeDeadlineSeconds"), DEADLINE)
    if "ttlSecondsAfterFinished" in policy and "ExitCode" in restarts and not kind.removes_failed:
        yield Loss((*POLICY, "ttlSecondsAfterFinished"), TTL)
    for role in roles:
        if role.restart in RESTARTS:
            yield Loss((*role.at, "restartPolicy"), RESTARTS[role.restart])
        if role.restart in kind.deletion_fails:
            yield Loss((*role.at, "restartPolicy"), DELETED)
        yield Loss((*role.at, "replicas"), SERVICES)
    is_folded = len(layout.groups) < len(roles)
    for role in roles:
        yield from missing_labels(role.at, FOLDED_LABELS if is_folded else MISSING_LABELS)
        if not is_folded and role.pods > 1 and _has_first_worker(job, kind, role):
            yield from missing_labels(role.at, ("job-role",))


def _losses_of_limit(roles: Roles, limit: int, layout: Layout) -> Iterator[Loss]:
    path, restarts = (*POLICY, "backoffLimit"), {role.restart for role in roles}
    if restarts.isdisjoint(("OnFailure", "Always")):
        # The limit 0 ends a job with the first failed pod, also if the job would go on without this pod.
        if limit or not ("ExitCode" in restarts or any(role.is_expendable for role in roles)):
            yield Loss(path, NO_RESTARTS)
    elif len(layout.groups) > 1 or not layout.groups[0].is_one_job:
        yield Loss(path, LIMIT_OF_EACH)
