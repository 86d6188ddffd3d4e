"""MXNet: a scheduler, servers and workers that know one another; or one worker alone (difference extensions).

Reads    mxnet.mode, .port, .roles; trainer.numNodes. A role is played by the replicated job of its name, or by the one
         that `roles` says; the worker is the trainer job unless that plays another role.
Adds     in mode dist, to every container of every pod with a role: DMLC_PS_ROOT_URI, DMLC_PS_ROOT_PORT,
         DMLC_NUM_SERVER, DMLC_NUM_WORKER, DMLC_ROLE, DMLC_USE_KUBERNETES, and to the workers' DMLC_WORKER_ID; to the
         scheduler's the port.
         Nothing in mode local: a process alone needs nobody.
Source   the variables: kubeflow/training-operator v1.7.0, MXJob. MX_CONFIG, which TVM's tuning jobs alone read, is left
         out. The rules of the modes: deepinsight/mxnet-operator, the validation of v1beta1. Why DMLC_USE_KUBERNETES:
         ps-lite's ZMQ van, where the scheduler binds to all addresses because of it, and otherwise to the name in
         DMLC_PS_ROOT_URI, which ZeroMQ does not resolve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.plan import COMPLETION_INDEX, NODE, Plan, from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Place

SCHEDULER: Final = "scheduler"
SERVER: Final = "server"
WORKER: Final = "worker"
ROLES: Final = (SCHEDULER, SERVER, WORKER)
RESERVED: Final = frozenset(
    {
        "DMLC_PS_ROOT_URI",
        "DMLC_PS_ROOT_PORT",
        "DMLC_NUM_SERVER",
        "DMLC_NUM_WORKER",
        "DMLC_ROLE",
        "DMLC_USE_KUBERNETES",
        "DMLC_WORKER_ID",
    }
)
RESERVED_AT: Final = "spec.trainer.env[{index}]"
RENDEZVOUS: Final = (("DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT"),)


def apply(plan: Plan) -> Plan:
    """Tell every pod who it is, and where the scheduler is."""
    plan = plan.with_nodes_of_job()
    if is_local(plan):
        return plan
    jobs, port = roles(plan), plan.runtime.settings["port"]
    cluster = (
        value("DMLC_PS_ROOT_URI", next(plan.endpoints(jobs[SCHEDULER]))),
        value("DMLC_PS_ROOT_PORT", port),
        value("DMLC_NUM_SERVER", pods(plan, jobs[SERVER])),
        value("DMLC_NUM_WORKER", pods(plan, jobs[WORKER])),
    )
    for role, job in jobs.items():
        which = (from_field("DMLC_WORKER_ID", COMPLETION_INDEX),) if role == WORKER else ()
        for container in plan.containers(job):
            own = (*cluster, value("DMLC_ROLE", role), value("DMLC_USE_KUBERNETES", 1), *which)
            plan = plan.on(container, env=own)
    scheduler = jobs[SCHEDULER]
    listens = plan.find(scheduler, NODE) or next(iter(plan.containers(scheduler)), None)
    return plan.on(listens, ports=[{"containerPort": port}])


def is_local(plan: Plan) -> bool:
    """Whether one worker trains alone."""
    return bool(plan.runtime.settings["mode"] == "local")


def roles(plan: Plan) -> dict[str, int]:
    """Which replicated job plays which role, as far as there is one."""
    said = plan.runtime.settings.get("roles") or {}
    found = {role: plan.named(said.get(role, role)) for role in ROLES}
    if WORKER not in said and plan.trainer is not None and plan.trainer not in (found[SCHEDULER], found[SERVER]):
        found[WORKER] = plan.trainer
    return {role: job for role, job in found.items() if job is not None}


def pods(plan: Plan, job: int) -> int:
    """How many pods a replicated job runs, all its replicas together."""
    asked = plan.job.trainer.get("numNodes") if job == plan.trainer else None
    of_each = plan.count_of_runtime(job) if asked is None else int(asked)
    return of_each * replicas(plan, job)


def replicas(plan: Plan, job: int) -> int:
    """How often a replicated job runs; the trainer once, whatever the runtime says."""
    return 1 if job in plan.trainers() else int(plan.jobs[job].get("replicas", 1))


def reserved(plan: Plan) -> frozenset[str]:
    """What it sets: in mode local nothing."""
    return frozenset() if is_local(plan) else RESERVED


@check("mxnet-roles", stage="build", title="An MXNet runtime lacks a role, or has one too many")
def wrong_roles(plan: Plan) -> Iterator[Finding]:
    """In mode dist all three roles are played, each by a job of its own; in mode local there is a worker alone."""
    said, played = plan.runtime.settings.get("roles") or {}, roles(plan)
    for role, name in said.items():
        if role not in played:
            yield of_policy(
                plan,
                f'the {role} is the job "{name}", which the runtime does not have',
                f"name one that it has: {', '.join(str(job.get('name')) for job in plan.jobs) or 'there is none'}",
                "roles",
                role,
            )
    for role in ROLES:
        if is_local(plan) and role in played and role != WORKER:
            name = plan.jobs[played[role]].get("name")
            yield of_policy(
                plan,
                f'mode is local, and the job "{name}" is a {role}: a worker trains alone',
                "take the job out, or set mode: dist",
                "mode",
            )
        elif not is_local(plan) and role not in played and role not in said:
            yield of_policy(
                plan,
                f"mode is dist, and no job of the runtime is the {role}",
                f'add a replicated job "{role}", or say under roles which job it is; without servers, set mode: local',
                "roles",
            )
    for role, other in ((SCHEDULER, SERVER), (SCHEDULER, WORKER), (SERVER, WORKER)):
        if role in played and played.get(other) == played[role]:
            name = plan.jobs[played[role]].get("name")
            yield of_policy(
                plan, f'the job "{name}" is both the {role} and the {other}', "give each role its own job", "roles"
            )


@check("mxnet-pods", stage="build", title="A role of MXNet has too many pods, or none")
def wrong_pods(plan: Plan) -> Iterator[Finding]:
    """One scheduler brings all together, who wait for one another; a worker alone has nobody to share with."""
    played = roles(plan)
    for role, job in played.items():
        count, name = pods(plan, job), plan.jobs[job].get("name")
        if is_local(plan):
            if role == WORKER and count > 1:
                yield Finding(
                    message=f"mode is local, and there are {count} workers: each would train for itself",
                    help="set numNodes: 1, or use a runtime with mode: dist",
                    field="spec.trainer.numNodes",
                    place=where_counted(plan, job),
                )
        elif role == SCHEDULER and count != 1:
            yield Finding(
                message=f'the job "{name}" runs {count} schedulers, and MXNet has one',
                help="let it have one replica and parallelism: 1",
                field="spec.mlPolicy.mxnet",
                place=where_counted(plan, job),
            )
        elif count < 1:
            yield Finding(
                message=f'the job "{name}" runs no {role}: the others would wait for one',
                help="let it run one pod at least",
                field="spec.mlPolicy.mxnet",
                place=where_counted(plan, job),
            )
        elif role == WORKER and replicas(plan, job) > 1:
            yield Finding(
                message=f'the job "{name}" has {replicas(plan, job)} replicas: the workers of each count from 0',
                help="set replicas: 1, and say by parallelism how many workers there are",
                field="spec.mlPolicy.mxnet",
                place=where_counted(plan, job),
            )


def of_policy(plan: Plan, message: str, help: str, *path: str) -> Finding:
    """What is wrong with the runtime's policy."""
    at = ("spec", "mlPolicy", "mxnet", *path)
    return Finding(message=message, help=help, field=".".join(at), place=plan.runtime.at(*at))


def where_counted(plan: Plan, job: int) -> Place:
    """Where the pods of a job are counted: in the TrainJob, or in the runtime's policy."""
    if job == plan.trainer and "numNodes" in plan.job.trainer:
        return plan.job.at("spec", "trainer", "numNodes")
    if job in plan.trainers():
        return plan.runtime.at("spec", "mlPolicy", "numNodes")
    return plan.runtime.at("spec", "mlPolicy", "mxnet", key=True)


CHECKS: Final[tuple[Check[[Plan]], ...]] = (wrong_roles, wrong_pods)
