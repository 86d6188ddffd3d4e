"""MxJob of mxnet.mlkube.io/v1beta1, the kind of the first MXNet operator.

Reads    an MxJob that its schema has admitted, with the defaults.
Returns  the violations of the rules; the TrainJob and its runtime, with a Job for each role.
Adds     in mode dist the five variables of the operator and DMLC_USE_KUBERNETES to the container `mxnet`, after those
         of the job. With the last one, the scheduler binds to all addresses: ZeroMQ does not resolve the name in
         DMLC_PS_ROOT_URI.
Source   deepinsight/mxnet-operator: the defaults, the validation and the Jobs of MxJobs. The operator created a Job for
         each replica, and decided by the termination message of a container whether its failure ends the MxJob. It
         writes the five variables over the first five of a container that has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBS_OF_RUNTIME
from trainc.frontends.lowering import FrontEnd, Loss, LossRule, Move, without_effect
from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import DUPLICATE_ITEM, ENUM, OUT_OF_RANGE, REQUIRED, Violation
from trainc.legacy import own_runtime
from trainc.legacy.common_losses import (
    NO_EXTRA,
    NOT_OF_JOBSET,
    OF_CONTROLLER,
    OF_SERVER,
    SHADOWED,
    STATUS,
    object_losses,
    template_losses,
)
from trainc.legacy.layout import Layout
from trainc.legacy.own_runtime import PolicySetting, Success, add_success, moves_of_job, replicated_job
from trainc.legacy.pod_environment import with_operator_variables
from trainc.legacy.replica_specs import (
    CONTAINERS,
    MOST_REPLICAS,
    ReplicaSpec,
    carried_template,
    invalid_name,
    missing_container,
    too_many_replicas,
)
from trainc.pipeline.frameworks import Framework
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.lowering import Lowered
    from trainc.pipeline.plan import Plan

KEY: Final = "mlkubejob"
SCHEDULER: Final = "SCHEDULER"
SERVER: Final = "SERVER"
WORKER: Final = "WORKER"
ROLES: Final = (SCHEDULER, SERVER, WORKER)
DIST: Final = "dist"
LOCAL: Final = "local"
MXNET: Final = "mxnet"
"""The main container."""
MODE: Final = ("spec", "jobMode")
SPECS: Final = ("spec", "replicaSpecs")
TYPE: Final = "mxReplicaType"
RESTARTS: Final = ("OnFailure", "Never")
RESTART_POLICY: Final = ("template", "spec", "restartPolicy")
RUNTIME_ID: Final = ("spec", "RuntimeId")
PORT: Final = "PsRootPort"
LABELS: Final = {"mxnet.mlkube.io": "", "job_type": ""}
"""The operator's labels that all pods of a role have; `job_type` is the role."""
OTHER_LABELS: Final = ("runtime_id", "task_index")
OPERATOR_LABELS: Final = frozenset((*LABELS, *OTHER_LABELS))

RUNTIME: Final = LossRule(
    "spec.RuntimeId",
    "not carried",
    "it is a part of the names of the operator's pods and Services, and a label",
    "use the host names that `trainc pods` lists",
)
OTHER_PORT: Final = without_effect(
    "*.PsRootPort, of SERVER and WORKER, and in mode local", "only the port of the SCHEDULER is used"
)
ONE_POD: Final = without_effect("*.replicas, in mode local", "the operator creates one pod for the WORKER")
ONE_JOB: Final = LossRule(
    "*.replicas: a Job for each pod, of the operator",
    "approximated",
    "the pods of a role share a Job, whose backoffLimit of 6 counts the restarts of all of them",
    "set backoffLimit with a patch of the JobSet in trainc.yaml",
    is_added=True,
)
ENDS: Final = LossRule(
    "*.template.spec.restartPolicy: the end of a pod, of the operator",
    "approximated",
    "a failed pod is created again up to the backoffLimit; to the operator, its termination message and exit code "
    "decide whether it ends the job",
    "set a pod failure policy with a patch of the JobSet in trainc.yaml",
    is_added=True,
)
KEPT_PODS: Final = LossRule(
    "spec: the pods after the end, of the operator",
    "not carried",
    "JobSet deletes the pods that run when the job ends; the operator keeps them",
    "store logs outside of the pods",
    is_added=True,
)
SERVICE: Final = LossRule(
    "*: a Service for the SCHEDULER, of the operator",
    "not carried",
    "the pods have host names in the one Service of the JobSet",
    "use the host names that `trainc pods` lists",
    is_added=True,
)
OVERWRITTEN: Final = LossRule(
    "*.template.spec.containers[mxnet].env, in mode dist",
    "approximated",
    "its variables stay; the operator overwrites the first five with its own",
    "remove those that the operator overwrote",
)
NO_PODS: Final = without_effect("*.template, of a role without replicas", "the role has no pods")
OWN_LABEL: Final = without_effect(
    "*.template.metadata.labels[mxnet.mlkube.io, job_type, runtime_id, task_index]", "the operator overwrites it"
)
OTHER_LABEL: Final = LossRule(
    "*.template.metadata.labels[runtime_id, task_index], of the operator",
    "not carried",
    "the pods lack the label that the operator adds",
    "select pods by job_type and batch.kubernetes.io/job-completion-index",
    is_added=True,
)
LOSSES: Final = (
    OF_CONTROLLER,
    NOT_OF_JOBSET,
    OF_SERVER,
    STATUS,
    SHADOWED,
    OWN_LABEL,
    NO_EXTRA,
    NO_PODS,
    RUNTIME,
    OTHER_PORT,
    ONE_POD,
    ONE_JOB,
    ENDS,
    KEPT_PODS,
    SERVICE,
    OVERWRITTEN,
    OTHER_LABEL,
)


def violations(_: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the operator's validation, and of the rules of its Jobs."""
    yield from invalid_name(job)
    first: dict[str, int] = {}
    for index, spec in enumerate(get(job, SPECS, [])):
        role, at = replica_type(spec), (*SPECS, index)
        if role not in ROLES:
            from trainc.base.fixes import replaced_name

            there = (*at, TYPE)
            help = replaced_name(there, role, ROLES) or f"use {', '.join(ROLES[:-1])} or {ROLES[-1]}"
            yield Violation.at(there, ENUM, f'unknown mxReplicaType "{role}"', help)
        elif role in first:
            label = ((f"the first {role}", (*SPECS, first[role])),)
            help = "merge the two items" if _is_default(spec) else "merge the two items, or change mxReplicaType"
            yield Violation.at((*at, TYPE), DUPLICATE_ITEM, f"two replicaSpecs are a {role}", help, related=label)
        first.setdefault(role, index)
        yield from _replica_violations(role, spec, at)
    yield from _mode(job, first)


def _replica_violations(role: str, spec: Tree, at: Path) -> Iterator[Violation]:
    """Yield the violations of an item of replicaSpecs."""
    if spec.get("template") is None:
        yield Violation.at((*at, "template"), REQUIRED, f"the {role} has no template", "add the template of its pods")
        return
    if all(container.get("name") != MXNET for container in get(spec, CONTAINERS) or []):
        yield missing_container(role, spec, at, MXNET)
    yield from too_many_replicas(role, spec["replicas"], (*at, "replicas"))
    restart = get(spec, RESTART_POLICY)
    if restart not in (None, *RESTARTS):
        message = f'unsupported restartPolicy "{restart}" of the {role}: its pods are those of a Job'
        yield Violation.at((*at, *RESTART_POLICY), ENUM, message, f"use {' or '.join(RESTARTS)}")


def _mode(job: Tree, roles: dict[str, int]) -> Iterator[Violation]:
    """Yield the violations of the rules of the mode.

    roles   the index of each role in replicaSpecs
    """
    mode = get(job, MODE, "")
    if mode == DIST:
        for role in ROLES if all(each in ROLES for each in roles) else ():
            if role not in roles:
                yield Violation.at(SPECS, REQUIRED, f"mode {DIST} requires a {role}", "add one")
        yield from _replicas_above(job, roles, SCHEDULER, fewest=1, mode=DIST)
    elif mode == LOCAL:
        for role in (SCHEDULER, SERVER):
            if role in roles:
                message = f"mode {LOCAL} allows only a {WORKER}, not a {role}"
                other = f", or set jobMode: {DIST}" if all(each in roles for each in ROLES) else ""
                yield Violation.at((*SPECS, roles[role], TYPE), ENUM, message, f"remove the {role}{other}")
        if not roles:
            yield Violation.at(SPECS, REQUIRED, f"mode {LOCAL} requires a {WORKER}", "add one")
        yield from _replicas_above(job, roles, WORKER, fewest=0, mode=LOCAL)
    elif mode:
        from trainc.base.fixes import replaced_name

        help = replaced_name(MODE, mode, (DIST, LOCAL)) or f"use {DIST} or {LOCAL}"
        yield Violation.at(MODE, ENUM, f'unknown jobMode "{mode}"', help)
    else:
        yield Violation.at(MODE, REQUIRED, "the job has no jobMode", f"use {DIST} or {LOCAL}")


def _replicas_above(job: Tree, roles: dict[str, int], role: str, *, fewest: int, mode: str) -> Iterator[Violation]:
    """Yield the violation of a role that has more than one replica, or fewer than it needs."""
    path = (*SPECS, roles[role], "replicas") if role in roles else ()
    replicas = get(job, path) if path else 1
    if not fewest <= replicas <= 1 and replicas <= MOST_REPLICAS:
        count = "1" if fewest else "at most 1"
        message = f"the {role} must have {count} replica in mode {mode}, not {replicas}"
        yield Violation.at(path, OUT_OF_RANGE, message, "set replicas: 1")


def replica_type(spec: Tree) -> str:
    """Return the role of an item of replicaSpecs."""
    return spec.get(TYPE) or WORKER


def _is_default(spec: Tree) -> bool:
    return not spec.get(TYPE)


def lower(job: Tree, gang: GangScheduler | None) -> Lowered:
    """Return the TrainJob and its runtime. Its operator creates no PodGroup, whatever the gang scheduler is."""
    is_dist = get(job, MODE) == DIST
    roles = sorted(_roles(job, is_dist=is_dist), key=lambda role: ROLES.index(role.name))
    layout = Layout.by_role((role.name, role.replicas) for role in roles if role.replicas)
    named = {role.name: role for role in roles}
    groups = [(group, named[group.roles[0][0]]) for group in layout.groups]
    template: Tree = {"replicatedJobs": [replicated_job(group, {"template": role.template}) for group, role in groups]}
    lead = named[SCHEDULER if is_dist else WORKER]
    moves = [Move(SPECS, JOBS_OF_RUNTIME)]
    for index, (_, role) in enumerate(groups):
        moves += _moves(index, role)
    moves += add_success(template, layout, Success(lead.name, lead.at))
    return own_runtime.lowered(
        job,
        KEY,
        template,
        manager="",
        settings=_settings(job, roles),
        moves=moves,
        losses=_losses(job, roles, is_dist=is_dist),
        at=("spec",),
    )


def _roles(job: Tree, *, is_dist: bool) -> Iterator[ReplicaSpec]:
    for index, spec in enumerate(get(job, SPECS)):
        role, template = replica_type(spec), spec["template"]
        pod = {"restartPolicy": RESTARTS[0]} | template["spec"]
        yield ReplicaSpec(
            role,
            (*SPECS, index),
            spec["replicas"] if is_dist else 1,
            get(template, ("spec", "restartPolicy"), RESTARTS[0]),
            carried_template(template, pod, LABELS | {"job_type": role}, OPERATOR_LABELS),
            spec[PORT],
            MXNET,
        )


def _moves(index: int, role: ReplicaSpec) -> Iterator[Move]:
    pod: Path = (*JOBS_OF_RUNTIME, index, "template", "spec", "template")
    yield from moves_of_job(index, role.at, role.at)
    for label in LABELS:
        yield Move(role.at, (*pod, "metadata", "labels", label))


def _settings(job: Tree, roles: Iterable[ReplicaSpec]) -> Iterator[PolicySetting]:
    yield PolicySetting(("mode",), get(job, MODE), MODE)
    for role in roles:
        yield PolicySetting(("replicas", role.name), role.replicas, (*role.at, "replicas"))
        if role.name == SCHEDULER:
            yield PolicySetting(("port",), role.port, (*role.at, PORT))


def _losses(job: Tree, roles: Iterable[ReplicaSpec], *, is_dist: bool) -> Iterator[Loss]:
    yield from object_losses(job)
    yield Loss(("spec",), KEPT_PODS)
    if get(job, RUNTIME_ID) is not None:
        yield Loss(RUNTIME_ID, RUNTIME)
    for role in roles:
        template = get(job, (*role.at, "template"))
        if not role.replicas:
            yield Loss((*role.at, "template"), NO_PODS)
            yield Loss((*role.at, PORT), OTHER_PORT)
            continue
        yield from template_losses(role.at, template, OPERATOR_LABELS, OWN_LABEL)
        for label in OTHER_LABELS:
            yield Loss((*role.at, "template", "metadata", "labels", label), OTHER_LABEL)
        if not is_dist or role.replicas > 1:
            yield Loss((*role.at, "replicas"), ONE_JOB if is_dist else ONE_POD)
        yield Loss((*role.at, *RESTART_POLICY), ENDS)
        if role.name != SCHEDULER:
            yield Loss((*role.at, PORT), OTHER_PORT)
        else:
            yield Loss(role.at, SERVICE)
        if is_dist:
            yield from _overwritten(role, template)


def _overwritten(role: ReplicaSpec, template: Tree) -> Iterator[Loss]:
    """Yield the loss of variables that the operator would overwrite."""
    for index, container in enumerate(get(template, ("spec", "containers"))):
        if container.get("name") == MXNET and container.get("env"):
            yield Loss((*role.at, *CONTAINERS, index, "env"), OVERWRITTEN)


def apply(plan: Plan) -> Plan:
    """Add the variables to the main containers."""
    is_dist = plan.runtime.settings["mode"] == DIST
    for job, replicated in enumerate(plan.jobs):
        env = [*variables(plan, replicated["name"])] if is_dist else []
        plan = with_operator_variables(plan, env, job, container=MXNET)
    return plan


def variables(plan: Plan, role: str) -> Iterator[Tree]:
    """Yield the variables of the pods of a role, in the operator's order."""
    settings, scheduler = plan.runtime.settings, plan.named(SCHEDULER.lower())
    assert scheduler is not None, "admission requires a scheduler in mode dist"
    yield value("DMLC_PS_ROOT_PORT", settings["port"])
    yield value("DMLC_PS_ROOT_URI", plan.host(scheduler, 0, 0))
    yield value("DMLC_NUM_SERVER", settings["replicas"][SERVER])
    yield value("DMLC_NUM_WORKER", settings["replicas"][WORKER])
    yield value("DMLC_ROLE", role)
    yield value("DMLC_USE_KUBERNETES", 1)


FRAMEWORKS: Final = {
    KEY: Framework(
        apply,
        traits=Traits(family="mxnet", container=MXNET, nodes_field="replicas", gangs=False),
        rendezvous=(("DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT"),),
        front_end=FrontEnd(violations, lower, LOSSES),
    )
}
