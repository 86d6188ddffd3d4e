"""PyTorchJob: the variables of PyTorch's rendezvous that Training Operator v1 adds. No runtime of a user can have it.

Reads    the settings that `frontends.legacy.pytorchjob` derives from the job; the host names of the plan.
Adds     variables to every container, after those of the job. Of one name, the last variable applies.
Changes  the host names of the job's pods in the containers, which are other ones in a JobSet.
Source   kubeflow/training-operator v1.9.3, the environment of PyTorchJobs, in its order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import get
from trainc.legacy.host_names import layout_of, role_host, with_new_hosts
from trainc.legacy.pytorchjob import KIND
from trainc.legacy.replica_specs import MASTER, WORKER
from trainc.legacy.variables import with_operator_variables
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.legacy.layout import Layout
    from trainc.pipeline.checks import Check
    from trainc.pipeline.plan import Plan

RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec"
CHECKS: Final[tuple[Check[[Plan]], ...]] = ()
TRAITS: Final = Traits(family="torch", container=KIND.container, nodes_field="replicas", processes_field="nprocPerNode")
RENDEZVOUS: Final = (("PET_RDZV_ENDPOINT",), ("MASTER_ADDR", "MASTER_PORT"))
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")


def apply(plan: Plan) -> Plan:
    """Add the variables to all containers."""
    layout = layout_of(plan)
    env = [*_variables(plan, layout)]
    return with_new_hosts(_with_least_nodes(with_operator_variables(plan, env)))


def _with_least_nodes(plan: Plan) -> Plan:
    """Return the plan with the number of nodes with which an elastic job can start."""
    least = get(plan.runtime.settings, ("elasticPolicy", "minReplicas"))
    return plan if least is None else plan._replace(needed=max(1, min(least, plan.nodes)))


def _variables(plan: Plan, layout: Layout) -> Iterator[Tree]:
    settings = plan.runtime.settings
    processes, port = settings.get("nprocPerNode"), settings.get("port")
    yield value("PYTHONUNBUFFERED", 1)
    if port is not None:
        master = role_host(plan, layout, MASTER)
        yield value("MASTER_PORT", port)
        yield value("PET_MASTER_PORT", port)
        yield value("MASTER_ADDR", master)
        yield value("PET_MASTER_ADDR", master)
        yield value("WORLD_SIZE", settings["nodes"] * _count(processes))
        yield from_field("RANK", layout.rank_field)
        yield from_field("PET_NODE_RANK", layout.rank_field)
    if processes is not None:
        yield value("PET_NPROC_PER_NODE", processes)
    if elastic := settings.get("elasticPolicy"):
        yield from _elastic_variables(plan, layout, elastic)
    else:
        yield value("PET_NNODES", settings["nodes"])


def _elastic_variables(plan: Plan, layout: Layout, settings: Tree) -> Iterator[Tree]:
    host = settings["rdzvHost"] if "rdzvHost" in settings else role_host(plan, layout, WORKER)
    yield value("PET_RDZV_ENDPOINT", f"{host}:{settings['rdzvPort']}")
    yield value("PET_RDZV_BACKEND", settings["rdzvBackend"])
    yield value("PET_NNODES", f"{settings['minReplicas']}:{settings['maxReplicas']}")
    for key, name in (
        ("maxRestarts", "PET_MAX_RESTARTS"),
        ("nProcPerNode", "PET_NPROC_PER_NODE"),
        ("rdzvId", "PET_RDZV_ID"),
    ):
        if key in settings:
            yield value(name, settings[key])
    if options := settings.get("rdzvConf"):
        pairs = (f"{option.get('key', '')}={option.get('value', '')}" for option in options)
        yield value("PET_RDZV_CONF", ",".join(pairs))
    if settings.get("standalone"):
        yield value("PET_STANDALONE", "")


def _count(processes: Any) -> int:
    """Return the number of processes of a node in WORLD_SIZE: words such as `auto` count as one."""
    return int(processes) if isinstance(processes, str) and _INTEGER.fullmatch(processes) else 1
