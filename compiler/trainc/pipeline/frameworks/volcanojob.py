"""Volcano Job: the variables and files of the plugins tensorflow, svc and env. No runtime of a user can have it.

Reads    the settings that `frontends.legacy.volcanojob` derives from the job; the host names of the plan.
Adds     after the variables of the job: VK_TASK_INDEX and VC_TASK_INDEX with the plugin env, the hosts and numbers of
         the tasks, TF_CONFIG. Init containers have no TF_CONFIG. The pods of a task share one template, so TF_CONFIG
         refers to the index by $(TF_TASK_INDEX), which the kubelet expands. A ConfigMap with the hosts in /etc/volcano.
Changes  the host names of the job's pods in the containers, which are other ones in a JobSet.
Source   volcano-sh/volcano v1.15.1, the plugins. The ConfigMap has another name than Volcano's, which disappears
         together with its Job.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from trainc.legacy.host_names import layout_of, long_variable, role_hosts, role_hosts_length, with_new_hosts
from trainc.legacy.variables import with_variables
from trainc.legacy.volcano_plugins import ROLES
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Diagnostic, ObjectId
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.frameworks import PlanCheck
    from trainc.pipeline.plan import Plan

RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec"
TRAITS: Final = Traits(family="tensorflow", container="", nodes_field="replicas")
CONFIG: Final = "TF_CONFIG"
INDEX: Final = "TF_TASK_INDEX"
HOSTS: Final = "volcano-hosts"
"""The end of the ConfigMap's name, and the name of its volume."""
FOLDER: Final = "/etc/volcano"
TYPES: Final = ("chief", "worker", "ps", "evaluator")
"""The roles in the order in which the plugin compares them with the name of a task."""


def apply(plan: Plan) -> Plan:
    """Add the variables and the files to each task."""
    layout, settings = layout_of(plan), plan.runtime.settings
    hosts = {task: role_hosts(plan, layout, task, each["replicas"]) for task, each in settings["tasks"].items()}
    cluster = {role: hosts[task] for role, task in roles(plan).items()}
    for job, group in enumerate(layout.groups):
        index = [from_field(f"{prefix}_TASK_INDEX", group.index_field) for prefix in ("VK", "VC")]
        shared = [*(index if settings["addsIndex"] else ()), *variables(hosts)]
        own = [from_field(INDEX, group.index_field), value(CONFIG, config(plan, group.name, cluster))]
        for slot in (*plan.containers(job), *plan.init_containers(job)):
            has_config = settings["addsConfig"] and slot.containers == "containers"
            plan = with_variables(plan, slot, [*shared, *(own if has_config else ())])
            plan = plan.on(slot, mounts=[{"name": HOSTS, "mountPath": FOLDER}])
        plan = plan.with_volumes(job, [{"name": HOSTS, "configMap": {"name": f"{plan.name}-{HOSTS}"}}])
    return with_new_hosts(plan._replace(others=(*plan.others, files(plan, hosts))))


def roles(plan: Plan) -> dict[str, str]:
    """Return the task of each role of the cluster, in the plugin's order; two roles of one name are the first one."""
    tasks = plan.runtime.settings["tasks"]
    found: dict[str, str] = {}
    for role in ROLES:
        name = plan.runtime.settings["taskOfRole"][role]
        if name not in found.values() and tasks.get(name, {}).get("replicas"):
            found[role] = name
    return found


def prefix(task: str) -> str:
    """Return the beginning of the names of a task's variables."""
    return f"VC_{task.replace('-', '_').upper()}"


def variables(hosts: dict[str, list[str]]) -> Iterator[Tree]:
    """Yield the variables of the plugin svc, by name.

    hosts   the host names of each task
    """
    for task in sorted(hosts, key=prefix):
        yield value(f"{prefix(task)}_HOSTS", ",".join(hosts[task]))
        yield value(f"{prefix(task)}_NUM", len(hosts[task]))


def files(plan: Plan, hosts: dict[str, list[str]]) -> Tree:
    """Return the ConfigMap of the plugin svc."""
    data = {variable["name"]: variable["value"] for variable in variables(hosts)}
    data |= {f"{task.replace('-', '_')}.host": "\n".join(hosts[task]) for task in hosts}
    metadata = plan.object_metadata() | {"name": f"{plan.name}-{HOSTS}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def config(plan: Plan, task: str, cluster: dict[str, list[str]]) -> str:
    """Return TF_CONFIG for the pods of a task.

    cluster   the host names of each role
    """
    settings = plan.runtime.settings
    addresses = {role: [f"{host}:{settings['port']}" for host in hosts] for role, hosts in cluster.items()}
    kind = next((role for role in TYPES if settings["taskOfRole"][role] == task), task)
    text = json.dumps(addresses, separators=(",", ":"))
    return f'{{"cluster":{text},"task":{{"type":"{kind}","index":$({INDEX})}}}}'


def long_hosts(subject: ObjectId, plan: Plan) -> Iterator[Diagnostic]:
    """Yield an error if a variable is too long for a process: before it is written, because a count is cheap."""
    layout, tasks = layout_of(plan), plan.runtime.settings["tasks"]
    counts = {task: each["replicas"] for task, each in tasks.items() if each["replicas"]}
    lengths = {task: role_hosts_length(plan, layout, task, count) for task, count in counts.items()}
    for task, length in lengths.items():
        yield from long_variable(subject, plan, f"{prefix(task)}_HOSTS", length + counts[task] - 1)
    of_role = roles(plan) if plan.runtime.settings["addsConfig"] else {}
    around = len(f'"":{plan.runtime.settings["port"]},')
    size = sum(lengths[task] + around * counts[task] - 1 for task in of_role.values())
    empty = max(len(config(plan, task, {role: [] for role in of_role})) for task in tasks)
    yield from long_variable(subject, plan, CONFIG, empty + size)


CHECKS: Final[tuple[PlanCheck, ...]] = (long_hosts,)
