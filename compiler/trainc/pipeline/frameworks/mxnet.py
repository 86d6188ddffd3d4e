"""MXNet: configure a scheduler, servers and workers; or a single worker (difference extensions).

Reads    mxnet.mode, .port, .roles; trainer.numNodes. The replicated job of a role has the role's name, or the name that
         `roles` sets; the worker is the trainer job unless that has another role.
Adds     in mode dist, to every container of every pod with a role: DMLC_PS_ROOT_URI, DMLC_PS_ROOT_PORT,
         DMLC_NUM_SERVER, DMLC_NUM_WORKER, DMLC_ROLE, DMLC_USE_KUBERNETES; to the workers' containers DMLC_WORKER_ID; to
         the scheduler's container the port.
         Nothing in mode local: a single process needs no rendezvous.
Source   the variables: kubeflow/training-operator v1.7.0, MXJob, without MX_CONFIG, which only TVM's tuning jobs read.
         The rules of the modes: deepinsight/mxnet-operator, the validation of v1beta1. DMLC_USE_KUBERNETES: ps-lite's
         ZMQ van. With it the scheduler binds to all addresses, otherwise to the name in DMLC_PS_ROOT_URI, which ZeroMQ
         does not resolve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding
from trainc.pipeline.checks import check
from trainc.pipeline.frameworks import Framework
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import COMPLETION_INDEX, NODE, Plan, from_field, value

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


def apply(plan: Plan) -> Plan:
    """Give every pod its role and the scheduler's address."""
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
        worker_id = (from_field("DMLC_WORKER_ID", COMPLETION_INDEX),) if role == WORKER else ()
        for container in plan.containers(job):
            own = (*cluster, value("DMLC_ROLE", role), value("DMLC_USE_KUBERNETES", 1), *worker_id)
            plan = plan.on(container, env=own)
    scheduler = jobs[SCHEDULER]
    main = plan.find(scheduler, NODE) or next(iter(plan.containers(scheduler)), None)
    return plan.on(main, ports=[{"containerPort": port}])


def is_local(plan: Plan) -> bool:
    """Return whether a single worker trains."""
    return bool(plan.runtime.settings["mode"] == "local")


def roles(plan: Plan) -> dict[str, int]:
    """Return the index of the replicated job of each role that has one."""
    named = plan.runtime.settings.get("roles") or {}
    found = {role: plan.named(named.get(role, role)) for role in ROLES}
    if WORKER not in named and plan.trainer is not None and plan.trainer not in (found[SCHEDULER], found[SERVER]):
        found[WORKER] = plan.trainer
    return {role: job for role, job in found.items() if job is not None}


def pods(plan: Plan, job: int) -> int:
    """Return the number of pods of a replicated job, in all its replicas."""
    nodes = plan.job.trainer.get("numNodes") if job == plan.trainer else None
    per_replica = plan.count_of_runtime(job) if nodes is None else int(nodes)
    return per_replica * replicas(plan, job)


def replicas(plan: Plan, job: int) -> int:
    """Return the replicas of a replicated job; the trainer has one, whatever the runtime sets."""
    return 1 if job in plan.trainers() else int(plan.jobs[job].get("replicas", 1))


def reserved_variables(plan: Plan) -> frozenset[str]:
    """Return the variables that MXNet sets: none in mode local."""
    return frozenset() if is_local(plan) else RESERVED


@check("mxnet-roles", phase="build", trainc_only=True)
def wrong_roles(plan: Plan) -> Iterator[Finding]:
    """In mode dist each of the three roles has its own job; in mode local there is only a worker."""
    named, assigned = plan.runtime.settings.get("roles") or {}, roles(plan)
    is_alone = list(assigned) == [WORKER] and pods(plan, assigned[WORKER]) == 1
    alone = "; for a single worker, set mode: local" if is_alone else ""
    for role, name in named.items():
        if role not in assigned:
            jobs = ", ".join(str(job.get("name")) for job in plan.jobs)
            yield policy_finding(
                plan,
                f'the {role} is job "{name}", which the runtime does not have',
                f"use a job of the runtime: {jobs}" if jobs else "add replicated jobs to the runtime",
                "roles",
                role,
            )
    for role in ROLES:
        if is_local(plan) and role in assigned and role != WORKER:
            name = plan.jobs[assigned[role]].get("name")
            yield policy_finding(
                plan,
                f'mode local allows only a worker, but job "{name}" is a {role}',
                "remove the job" + (", or set mode: dist" if all(each in assigned for each in ROLES) else ""),
                "mode",
            )
        elif not is_local(plan) and role not in assigned and role not in named:
            yield policy_finding(
                plan,
                f"mode dist requires a {role}, but no job of the runtime is the {role}",
                f'add a replicated job "{role}", or name the job in roles{alone}',
                "roles",
            )
    for role, other in ((SCHEDULER, SERVER), (SCHEDULER, WORKER), (SERVER, WORKER)):
        if role in assigned and assigned.get(other) == assigned[role]:
            name = plan.jobs[assigned[role]].get("name")
            yield policy_finding(
                plan, f'job "{name}" is both the {role} and the {other}', "give each role its own job", "roles"
            )


@check("mxnet-pods", phase="build", trainc_only=True)
def wrong_pods(plan: Plan) -> Iterator[Finding]:
    """Mode dist needs one scheduler and at least one pod of each role; mode local has a single worker."""
    assigned = roles(plan)
    for role, job in assigned.items():
        count, name = pods(plan, job), plan.jobs[job].get("name")
        if is_local(plan):
            if role == WORKER and count > 1:
                yield Finding(
                    message=f"mode local allows 1 worker, but there are {count}: each would train separately",
                    help="set numNodes: 1, or use a runtime with mode: dist",
                    field="spec.trainer.numNodes",
                    place=where_counted(plan, job),
                )
        elif role == SCHEDULER and count != 1:
            yield Finding(
                message=f'job "{name}" runs {count} schedulers, but MXNet requires exactly one',
                help="set replicas: 1 and parallelism: 1",
                field="spec.mlPolicy.mxnet",
                place=where_counted(plan, job),
            )
        elif count < 1:
            yield Finding(
                message=f'job "{name}" runs no {role}, so the other pods would wait forever',
                help="set at least one pod",
                field="spec.mlPolicy.mxnet",
                place=where_counted(plan, job),
            )
        elif role == WORKER and replicas(plan, job) > 1:
            yield Finding(
                message=f'job "{name}" has {replicas(plan, job)} replicas, and the worker ids of each start from 0',
                help="set replicas: 1, and the number of workers in parallelism",
                field="spec.mlPolicy.mxnet",
                place=where_counted(plan, job),
            )


def policy_finding(plan: Plan, message: str, help: str, *path: str) -> Finding:
    """Return a finding at a field of the runtime's policy."""
    at = ("spec", "mlPolicy", "mxnet", *path)
    return Finding(message=message, help=help, place=plan.runtime.at(*at))


def where_counted(plan: Plan, job: int) -> Place:
    """Return the place that sets a job's pod count: in the TrainJob, or in the runtime's policy."""
    if job == plan.trainer and "numNodes" in plan.job.trainer:
        return plan.job.at("spec", "trainer", "numNodes")
    if job in plan.trainers():
        return plan.runtime.at("spec", "mlPolicy", "numNodes")
    return plan.runtime.at("spec", "mlPolicy", "mxnet", key=True)


FRAMEWORK: Final = Framework(
    apply,
    (wrong_roles, wrong_pods),
    reserved=reserved_variables,
    reserved_at="spec.trainer.env[{index}]",
    traits=Traits(finds_jobs_by_name=True),
    rendezvous=(("DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT"),),
)
