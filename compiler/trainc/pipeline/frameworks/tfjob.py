"""TFJob: TF_CONFIG, which Training Operator v1 adds to the pods of several tasks. No runtime of a user can have it.

Reads    the settings that `frontends.legacy.tfjob` derives from the job; the host names of the plan.
Adds     TF_TASK_INDEX and TF_CONFIG to the container `tensorflow`, after the variables of the job. The pods of a role
         share one template, so TF_CONFIG refers to the index by $(TF_TASK_INDEX), which the kubelet expands.
Changes  the host names of the job's pods in the containers, which are other ones in a JobSet.
Source   kubeflow/training-operator v1.9.3, the environment of TFJobs. Its text is compact JSON with sorted roles.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.legacy.host_names import (
    layout_of,
    long_variable,
    role_hosts,
    role_hosts_length,
    with_new_hosts,
)
from trainc.legacy.replica_specs import WORKER
from trainc.legacy.tfjob import KIND, PS
from trainc.legacy.variables import with_operator_variables
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Diagnostic, ObjectId
    from trainc.kubernetes.trees import Tree
    from trainc.legacy.layout import Layout
    from trainc.pipeline.frameworks import PlanCheck
    from trainc.pipeline.plan import Plan

RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec"
TRAITS: Final = Traits(family="tensorflow", container=KIND.container, nodes_field="replicas")
CONFIG: Final = "TF_CONFIG"
INDEX: Final = "TF_TASK_INDEX"


def apply(plan: Plan) -> Plan:
    """Add TF_CONFIG to each task."""
    layout = layout_of(plan)
    all_hosts = {role: addresses(plan, layout, role) for role in listed(plan)} if is_distributed(plan) else {}
    for job, group in enumerate(layout.groups):
        env: list[Tree] = []
        if is_distributed(plan):
            text = config(plan, layout, group.roles[0][0], all_hosts)
            env = [from_field(INDEX, group.index_field), value(CONFIG, text)]
        plan = with_operator_variables(plan, env, job, container=KIND.container)
    return with_new_hosts(plan)


def is_distributed(plan: Plan) -> bool:
    """Return whether the tasks get TF_CONFIG."""
    return bool(plan.runtime.settings["isDistributed"])


def replicas(plan: Plan, role: str) -> int:
    """Return the replicas of a role, which are its tasks in the cluster."""
    return int(plan.runtime.settings["tasks"][role]["replicas"])


def listed(plan: Plan) -> list[str]:
    """Return the roles with lists of all tasks: with enableDynamicWorker, the parameter servers alone."""
    tasks = plan.runtime.settings["tasks"]
    return [role for role in tasks if role == PS] if is_dynamic(plan) else [*tasks]


def is_dynamic(plan: Plan) -> bool:
    """Return whether the cluster of a task has only the tasks to which it connects."""
    return bool(plan.runtime.settings.get("dynamicWorkers"))


def addresses(plan: Plan, layout: Layout, role: str) -> list[str]:
    """Return the addresses of all tasks of a role."""
    return [address(plan, role, host) for host in role_hosts(plan, layout, role, replicas(plan, role))]


def address(plan: Plan, role: str, host: str) -> str:
    """Return the address of a task."""
    return f"{host}:{plan.runtime.settings['tasks'][role]['port']}"


def config(plan: Plan, layout: Layout, role: str, hosts: dict[str, list[str]]) -> str:
    """Return TF_CONFIG for the tasks of a role.

    hosts   the addresses of all tasks by role
    """
    cluster: dict[str, Any] = {other.lower(): hosts[other] for other in sorted(hosts, key=str.lower)}
    ending = ',"environment":"cloud"'
    if is_dynamic(plan):
        position = layout.position(role, 0)
        assert position is not None, "a role has a pod"
        own = address(plan, role, plan.host(position.job, 0, f"$({INDEX})"))
        workers = {f"$({INDEX})": own} if role == WORKER else {}
        servers = hosts.get(PS) if role == WORKER else [own] if role == PS else []
        cluster, ending = {"worker": workers, "ps": servers}, ""
    text = json.dumps(cluster, separators=(",", ":"))
    return f'{{"cluster":{text},"task":{{"type":"{role.lower()}","index":$({INDEX})}}{ending}}}'


def long_config(subject: ObjectId, plan: Plan) -> Iterator[Diagnostic]:
    """Yield an error if TF_CONFIG is too long for a process: before it is written, because a count is cheap."""
    layout = layout_of(plan)
    roles = listed(plan) if is_distributed(plan) else []
    size = max(len(config(plan, layout, role, {each: [] for each in roles})) for role in plan.runtime.settings["tasks"])
    for role in roles:
        count = replicas(plan, role)
        around = len(address(plan, role, '"",')) * count - 1 if count else 0
        size += around + role_hosts_length(plan, layout, role, count)
    yield from long_variable(subject, plan, CONFIG, size)


CHECKS: Final[tuple[PlanCheck, ...]] = (long_config,)
