"""Literal numbers of nodes, beside a number of nodes that the job has.

Without a policy that sets them, variables have the number of pods at the time when they were written. Jobs whose
containers have another rendezvous address are groups of their own.

Source: torch 2.13 (WORLD_SIZE is the number of processes, PET_NNODES that of nodes, or a range of them); TensorFlow
2.20, TF_CONFIG: the evaluator is in no cluster; PaddlePaddle 3.1, PADDLE_NNODES; accelerate 1.10, `--num_machines`;
deepspeed 0.17, `--num_nodes`: the first hosts of the hostfile.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import runs
from trainc.kubernetes.trees import get
from trainc.pipeline.frameworks import traits
from trainc.pipeline.lint import lint_rule, stored, variables
from trainc.pipeline.lint.triggers import writes_cluster
from trainc.pipeline.plan import PROCESSES, gpus
from trainc.pipeline.training import ADDRESSES, has_policy, mains_of, node_range, nodes, training, training_traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Path
    from trainc.kubernetes.commands import Lookup, Word
    from trainc.kubernetes.container_environment import ContainerEnvironment
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

NODES: Final = frozenset({"NNODES", "PADDLE_NNODES", "PET_NNODES", "NUM_PROCESSES"})
"""The variables with a number of nodes; NUM_PROCESSES is that of a JAXJob."""
WORLD: Final = "WORLD_SIZE"
CLUSTERS: Final = ("TF_CONFIG", "MX_CONFIG")
"""The variables with the hosts of each role."""
EVALUATOR: Final = "evaluator"
REFERENCE: Final = re.compile(r"\$\([A-Za-z_]\w*\)")
FLAGS: Final = {"accelerate": "num-machines", "accelerate.commands.launch": "num-machines", "deepspeed": "num-nodes"}
"""The programs and modules that start processes on several nodes, with the flag that says on how many."""


class Rendezvous:
    """The pods that find one another by the same address."""

    def __init__(self) -> None:
        self.pods = 0
        self.evaluators = 0


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the variables and flags whose number of nodes is not that of the pods that train."""
    groups = dict[str, Rendezvous]()
    found: list[tuple[Path, Tree, ContainerEnvironment, Rendezvous]] = []
    for slot in mains_of(plan, training(plan)):
        container: Tree = get(stored(plan), slot.path, {})
        env = variables(plan, slot.path, container)
        for variable in container.get("env") or ():
            if variable["name"] in CLUSTERS and env.known(variable["name"]) is None:
                env.variables[variable["name"]] = variable.get("value") or ""  # its index is known to the pod alone
        if writes_cluster(plan):
            env.variables.pop(CLUSTERS[0], None)
        group = groups.setdefault("" if has_policy(plan) else address(env), Rendezvous())
        group.pods += plan.pods(slot.job)
        group.evaluators += plan.pods(slot.job) if role(env) == EVALUATOR else 0
        found.append((slot.path, container, env, group))
    for path, container, env, group in found:
        count = hosts(plan) if has_policy(plan) else group.pods
        yield from in_variables(path, container, env, count, group.evaluators)
        for flag, value, word in flags(container, env.known):
            if value != count:
                yield LintFinding(
                    "literal-node-count", (*path, *word.path), (f"--{flag}", str(value), str(count)), part=word.part
                )


def hosts(plan: Plan) -> int:
    """Return the number of nodes of a plan with a policy: with a launcher, those of the hostfile."""
    if not traits(plan.runtime).launcher:
        return nodes(plan)
    from trainc.pipeline.frameworks.mpi import host_count

    return host_count(plan)


def address(env: ContainerEnvironment) -> str:
    """Return the address of the rendezvous as it is written; empty without one."""
    cluster = cluster_of(env)
    if cluster is not None:
        return json.dumps(cluster, sort_keys=True)
    return next((text for name in sorted(ADDRESSES) if (text := env.known(name))), "")


def configuration(env: ContainerEnvironment) -> Any:
    """Return TF_CONFIG or MX_CONFIG; None if it is not set, not known, or not JSON."""
    text = next((env.variables[name] for name in CLUSTERS if name in env.variables), None)
    try:
        return json.loads(REFERENCE.sub("0", text)) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def cluster_of(env: ContainerEnvironment) -> dict[str, Any] | None:
    """Return the cluster in TF_CONFIG or MX_CONFIG: the hosts of each role."""
    config = configuration(env)
    found = config.get("cluster") if isinstance(config, dict) else None
    return found if isinstance(found, dict) and all(isinstance(each, list) for each in found.values()) else None


def role(env: ContainerEnvironment) -> str:
    """Return the role of a container in TF_CONFIG, or an empty string."""
    found = get(configuration(env), ("task", "type"))
    return found.lower() if isinstance(found, str) else ""


def in_variables(
    path: Path, container: Tree, env: ContainerEnvironment, count: int, evaluators: int
) -> Iterator[LintFinding]:
    """Yield the variables of a container with another number than `count`."""
    cluster = cluster_of(env)
    for index, variable in enumerate(container.get("env") or ()):
        name, written = variable["name"], variable.get("value")
        text = env.known(name) if written else None
        if written and name in CLUSTERS and name in env.variables and cluster is not None:
            known = sum(len(each) for key, each in cluster.items() if key.lower() != EVALUATOR)
            number = "" if known in (0, count - evaluators) else str(known)
        elif text is not None and (found := node_range(text)):
            least, most = found
            fits = (
                least <= count <= most or least > most
                if name in NODES
                else name != WORLD or least in sizes(container, env, count)
            )
            number = "" if fits else text
        else:
            continue
        if number:
            yield LintFinding("literal-node-count", (*path, "env", index, "value"), (name, number, str(count)))


def sizes(container: Tree, env: ContainerEnvironment, count: int) -> set[int]:
    """Return the numbers of processes of all nodes: one process per node, one per GPU, or as many as torchrun starts.

    Of one node without the address of a rendezvous, any number: its program starts the processes.
    """
    per_node = env.known(PROCESSES) or ""
    processes = int(per_node) if per_node.isdecimal() and len(per_node) < 10 else 1
    found = {count, count * processes, count * gpus(container.get("resources") or {})}
    is_alone = count == 1 and ADDRESSES.isdisjoint(env.variables)
    return found | {int(env.known(WORLD) or 0)} if is_alone else found


def flags(container: Tree, lookup: Lookup) -> Iterator[tuple[str, int, Word]]:
    """Yield the flag of a launcher with a number of nodes, the number, and the word that has it."""
    words = runs(container, frozenset(FLAGS), lookup)
    program = next(iter(words), None)
    flag = FLAGS.get(program.text.rpartition("/")[2], "") if program else ""
    for at, word in enumerate(words[1:], start=1):
        name, equals, value = word.text.lstrip("-").partition("=")
        if word.text.startswith("--") and name.replace("_", "-") == flag:
            holder = word if equals or at + 1 == len(words) else words[at + 1]
            value = value if equals else holder.text
            if value.isdecimal() and len(value) < 10:
                yield name, int(value), holder
        elif not word.text.startswith("-") and word.text.endswith(".py"):
            return  # the flags after the script are its own


@lint_rule("literal-node-count")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The nodes wait for nodes that do not exist, or train without some of them."""
    name, number, count = finding.what
    from trainc.base.texts import plural

    field, few = training_traits(plan).nodes_field, int(count)
    if name.startswith("--"):
        message, change = f"the program gets {name}={number}", f"write {name}={count}"
    elif name in CLUSTERS:
        message, change = f"the cluster in {name} has {plural(int(number), 'host')}", "write the host of each pod"
    elif ":" in number and plan.job.is_legacy:
        least, most = number.split(":")
        message, change = f"elasticPolicy allows {least} to {most} nodes", "change minReplicas and maxReplicas"
    else:
        message, change = f'{name} is "{number}"', f'write "{count}"'
        if name == WORLD:
            change = f"{change}, or the number of processes"
    return Finding(
        message=f"{message}, but the {plan.job.word} has {plural(few, 'node')}", help=f"{change}, or change {field}"
    )
