"""TensorFlow: every task knows the cluster, by role and host, and which task of it this pod is.

Reads    mlPolicy.tensorflow.roles, .port, .dynamicWorkers; trainer.numNodes.
Adds     TF_TASK_INDEX and TF_CONFIG to every container of the jobs that have a role, and the port to the main one. The
         pods of a job have one template, so TF_CONFIG is the same text in all of them, and refers to the index by
         $(TF_TASK_INDEX), which the kubelet puts in: for that it stands before TF_CONFIG.
Source   trainc's own (difference extensions). The contents are those of TFJob in kubeflow/training-operator v1.9.3 and
         of volcano v1.15.1, plugin tensorflow; in the sparse form of dynamicWorkers a parameter server keeps its own
         index (TFJob gives each of them a list of one, in which TensorFlow does not find the second).
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.kubernetes.trees import Tree, edit, get
from trainc.plan import COMPLETION_INDEX, NODE, Plan, Slot, from_field, pod_spec, value

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT: Final = 2222
ROLES: Final = ("chief", "evaluator", "ps", "worker")
WORKER: Final = "worker"
SERVER: Final = "ps"
CONFIG: Final = "TF_CONFIG"
INDEX: Final = "TF_TASK_INDEX"
JOB_INDEX: Final = "metadata.labels['jobset.sigs.k8s.io/job-index']"
"""Which of several Jobs made of one replicated job a pod is of (JobSet)."""
RESERVED: Final = frozenset({CONFIG, INDEX})
RESERVED_AT: Final = "spec.trainer.env"


def apply(plan: Plan) -> Plan:
    """Tell each task of the others; a worker alone has nobody to be told of."""
    plan = plan.with_nodes_of_job()
    tasks = roles(plan)
    if sum(len(list(plan.endpoints(job))) for job in tasks.values()) < 2:
        return plan
    for role, job in tasks.items():
        variables = (from_field(INDEX, index_field(plan, job)), value(CONFIG, config(plan, tasks, role)))
        containers = get(plan.spec, (*pod_spec(job), "containers"), [])
        main = plan.find(job, NODE) or Slot(job, "containers", 0)
        for at in range(len(containers)):
            slot = Slot(job, "containers", at)
            plan = plan._replace(spec=edit(plan.spec, slot.path, without_own))
            plan = plan.on(slot, env=variables, ports=[{"containerPort": port(plan)}] if slot == main else [])
    return plan


def roles(plan: Plan) -> dict[str, int]:
    """The replicated job of each role: the one that the policy names, else the one of the role's name.

    The trainer job is the worker, unless it has another role.
    """
    said = {role: plan.named(job) for role, job in (plan.runtime.settings.get("roles") or {}).items()}
    free = {job for job in range(len(plan.jobs)) if job not in said.values()}
    jobs = {role: job for role in ROLES if (job := plan.named(role)) in free} | said
    if WORKER not in said and plan.trainer in free - {job for role, job in jobs.items() if role != WORKER}:
        jobs[WORKER] = plan.trainer
    return {role: job for role in ROLES if (job := jobs.get(role)) is not None}


def port(plan: Plan) -> int:
    """The port of every task."""
    return int(plan.runtime.settings.get("port", PORT))


def config(plan: Plan, tasks: dict[str, int], role: str) -> str:
    """TF_CONFIG of the tasks of a role."""
    cluster: dict[str, Any] = {other: addresses(plan, job) for other, job in tasks.items()}
    if plan.runtime.settings.get("dynamicWorkers"):
        known = {SERVER: cluster[SERVER]} if SERVER in cluster else {}
        cluster = known | {role: {f"$({INDEX})": own_address(plan, tasks[role])}}
    text = json.dumps({other: cluster[other] for other in sorted(cluster) if cluster[other]}, separators=(",", ":"))
    return f'{{"cluster":{text},"task":{{"type":"{role}","index":$({INDEX})}}}}'


def addresses(plan: Plan, job: int) -> list[str]:
    """Where all tasks of a job are."""
    return [f"{host}:{port(plan)}" for host in plan.endpoints(job)]


def own_address(plan: Plan, job: int) -> str:
    """Where a task itself is, by its index."""
    index = f"$({INDEX})"
    host = plan.host(job, index, 0) if has_replicas(plan.jobs[job]) else plan.host(job, 0, index)
    return f"{host}:{port(plan)}"


def index_field(plan: Plan, job: int) -> str:
    """The field by which a pod of a job knows its index."""
    return JOB_INDEX if has_replicas(plan.jobs[job]) else COMPLETION_INDEX


def has_replicas(job: Tree) -> bool:
    """Whether a replicated job is several Jobs; a check has made sure that each of these is one pod."""
    return int(job.get("replicas", 1)) > 1


def without_own(container: Tree) -> Tree:
    """A container without variables of these names: in their places, TF_CONFIG might come before the index."""
    if "env" not in container:
        return container
    return container | {"env": [variable for variable in container["env"] if variable["name"] not in RESERVED]}


@check("tensorflow-roles", stage="build", title="A TensorFlow role has no job, or not one of its own")
def unfit_roles(plan: Plan) -> Iterator[Finding]:
    """A role is the task type of all pods of one replicated job."""
    said = plan.runtime.settings.get("roles") or {}
    taken = Counter(roles(plan).values())
    for role, name in said.items():
        job = plan.named(name)
        if job is None:
            wrong = f'role {role} is replicated job "{name}", which the runtime does not have'
            help = f"use {' or '.join(str(known.get('name')) for known in plan.jobs)}"
        elif taken[job] > 1:
            others = [other for other, its in roles(plan).items() if its == job and other != role]
            wrong = f'replicated job "{name}" is {role} and {" and ".join(others)}'
            help = "give every role a replicated job of its own"
        else:
            continue
        path = ("spec", "mlPolicy", "tensorflow", "roles", role)
        yield Finding(message=wrong, help=help, field=".".join(path), place=plan.runtime.at(*path))


@check("tensorflow-replicas", stage="build", title="A task has no index of its own")
def unnumbered_tasks(plan: Plan) -> Iterator[Finding]:
    """A pod knows its index in its Job, or the index of its Job, and TensorFlow counts through both."""
    for role, index in roles(plan).items():
        job = plan.jobs[index]
        pods = get(job, ("template", "spec", "parallelism"), 1)
        if has_replicas(job) and pods > 1:
            path = ("spec", "template", "spec", "replicatedJobs", index, "replicas")
            yield Finding(
                message=f'replicated job "{job.get("name")}" has {job["replicas"]} replicas of {pods} pods: '
                f"none knows its number among all tasks of the role {role}",
                help=f"leave replicas out, and set parallelism: {job['replicas'] * pods}",
                field="spec.runtimeRef",
                place=plan.runtime.at(*path),
            )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (unfit_roles, unnumbered_tasks)
