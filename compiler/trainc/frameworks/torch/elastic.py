"""Elastic torchrun: nodes that come and go, between a least and a greatest number, and meet wherever the backend is.

Reads    mlPolicy.torch.elasticPolicy, mlPolicy.numNodes; trainer.numNodes, .numProcPerNode, .resourcesPerNode, .env.
Adds     PET_RDZV_ENDPOINT, PET_RDZV_BACKEND, PET_NNODES=min:max, PET_NPROC_PER_NODE, and where the policy says so
         PET_MAX_RESTARTS, PET_RDZV_ID, PET_RDZV_CONF, PET_STANDALONE, to the containers that torchrun's variables go
         to; the rendezvous' port to `node`, unless it is on another host. torchrun numbers the nodes itself, so there
         is no PET_NODE_RANK, and no PET_MASTER_*. A gang starts with the least number of nodes.
Source   trainc's own (difference extensions). The fields, the variables and their order are those of PyTorchJob in
         kubeflow/training-operator v1.7.0. It left PET_STANDALONE empty, by which torchrun ends at once: it reads a
         number there (torch 2.13, argparse_util, check_env).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.frameworks.torch.torchrun import ELASTIC, PORT, injected, is_torchtune, processes
from trainc.plan import NODE, Plan, copied, value
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Place
    from trainc.kubernetes.trees import Tree

LEAST: Final = ("minNodes", "minReplicas")
MOST: Final = ("maxNodes", "maxReplicas")
"""The bounds in the words of Trainer, and in those of PyTorchJob."""
C10D: Final = "c10d"
ETCD: Final = ("etcd", "etcd-v2")


class Nodes(NamedTuple):
    """How few nodes train, how many at most, and how many pods there are."""

    least: int
    most: int
    pods: int


def apply(plan: Plan) -> Plan:
    """Put the rendezvous on the trainer's node container and on the containers of envInjection."""
    nodes = counted(plan)
    if plan.trainer is not None:
        plan = plan.with_count(plan.trainer, nodes.pods)._replace(needed=nodes.least)
    node, variables = plan.find(plan.trainer, NODE), rendezvous(plan)
    own = map(copied, plan.job.trainer.get("env") or [])
    ports = [] if "rdzvHost" in policy(plan) else [{"containerPort": port(plan)}]
    plan = plan.on(node, env=(*own, *variables), ports=ports)
    for _, _, slot in injected(plan):
        plan = plan.on(slot, env=variables)
    return plan


def policy(plan: Plan) -> Tree:
    """The elastic policy of a runtime that has one."""
    found: Tree = plan.runtime.settings[ELASTIC]
    return found


def counted(plan: Plan) -> Nodes:
    """The bounds: the policy's, else up to the TrainJob's count, or the runtime's, from one on.

    There are as many pods as the TrainJob says, else as many as may train.
    """
    asked = plan.job.trainer.get("numNodes")
    nodes = asked if asked is not None else (plan.runtime.policy or {}).get("numNodes", 1)
    least, most = bound(plan, LEAST, 1), bound(plan, MOST, nodes)
    return Nodes(least, most, most if asked is None else asked)


def bound(plan: Plan, spellings: tuple[str, str], default: int) -> int:
    """One of the bounds, however it is spelled."""
    return int(next((policy(plan)[name] for name in spellings if name in policy(plan)), default))


def port(plan: Plan) -> int:
    """The port of the rendezvous."""
    return int(policy(plan).get("rdzvPort", PORT))


def per_node(plan: Plan) -> str:
    """Processes per node: what the TrainJob says, else the policy, else what any torch job has."""
    if "numProcPerNode" not in plan.job.trainer and "nProcPerNode" in policy(plan):
        return str(policy(plan)["nProcPerNode"])
    return processes(plan)


def rendezvous(plan: Plan) -> tuple[Tree, ...]:
    """The variables by which torchrun finds the other nodes."""
    said, nodes = policy(plan), counted(plan)
    conf = ",".join(f"{entry['key']}={entry['value']}" for entry in said.get("rdzvConf") or ())
    variables = {
        "PET_RDZV_ENDPOINT": f"{said.get('rdzvHost', plan.endpoint())}:{port(plan)}",
        "PET_RDZV_BACKEND": said.get("rdzvBackend", C10D),
        "PET_NNODES": f"{nodes.least}:{nodes.most}",
        "PET_MAX_RESTARTS": said.get("maxRestarts"),
        "PET_NPROC_PER_NODE": per_node(plan),
        "PET_RDZV_ID": said.get("rdzvId"),
        "PET_RDZV_CONF": conf or None,
        "PET_STANDALONE": 1 if said.get("standalone") else None,
    }
    return tuple(value(name, text) for name, text in variables.items() if text is not None)


def at(plan: Plan, *path: str | int, key: bool = False) -> Place:
    """The place of a field of the policy."""
    return plan.runtime.at("spec", "mlPolicy", "torch", ELASTIC, *path, key=key)


def spelled(plan: Plan, *path: str | int) -> str:
    """The field of the policy in words."""
    from trainc.kubernetes.violations import field_of

    return field_of(("spec", "mlPolicy", "torch", ELASTIC, *path))


@check("elastic-nodes", stage="build", title="The node counts of an elastic policy contradict each other")
def contradicting_counts(plan: Plan) -> Iterator[Finding]:
    """The least number of nodes is not above the greatest, and the pods are as many as either or between them."""
    for one, other in (LEAST, MOST):
        both = [policy(plan)[name] for name in (one, other) if name in policy(plan)]
        if len(set(both)) > 1:
            yield Finding(
                message=f"{one} is {both[0]} and {other} is {both[1]}: they are two names of the same bound",
                help=f"keep {one}",
                field=spelled(plan, other),
                place=at(plan, other),
            )
            return
    least, most, pods = counted(plan)
    asked = "numNodes" in plan.job.trainer
    if least > most:
        said = next((name for name in LEAST if name in policy(plan)), LEAST[0])
        yield Finding(
            message=f"at least {least} nodes, and at most {most}",
            help=f"lower {said}, or raise maxNodes",
            field=spelled(plan, said),
            place=at(plan, said) if said in policy(plan) else at(plan, key=True),
        )
    elif asked and not least <= pods <= most:
        yield Finding(
            message=f'{pods} nodes, and runtime "{plan.runtime.id.name}" trains on {least} to {most}',
            help=f"set numNodes to {least if pods < least else most}"
            + (", or leave it out" if pods > most else "")
            + ", or change the runtime's elasticPolicy",
            field="spec.trainer.numNodes",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


@check("elastic-metrics", stage="build", severity="warning", title="An elastic policy has metrics, which scale nothing")
def unheard_metrics(plan: Plan) -> Iterator[Finding]:
    """PyTorchJob had an autoscaler made of them; autoscalers do not scale JobSets."""
    if "metrics" in policy(plan):
        yield Finding(
            message="elasticPolicy.metrics scale nothing: a JobSet is not scaled by metrics",
            help="leave them out, and say the number of pods in trainer.numNodes",
            field=spelled(plan, "metrics"),
            place=at(plan, "metrics", key=True),
        )


@check("elastic-rdzv-conf", stage="build", title="An option of the rendezvous that torchrun cannot take apart")
def unreadable_options(plan: Plan) -> Iterator[Finding]:
    """The options are joined to key=value,key=value, and torchrun has no way to quote."""
    for index, entry in enumerate(policy(plan).get("rdzvConf") or ()):
        key, text = entry["key"], entry["value"]
        if not key.strip() or set(key) & {"=", ","}:
            fault, wrong = "key", f'option "{key}" of rdzvConf has no name, or one with = or ,'
        elif not text.strip() or "," in text:
            fault, wrong = "value", f'option "{key}" of rdzvConf has an empty value, or one with a comma'
        else:
            continue
        yield Finding(
            message=f"{wrong}, and torchrun reads key=value,key=value",
            help="write one option an entry",
            field=spelled(plan, "rdzvConf", index, fault),
            place=at(plan, "rdzvConf", index, fault),
        )


@check("elastic-backend", stage="build", severity="warning", title="An elastic job has no rendezvous to meet at")
def unfit_backend(plan: Plan) -> Iterator[Finding]:
    """Torchrun's own backend runs in the first pod; etcd is a server of its own, and `static` knows no elastic jobs."""
    backend = policy(plan).get("rdzvBackend", C10D)
    if backend == "static":
        wrong, way_out = "takes a fixed number of numbered nodes", f"leave rdzvBackend out: {C10D} needs no server"
    elif backend in ETCD and "rdzvHost" not in policy(plan):
        wrong, way_out = "needs a server, and rdzvHost does not say which", "name the host of the server in rdzvHost"
    else:
        return
    yield Finding(
        message=f"rdzvBackend {backend} {wrong}",
        help=way_out,
        field=spelled(plan, "rdzvBackend"),
        place=at(plan, "rdzvBackend"),
    )


@check("elastic-standalone", stage="build", severity="warning", title="Several nodes that are told to stand alone")
def lonely_nodes(plan: Plan) -> Iterator[Finding]:
    """With `standalone`, torchrun meets nobody but itself, whatever the endpoint says."""
    least, _, pods = counted(plan)
    if policy(plan).get("standalone") and max(least, pods) > 1:
        waits = f"each waits for {least} and finds itself alone" if least > 1 else "each of them trains alone"
        yield Finding(
            message=f"standalone, and {pods} nodes: {waits}",
            help="leave standalone out, or train on one node",
            field=spelled(plan, "standalone"),
            place=at(plan, "standalone"),
        )


@check("elastic-torchtune", stage="build", title="torchtune on a runtime with an elastic policy")
def elastic_torchtune(plan: Plan) -> Iterator[Finding]:
    """The command that torchtune needs is made for a fixed number of nodes."""
    if is_torchtune(plan):
        yield Finding(
            message=f'runtime "{plan.runtime.id.name}" has an elasticPolicy, and torchtune trains on a fixed number',
            help="take elasticPolicy out of the runtime, or use another one",
            field="spec.trainer.command",
            place=plan.job.at("spec", "trainer", "command"),
        )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (
    contradicting_counts,
    unheard_metrics,
    unreadable_options,
    unfit_backend,
    lonely_nodes,
    elastic_torchtune,
)
