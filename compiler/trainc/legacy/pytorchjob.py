"""PyTorchJob of kubeflow.org/v1.

Reads    a PyTorchJob that its schema has admitted.
Returns  the kind: its rules, its losses, and the variables of PyTorch's rendezvous.
Source   kubeflow/training-operator v1.9.3: the defaults, the webhook, the status and the variables of PyTorchJobs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.frontends.lowering import Loss, LossRule
from trainc.kubernetes.trees import Tree, get
from trainc.kubernetes.violations import REQUIRED, Violation
from trainc.legacy.operator_jobs import framework
from trainc.legacy.operator_kinds import OperatorKind
from trainc.legacy.own_runtime import PolicySetting, Success
from trainc.legacy.replica_specs import MASTER, WORKER
from trainc.pipeline.plan import from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.legacy.layout import Group
    from trainc.legacy.operator_kinds import Roles
    from trainc.legacy.pod_environment import Pods

REPLICAS: Final = ("spec", "pytorchReplicaSpecs")
ELASTIC: Final = ("spec", "elasticPolicy")
PROCESSES: Final = ("spec", "nprocPerNode")
OF_ELASTIC: Final = (*ELASTIC, "nProcPerNode")
AUTO: Final = "auto"
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")

METRICS: Final = LossRule(
    "spec.elasticPolicy.metrics",
    "not carried",
    "no autoscaler changes the number of a JobSet's pods; the operator creates one",
    "set the number of Workers in replicas",
)
PROCESSES_TWICE: Final = Declaration("processes-twice", ("schema",), fix="unsafe")


def _rules(_: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the rules of elastic jobs."""
    specs = get(job, REPLICAS, {})
    if get(job, ELASTIC) is not None and WORKER not in {name.capitalize() for name in specs}:
        yield Violation.at(ELASTIC, REQUIRED, "elasticPolicy applies to the role Worker, which is missing", "add it")
    if get(job, PROCESSES) is not None and get(job, OF_ELASTIC) is not None:
        from trainc.base.fixes import removal

        message = "the number of processes is set in elasticPolicy.nProcPerNode and in nprocPerNode"
        yield Violation.at(
            OF_ELASTIC, PROCESSES_TWICE, message, removal(OF_ELASTIC, "remove elasticPolicy.nProcPerNode")
        )


def _success(job: Tree, _: Roles) -> Success | None:
    """Return the pods that decide about success in a job without a Master: any worker of an elastic job, or all."""
    if get(job, ELASTIC) is not None:
        return Success(WORKER, ELASTIC, {"succeededCount": 1})
    return None


def _settings(job: Tree, roles: Roles) -> Iterator[PolicySetting]:
    processes, elastic = get(job, PROCESSES), get(job, ELASTIC)
    if processes is None and get(job, OF_ELASTIC) is None:
        processes = AUTO
    if processes is not None:
        yield PolicySetting(("nprocPerNode",), processes, PROCESSES)
    if elastic is not None:
        worker = next(role for role in roles if role.name == WORKER)
        low, high = elastic.get("minReplicas"), elastic.get("maxReplicas")
        defaults: dict[str, Any] = {
            "minReplicas": worker.replicas if high is None else high,
            "maxReplicas": worker.replicas if low is None else low,
            "rdzvBackend": "c10d",
            "rdzvPort": worker.port,
        }
        for key, given in (defaults | elastic).items():
            if key != "metrics":
                yield PolicySetting((ELASTIC[-1], key), given, (*ELASTIC, key) if key in elastic else ELASTIC)


def _losses(job: Tree, *_: object) -> Iterator[Loss]:
    if get(job, (*ELASTIC, "metrics")) is not None:
        yield Loss((*ELASTIC, "metrics"), METRICS)


def _least_nodes(pods: Pods) -> int | None:
    """Return the number of nodes with which an elastic job can start."""
    least = get(pods.settings, ("elasticPolicy", "minReplicas"))
    return None if least is None else max(1, min(least, pods.plan.nodes))


def _variables(pods: Pods, _: Group) -> Iterator[Tree]:
    settings, rank = pods.settings, pods.layout.rank_field
    processes = settings.get("nprocPerNode")
    yield value("PYTHONUNBUFFERED", 1)
    if MASTER in pods.roles:
        master, port = pods.host(MASTER), pods.port(MASTER)
        yield value("MASTER_PORT", port)
        yield value("PET_MASTER_PORT", port)
        yield value("MASTER_ADDR", master)
        yield value("PET_MASTER_ADDR", master)
        yield value("WORLD_SIZE", pods.nodes * _count(processes))
        yield from_field("RANK", rank)
        yield from_field("PET_NODE_RANK", rank)
    if processes is not None:
        yield value("PET_NPROC_PER_NODE", processes)
    if elastic := settings.get("elasticPolicy"):
        yield from _elastic_variables(pods, elastic)
    else:
        yield value("PET_NNODES", pods.nodes)


def _elastic_variables(pods: Pods, settings: Tree) -> Iterator[Tree]:
    host = settings["rdzvHost"] if "rdzvHost" in settings else pods.host(WORKER)
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


KIND: Final = OperatorKind(
    key="pytorchjob",
    family="torch",
    replicas=REPLICAS,
    roles=(MASTER, WORKER),
    container="pytorch",
    port_name="pytorchjob-port",
    port=23456,
    restart="OnFailure",
    variables=_variables,
    rendezvous=(("PET_RDZV_ENDPOINT",), ("MASTER_ADDR", "MASTER_PORT")),
    fewest=1,
    single=MASTER,
    ranked=True,
    worker_leads=True,
    processes_field="nprocPerNode",
    losses=(METRICS,),
    rules=_rules,
    success=_success,
    settings=_settings,
    lost=_losses,
    least_nodes=_least_nodes,
)
FRAMEWORKS: Final = {KIND.key: framework(KIND)}
