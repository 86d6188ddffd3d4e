"""Elastic torchrun: configure training on a variable number of nodes, between a minimum and a maximum.

Reads    mlPolicy.torch.elasticPolicy, mlPolicy.numNodes; trainer.numNodes, .numProcPerNode, .resourcesPerNode, .env.
Adds     PET_RDZV_ENDPOINT, PET_RDZV_BACKEND, PET_NNODES=min:max, PET_NPROC_PER_NODE, and, if the policy sets them,
         PET_MAX_RESTARTS, PET_RDZV_ID, PET_RDZV_CONF, PET_STANDALONE, to the containers that get torchrun's variables;
         the rendezvous port to `node`, unless the endpoint is on another host. torchrun assigns the ranks itself, so
         there is no PET_NODE_RANK, and no PET_MASTER_*. A gang starts with the minimum number of nodes.
Source   trainc's own (difference extensions). The fields, the variables and their order are those of PyTorchJob in
         kubeflow/training-operator v1.7.0. It set PET_STANDALONE to an empty string, with which torchrun exits at once,
         because it expects a number (torch 2.13, argparse_util, check_env).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.diagnostics import Finding
from trainc.pipeline.checks import Check, check
from trainc.pipeline.frameworks.torch.torchrun import ELASTIC, PORT, injected, is_torchtune, processes
from trainc.pipeline.plan import NODE, Plan, copied, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Place
    from trainc.kubernetes.trees import Tree

LEAST: Final = ("minNodes", "minReplicas")
MOST: Final = ("maxNodes", "maxReplicas")
"""The names of the bounds in Trainer's terms, and in PyTorchJob's."""
C10D: Final = "c10d"
ETCD: Final = ("etcd", "etcd-v2")


class Nodes(NamedTuple):
    """The minimum and maximum number of nodes, and the number of pods."""

    least: int
    most: int
    pods: int


def apply(plan: Plan) -> Plan:
    """Add the rendezvous variables to the trainer's `node` container and to the containers of envInjection."""
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
    """Return the elastic policy of a runtime that has one."""
    found: Tree = plan.runtime.settings[ELASTIC]
    return found


def counted(plan: Plan) -> Nodes:
    """Return the bounds and the number of pods.

    The default minimum is one; the default maximum is numNodes of the TrainJob, else of the runtime. The number of pods
    is the TrainJob's numNodes, else the maximum.
    """
    requested = plan.job.trainer.get("numNodes")
    nodes = requested if requested is not None else (plan.runtime.policy or {}).get("numNodes", 1)
    least, most = bound(plan, LEAST, 1), bound(plan, MOST, nodes)
    return Nodes(least, most, most if requested is None else requested)


def bound(plan: Plan, spellings: tuple[str, str], default: int) -> int:
    """Return one of the bounds, under either of its names."""
    return int(next((policy(plan)[name] for name in spellings if name in policy(plan)), default))


def port(plan: Plan) -> int:
    """Return the rendezvous port."""
    return int(policy(plan).get("rdzvPort", PORT))


def per_node(plan: Plan) -> str:
    """Return the processes per node of the TrainJob, else of the policy, else the default of torch jobs."""
    if plan.job.processes is None and "nProcPerNode" in policy(plan):
        return str(policy(plan)["nProcPerNode"])
    return processes(plan)


def rendezvous(plan: Plan) -> tuple[Tree, ...]:
    """Return the variables by which torchrun finds the other nodes."""
    elastic, nodes = policy(plan), counted(plan)
    conf = ",".join(f"{entry['key']}={entry['value']}" for entry in elastic.get("rdzvConf") or ())
    variables = {
        "PET_RDZV_ENDPOINT": f"{elastic.get('rdzvHost', plan.endpoint())}:{port(plan)}",
        "PET_RDZV_BACKEND": elastic.get("rdzvBackend", C10D),
        "PET_NNODES": f"{nodes.least}:{nodes.most}",
        "PET_MAX_RESTARTS": elastic.get("maxRestarts"),
        "PET_NPROC_PER_NODE": per_node(plan),
        "PET_RDZV_ID": elastic.get("rdzvId"),
        "PET_RDZV_CONF": conf or None,
        "PET_STANDALONE": 1 if elastic.get("standalone") else None,
    }
    return tuple(value(name, text) for name, text in variables.items() if text is not None)


def policy_place(plan: Plan, *path: str | int, key: bool = False) -> Place:
    """Return the place of a field of the policy."""
    return plan.runtime.at("spec", "mlPolicy", "torch", ELASTIC, *path, key=key)


def cluster_field(plan: Plan, *path: str | int) -> str:
    """Return the path of a field of the policy, for a diagnostic."""
    from trainc.kubernetes.violations import field_of

    return field_of(("spec", "mlPolicy", "torch", ELASTIC, *path))


@check("elastic-nodes", phase="build", trainc_only=True)
def contradicting_counts(plan: Plan) -> Iterator[Finding]:
    """The minimum number of nodes must not exceed the maximum, and the number of pods must be within both."""
    for one, other in (LEAST, MOST):
        both = [policy(plan)[name] for name in (one, other) if name in policy(plan)]
        if len(set(both)) > 1:
            yield Finding(
                message=f"{one} is {both[0]} and {other} is {both[1]}, but they are two names of the same bound",
                help=f"keep only {one}",
                field=cluster_field(plan, other),
                place=policy_place(plan, other),
            )
            return
    least, most, pods = counted(plan)
    requested = "numNodes" in plan.job.trainer
    if least > most:
        name = next((name for name in LEAST if name in policy(plan)), LEAST[0])
        yield Finding(
            message=f"the minimum of {least} nodes exceeds the maximum of {most}",
            help=f"lower {name}, or raise maxNodes",
            field=cluster_field(plan, name),
            place=policy_place(plan, name) if name in policy(plan) else policy_place(plan, key=True),
        )
    elif requested and not least <= pods <= most:
        yield Finding(
            message=f'numNodes must be from {least} to {most} for runtime "{plan.runtime.id.name}", not {pods}',
            help=f"set numNodes to {least if pods < least else most}"
            + (", or remove it" if pods > most else "")
            + ", or change the runtime's elasticPolicy",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


@check("elastic-metrics", phase="build", severity="warning", trainc_only=True)
def unused_metrics(plan: Plan) -> Iterator[Finding]:
    """PyTorchJob created an autoscaler from them; autoscalers do not scale JobSets."""
    if "metrics" in policy(plan):
        yield Finding(
            message="elasticPolicy.metrics has no effect: autoscalers do not scale JobSets",
            help="remove it, and set the number of pods in trainer.numNodes",
            field=cluster_field(plan, "metrics"),
            place=policy_place(plan, "metrics", key=True),
        )


@check("elastic-rdzv-conf", phase="build", trainc_only=True)
def unreadable_options(plan: Plan) -> Iterator[Finding]:
    """The options are joined to key=value,key=value, and torchrun supports no quoting."""
    for index, entry in enumerate(policy(plan).get("rdzvConf") or ()):
        key, text = entry["key"], entry["value"]
        if not key.strip() or set(key) & {"=", ","}:
            field, message = "key", f'the key "{key}" in rdzvConf must not be empty or contain = or ,'
        elif not text.strip() or "," in text:
            field, message = "value", f'the value of option "{key}" in rdzvConf must not be empty or contain a comma'
        else:
            continue
        yield Finding(
            message=f"{message}: torchrun reads key=value,key=value",
            help="use one entry per option",
            field=cluster_field(plan, "rdzvConf", index, field),
            place=policy_place(plan, "rdzvConf", index, field),
        )


@check("elastic-backend", phase="build", severity="warning", trainc_only=True)
def unfit_backend(plan: Plan) -> Iterator[Finding]:
    """Torchrun's own backend runs in the first pod, etcd needs a server, and `static` does not support elastic jobs."""
    backend = policy(plan).get("rdzvBackend", C10D)
    if backend == "static":
        fault, hint = "requires a fixed number of nodes with ranks", f"remove rdzvBackend: {C10D} needs no server"
    elif backend in ETCD and "rdzvHost" not in policy(plan):
        fault, hint = "requires a server, but rdzvHost is not set", "set rdzvHost to the server's host name"
    else:
        return
    yield Finding(
        message=f"rdzvBackend {backend} {fault}",
        help=hint,
        field=cluster_field(plan, "rdzvBackend"),
        place=policy_place(plan, "rdzvBackend"),
    )


@check("elastic-standalone", phase="build", severity="warning", trainc_only=True)
def standalone_nodes(plan: Plan) -> Iterator[Finding]:
    """With `standalone`, each torchrun starts its own rendezvous, whatever the endpoint is."""
    least, _, pods = counted(plan)
    if policy(plan).get("standalone") and max(least, pods) > 1:
        effect = f"each waits for {least} nodes but finds only itself" if least > 1 else "each trains separately"
        yield Finding(
            message=f"standalone is set for {pods} nodes: {effect}",
            help="remove standalone, or train on one node",
            field=cluster_field(plan, "standalone"),
            place=policy_place(plan, "standalone"),
        )


@check("elastic-torchtune", phase="build", trainc_only=True)
def elastic_torchtune(plan: Plan) -> Iterator[Finding]:
    """torchtune's command is for a fixed number of nodes."""
    if is_torchtune(plan):
        yield Finding(
            message=f'torchtune requires a fixed number of nodes, but runtime "{plan.runtime.id.name}" has an '
            "elasticPolicy",
            help="remove elasticPolicy from the runtime, or use another runtime",
            place=plan.job.at("spec", "trainer", "command"),
        )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (
    contradicting_counts,
    unused_metrics,
    unreadable_options,
    unfit_backend,
    standalone_nodes,
    elastic_torchtune,
)
