"""Flags of torchrun that contradict the TrainJob.

Source: torch 2.13, distributed.run: a flag takes precedence over its variable PET_*, which the torch policy sets; the
flags end at the script. The policy's values: kubeflow/trainer v2.3.0.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import Word, runs
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.lint import lint_rule, stored, variables
from trainc.pipeline.plan import PROCESSES, gpus
from trainc.pipeline.training import TORCHRUN, has_policy, main_slots, node_range, nodes, training_traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.container_environment import ContainerEnvironment
    from trainc.pipeline.plan import Plan

SWITCHES: Final = frozenset({"standalone", "no-python", "m", "module", "run-path", "use-env", "virtual-local-rank"})
"""The flags without a value."""
VALUES: Final = frozenset(
    {
        *("nnodes", "nproc-per-node", "rdzv-backend", "rdzv-endpoint", "rdzv-id", "rdzv-conf", "max-restarts"),
        *("monitor-interval", "start-method", "role", "log-dir", "r", "redirects", "t", "tee", "node-rank"),
        *("master-addr", "master-port", "local-addr", "local-ranks-filter", "logs-specs", "numa-binding"),
        *("event-log-handler", "signals-to-handle"),
    }
)
"""The flags with a value. The value of any other flag is unknown, unless `=` precedes it."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the flags in the trainer's command whose values are known and differ from the plan's."""
    count = nodes(plan) if training_traits(plan).family == "torch" else 0
    if not count:
        return
    for slot in main_slots(plan):
        container: Tree = get(stored(plan), slot.path, {})
        env = variables(plan, slot.path, container)
        for (name, value), word in flags(runs(container, TORCHRUN, env.known)[1:]).items():
            if conflict := flag_conflict(plan, container, env, count, name, value):
                written = get(container, word.path)[slice(*word.part or (None,))]
                of_variable = f" ({written})" if "$" in written else ""
                what = (name, "" if name == "standalone" else f"{value}{of_variable}", *conflict)
                yield LintFinding("torchrun-flags", (*slot.path, *word.path), what, part=word.part)


def flags(command: list[Word]) -> dict[tuple[str, str], Word]:
    """Return the literal flags before the script, with the word of each; of repeated flags, the last."""
    found: dict[str, tuple[str, Word]] = {}
    at = 0
    while at < len(command) and (text := command[at].text).startswith("-") and text != "--":
        name, equals, value = text.lstrip("-").partition("=")
        name, word = name.replace("_", "-"), command[at]
        at += 1
        if not equals and name in VALUES and at < len(command):
            value, word = command[at].text, command[at]
            at += 1
        elif not equals and name not in SWITCHES:
            break
        found[name] = (value, word)
    return {(name, value): word for name, (value, word) in found.items() if "$" not in value and "`" not in value}


def flag_conflict(
    plan: Plan, container: Tree, env: ContainerEnvironment, count: int, name: str, value: str
) -> tuple[str, str] | None:
    """Return the conflict of a flag with the plan, as the reason and its field, or None."""
    if name == "nnodes":
        return node_conflict(plan, env, count, value)
    if name == "nproc-per-node":
        return process_conflict(plan, container, env, value)
    if count < 2:
        return None
    if name == "standalone":
        return f"{nodes_of(plan, count)}, which then do not find each other", ""
    if name == "node-rank" and value.isdecimal():
        return f"{nodes_of(plan, count)}, which then all have this rank", "PET_NODE_RANK"
    first = env.known("PET_MASTER_ADDR")
    if name == "master-addr" and first and is_elsewhere(value, first):
        return f"the first node is {first}", "PET_MASTER_ADDR"
    if name == "rdzv-endpoint" and (value.rpartition(":")[0] or value).strip("[]") in LOOPBACK:
        return f"{nodes_of(plan, count)}, which then do not find each other", ""
    return None


def node_conflict(plan: Plan, env: ContainerEnvironment, count: int, value: str) -> tuple[str, str] | None:
    """Return the conflict of the number of nodes with that of the plan, or with its range for elastic training."""
    given, wanted = node_range(value), node_range(env.known("PET_NNODES") or "")
    if given is None or (wanted is None and has_policy(plan)):
        return None
    if wanted is not None and wanted[0] < wanted[1] and given != wanted:
        return f"PET_NNODES allows {wanted[0]} to {wanted[1]} nodes", "elasticPolicy"
    return None if given[0] <= count <= given[1] else (nodes_of(plan, count), training_traits(plan).nodes_field)


def nodes_of(plan: Plan, count: int) -> str:
    """Return the number of nodes with its noun."""
    from trainc.base.texts import plural

    return f"the {plan.job.word} has {plural(count, 'node')}"


def process_conflict(plan: Plan, container: Tree, env: ContainerEnvironment, value: str) -> tuple[str, str] | None:
    """Return the conflict of the processes per node with numProcPerNode, else with the GPUs, or None.

    One process can use several GPUs. Processes on CPUs have a default that the user did not choose.
    """
    count = node_range(value)
    if count is None or ":" in value:
        return None
    wanted = node_range(env.known(PROCESSES) or "")
    field = training_traits(plan).processes_field
    is_set = plan.job.processes is not None or field in plan.runtime.settings or field == PROCESSES
    if is_set and wanted is not None:
        return None if wanted == count else (f"{field} is {wanted[0]}", field)
    devices = gpus(container.get("resources") or {})
    if devices < 1 or count[0] in (1, devices):
        return None
    from trainc.base.texts import plural

    return f"a node has {plural(devices, 'GPU')}", "resourcesPerNode"


def is_elsewhere(host: str, endpoint: str) -> bool:
    """Return whether a host is certainly not the first node: the loopback, a fixed address, another pod's name.

    >>> is_elsewhere("localhost", "j-node-0-0.j"), is_elsewhere("j-node-0-0.j.ml.svc", "j-node-0-0.j")
    (True, False)
    """
    if host in LOOPBACK:
        return True
    try:
        ip_address(host)
    except ValueError:
        return host.endswith(("-master-0", "-worker-0")) or (
            host.partition(".")[0].endswith("-0-0") and not host.startswith(endpoint)
        )
    return True


@lint_rule("torchrun-flags")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The flag takes precedence over the variable that the torch policy sets, so the nodes wait for one another."""
    name, value, reason, source = finding.what
    known = training_traits(plan)
    if plan.job.is_jobset and name in PET:
        instead = "change the flag"
    elif not has_policy(plan):
        instead = (
            f"remove the flag if {PET[name]} is right" if name in PET else "give all nodes the address of the first"
        )
    elif name in PET:
        instead = f"remove the flag: torchrun reads {PET[name]}, which follows from the {plan.job.word}"
    else:
        instead = "remove the flag: torchrun reads the rendezvous from variables that the torch policy sets"
    change = f", or change {source}" if source in (known.nodes_field, known.processes_field, "elasticPolicy") else ""
    return Finding(
        message=f"torchrun gets --{name}{value and '='}{value}, but {reason}",
        help=instead + change,
    )


PET: Final = {
    "nnodes": "PET_NNODES",
    "nproc-per-node": "PET_NPROC_PER_NODE",
    "master-addr": "PET_MASTER_ADDR",
    "node-rank": "PET_NODE_RANK",
}
"""The variables of flags."""
