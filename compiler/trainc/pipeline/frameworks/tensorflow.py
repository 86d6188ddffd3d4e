"""TensorFlow: give every task the cluster's roles and hosts, and its own role and index.

Reads    mlPolicy.tensorflow.roles, .port, .dynamicWorkers; trainer.numNodes.
Adds     TF_TASK_INDEX and TF_CONFIG to every container of the jobs that have a role, and the port to the main one. The
         pods of a job share one template, so TF_CONFIG is the same text in all of them and refers to the index by
         $(TF_TASK_INDEX). The kubelet expands this reference because TF_TASK_INDEX comes before TF_CONFIG.
Source   trainc's own (difference extensions). The content is that of TFJob in kubeflow/training-operator v1.9.3 and of
         volcano v1.15.1, plugin tensorflow. In the sparse form of dynamicWorkers a parameter server keeps its own index
         (TFJob gives each parameter server a list of one, in which TensorFlow does not find the second).
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from trainc.diagnostics import Diagnostic, Finding
from trainc.kubernetes.trees import Tree, edit, get
from trainc.pipeline.checks import check, limits
from trainc.pipeline.frameworks import Framework
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import COMPLETION_INDEX, NODE, Plan, Slot, from_field, pod_spec, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import ObjectId

PORT: Final = 2222
ROLES: Final = ("chief", "evaluator", "ps", "worker")
WORKER: Final = "worker"
SERVER: Final = "ps"
CONFIG: Final = "TF_CONFIG"
INDEX: Final = "TF_TASK_INDEX"
JOB_INDEX: Final = "metadata.labels['jobset.sigs.k8s.io/job-index']"
"""The field with the index of a pod's Job among the Jobs of one replicated job (JobSet)."""
RESERVED: Final = frozenset({CONFIG, INDEX})


def apply(plan: Plan) -> Plan:
    """Add TF_CONFIG to each task. A single worker gets none."""
    plan = plan.with_nodes_of_job()
    tasks = roles(plan)
    if is_single(plan, tasks):
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
    """Return the replicated job of each role: the one that the policy names, else the one with the role's name.

    The trainer job is the worker, unless it has another role.
    """
    named = {role: plan.named(job) for role, job in (plan.runtime.settings.get("roles") or {}).items()}
    free = {job for job in range(len(plan.jobs)) if job not in named.values()}
    jobs = {role: job for role in ROLES if (job := plan.named(role)) in free} | named
    if WORKER not in named and plan.trainer in free - {job for role, job in jobs.items() if role != WORKER}:
        jobs[WORKER] = plan.trainer
    return {role: job for role in ROLES if (job := jobs.get(role)) is not None}


def port(plan: Plan) -> int:
    """Return the port of every task."""
    return int(plan.runtime.settings.get("port", PORT))


def is_single(plan: Plan, tasks: dict[str, int]) -> bool:
    """Return whether there is at most one task."""
    return sum(plan.pods(job) for job in tasks.values()) < 2


def listed_roles(plan: Plan, tasks: dict[str, int], role: str) -> dict[str, int]:
    """Return the roles of which the TF_CONFIG of a role lists all tasks."""
    if not plan.runtime.settings.get("dynamicWorkers"):
        return tasks
    return {SERVER: tasks[SERVER]} if SERVER in tasks and role != SERVER else {}


def config(plan: Plan, tasks: dict[str, int], role: str) -> str:
    """Return TF_CONFIG for the tasks of a role."""
    listed = {other: addresses(plan, job) for other, job in listed_roles(plan, tasks, role).items()}
    return written(plan, tasks, role, listed)


def config_size(plan: Plan, tasks: dict[str, int], role: str) -> int:
    """Return the length of TF_CONFIG, by arithmetic: that of the text with one empty address per role, and the rest."""
    listed = {other: job for other, job in listed_roles(plan, tasks, role).items() if plan.pods(job)}
    size = len(written(plan, tasks, role, {other: [""] for other in listed}))
    of_port, around = len(f":{port(plan)}"), len('"",')
    for job in listed.values():
        tasks_of_job = plan.pods(job)
        size += limits.host_names_length(plan, job) + tasks_of_job * of_port + (tasks_of_job - 1) * around
    return size


def written(plan: Plan, tasks: dict[str, int], role: str, listed: dict[str, list[str]]) -> str:
    """Return TF_CONFIG with these addresses by role; with dynamicWorkers, with the task's own address, too."""
    cluster: dict[str, Any] = dict(listed)
    if plan.runtime.settings.get("dynamicWorkers"):
        cluster[role] = {f"$({INDEX})": own_address(plan, tasks[role])}
    text = json.dumps({other: cluster[other] for other in sorted(cluster) if cluster[other]}, separators=(",", ":"))
    return f'{{"cluster":{text},"task":{{"type":"{role}","index":$({INDEX})}}}}'


def addresses(plan: Plan, job: int) -> list[str]:
    """Return the addresses of all tasks of a job."""
    return [f"{host}:{port(plan)}" for host in plan.endpoints(job)]


def own_address(plan: Plan, job: int) -> str:
    """Return a task's own address, which refers to its index."""
    index = f"$({INDEX})"
    host = plan.host(job, index, 0) if has_replicas(plan.jobs[job]) else plan.host(job, 0, index)
    return f"{host}:{port(plan)}"


def index_field(plan: Plan, job: int) -> str:
    """Return the field with the index of a job's pod."""
    return JOB_INDEX if has_replicas(plan.jobs[job]) else COMPLETION_INDEX


def has_replicas(job: Tree) -> bool:
    """Return whether a replicated job has several Jobs; a check ensures that each of them has one pod."""
    return int(job.get("replicas", 1)) > 1


def without_own(container: Tree) -> Tree:
    """Return a container without its own variables of these names: their positions could put TF_CONFIG first."""
    if "env" not in container:
        return container
    return container | {"env": [variable for variable in container["env"] if variable["name"] not in RESERVED]}


@check("tensorflow-roles", phase="build", trainc_only=True)
def unfit_roles(plan: Plan) -> Iterator[Finding]:
    """A role is the task type of all pods of one replicated job."""
    named = plan.runtime.settings.get("roles") or {}
    taken = Counter(roles(plan).values())
    for role, name in named.items():
        job = plan.named(name)
        if job is None:
            message = f'role {role} is replicated job "{name}", which the runtime does not have'
            help = f"use {' or '.join(str(known.get('name')) for known in plan.jobs)}"
        elif taken[job] > 1:
            others = [other for other, its in roles(plan).items() if its == job and other != role]
            message = f'replicated job "{name}" has several roles: {role} and {" and ".join(others)}'
            help = "give each role its own replicated job"
        else:
            continue
        path = ("spec", "mlPolicy", "tensorflow", "roles", role)
        yield Finding(message=message, help=help, place=plan.runtime.at(*path))


@check("tensorflow-replicas", phase="build", trainc_only=True)
def unnumbered_tasks(plan: Plan) -> Iterator[Finding]:
    """A pod has its index in its Job, or the index of its Job, but a TensorFlow task index needs both."""
    for role, index in roles(plan).items():
        job = plan.jobs[index]
        pods = get(job, ("template", "spec", "parallelism"), 1)
        if has_replicas(job) and pods > 1:
            path = ("spec", "template", "spec", "replicatedJobs", index, "replicas")
            yield Finding(
                message=f'replicated job "{job.get("name")}" has {job["replicas"]} replicas of {pods} pods: '
                f"no pod can compute its index among all tasks of role {role}",
                help=f"remove replicas, and set template.spec.parallelism to {job['replicas'] * pods}",
                field="spec.runtimeRef",
                place=plan.runtime.at(*path),
            )


def long_config(subject: ObjectId, plan: Plan) -> Iterator[Diagnostic]:
    """Yield an error if TF_CONFIG is too long for a process: before it is written, because a count is cheap."""
    if plan.failed:
        return
    sized = plan.with_replicas().with_nodes_of_job()
    tasks = roles(sized)
    size = 0 if is_single(sized, tasks) else max(config_size(sized, tasks, role) for role in tasks)
    help = "use fewer nodes or shorter names, or set dynamicWorkers in the runtime"
    yield from limits.long_variable(subject, CONFIG, size, help, plan.job.at("spec", "trainer", "numNodes"))


FRAMEWORK: Final = Framework(
    apply,
    (unfit_roles, unnumbered_tasks, long_config),
    reserved=lambda _: RESERVED,
    traits=Traits(finds_jobs_by_name=True),
)
