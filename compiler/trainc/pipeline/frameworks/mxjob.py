"""MXJob: the variables that Training Operator v1.7 adds. No runtime of a user can have it.

Reads    the settings that `frontends.legacy.mxjob` derives from the job; the host names of the plan.
Adds     MX_TASK_INDEX, MX_CONFIG and the variables of ps-lite to every container, after those of the job. The pods of a
         role share one template, so MX_CONFIG refers to the index by $(MX_TASK_INDEX), which the kubelet expands.
Changes  the host names of the job's pods in the containers, which are other ones in a JobSet.
Source   kubeflow/training-operator v1.7.0, the environment of MXJobs, in its order. MX_CONFIG is compact JSON with
         sorted roles. Without a Scheduler its port is 0 and its address is empty.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.legacy.host_names import (
    layout_of,
    long_variable,
    role_host,
    role_hosts,
    role_hosts_length,
    with_new_hosts,
)
from trainc.legacy.mxjob import KIND, SCHEDULER, SERVER
from trainc.legacy.replica_specs import WORKER
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
TRAITS: Final = Traits(family="mxnet", container=KIND.container, nodes_field="replicas")
RENDEZVOUS: Final = (("DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT"),)
CONFIG: Final = "MX_CONFIG"
INDEX: Final = "MX_TASK_INDEX"


def apply(plan: Plan) -> Plan:
    """Add the variables to the containers of each role."""
    layout = layout_of(plan)
    cluster = {role: [entry(plan, role, host) for host in hosts] for role, hosts in all_hosts(plan, layout).items()}
    for job, group in enumerate(layout.groups):
        role = group.roles[0][0]
        first = [from_field(INDEX, group.index_field), value(CONFIG, config(plan, role, cluster))]
        last = [from_field("DMLC_WORKER_ID", group.index_field)] if role == WORKER else []
        plan = with_operator_variables(plan, [*first, *ps_lite(plan, layout, role), *last], job)
    return with_new_hosts(plan)


def ps_lite(plan: Plan, layout: Layout, role: str) -> Iterator[Tree]:
    """Yield the variables of ps-lite for the pods of a role."""
    roles = plan.runtime.settings["roles"]
    has_scheduler = SCHEDULER in roles
    yield value("DMLC_PS_ROOT_PORT", roles[SCHEDULER]["port"] if has_scheduler else 0)
    yield value("DMLC_PS_ROOT_URI", role_host(plan, layout, SCHEDULER) if has_scheduler else "")
    yield value("DMLC_NUM_SERVER", replicas(plan, SERVER))
    yield value("DMLC_NUM_WORKER", replicas(plan, WORKER))
    yield value("DMLC_ROLE", role.lower())
    yield value("DMLC_USE_KUBERNETES", 1)


def replicas(plan: Plan, role: str) -> int:
    """Return the replicas of a role; 0 for a role that the job does not have."""
    return int(plan.runtime.settings["roles"].get(role, {}).get("replicas", 0))


def all_hosts(plan: Plan, layout: Layout) -> dict[str, list[str]]:
    """Return the host names of the replicas of each role."""
    return {role: role_hosts(plan, layout, role, replicas(plan, role)) for role in plan.runtime.settings["roles"]}


def entry(plan: Plan, role: str, host: str) -> Tree:
    """Return the entry of a pod in MX_CONFIG."""
    return {"url": host, "port": plan.runtime.settings["roles"][role]["port"]}


def config(plan: Plan, role: str, cluster: dict[str, list[Any]]) -> str:
    """Return MX_CONFIG for the pods of a role.

    cluster   the entries of all pods by role
    """
    names = sorted(cluster, key=str.lower)
    pods = {name.lower(): cluster[name] for name in names}
    labels = {name.lower(): plan.runtime.settings["roles"][name]["label"] for name in names}
    text = json.dumps({"cluster": pods, "labels": labels}, separators=(",", ":"))
    return f'{text[:-1]},"task":{{"type":"{role.lower()}","index":$({INDEX})}}}}'


def long_config(subject: ObjectId, plan: Plan) -> Iterator[Diagnostic]:
    """Yield an error if MX_CONFIG is too long for a process: before it is written, because a count is cheap."""
    layout = layout_of(plan)
    roles = plan.runtime.settings["roles"]
    size = max(len(config(plan, role, {each: [] for each in roles})) for role in roles)
    for role in roles:
        count = replicas(plan, role)
        around = len(json.dumps([entry(plan, role, "")], separators=(",", ":"))) - 1
        size += around * count + role_hosts_length(plan, layout, role, count) - min(count, 1)
    yield from long_variable(subject, plan, CONFIG, size)


CHECKS: Final[tuple[PlanCheck, ...]] = (long_config,)
