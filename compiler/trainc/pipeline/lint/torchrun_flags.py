"""Flags of torchrun that contradict the TrainJob.

Source: torch 2.13, distributed.run: a flag takes precedence over its variable PET_*, which the torch policy sets; the
flags end at the script. The policy's values: kubeflow/trainer v2.3.0.
"""

from __future__ import annotations

from ipaddress import ip_address
from itertools import islice
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import Word, invocations, is_conditional, program, script, words
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.frameworks import traits
from trainc.pipeline.lint import lint_rule, main_slots, stored
from trainc.pipeline.plan import gpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

TORCHRUN: Final = "torchrun"
MODULES: Final = ("torch.distributed.run", "torch.distributed.launch")
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
    """Yield the flags in the trainer's command whose literal values differ from the plan's."""
    if traits(plan.runtime).family != "torch" or not plan.nodes:
        return
    for slot in main_slots(plan):
        container: Tree = get(stored(plan), slot.path, {})
        for (name, value), word in flags(launch(words(container))).items():
            meant = flag_conflict(plan, container, name, value)
            if meant is not None:
                what = (name, "" if name == "standalone" else value, *meant)
                yield LintFinding("torchrun-flags", (*slot.path, *word.path), what, part=word.part)


def launch(command: list[Word]) -> list[Word]:
    """Return the words after torchrun; none if it does not run, or runs under conditions."""
    if not command:
        return []
    inline = script(command)
    if inline is not None:
        runs = list(islice(invocations(inline, TORCHRUN), 2))
        return runs[0][1:] if len(runs) == 1 and not is_conditional(inline.text) else []
    if program(command[0].text) == TORCHRUN:
        return command[1:]
    is_module = len(command) > 2 and command[1].text == "-m" and command[2].text in MODULES
    return command[3:] if is_module and program(command[0].text).startswith("python") else []


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


def flag_conflict(plan: Plan, container: Tree, name: str, value: str) -> tuple[str, str] | None:
    """Return the conflict of a flag with the plan, as the reason and its field, or None."""
    variables = {variable["name"]: variable.get("value", "") for variable in container.get("env") or ()}
    if name == "nnodes":
        given, wanted = bounds(value), bounds(variables.get("PET_NNODES", ""))
        fits = given is None or wanted is None or given[0] <= plan.nodes <= given[1]
        return None if fits else (nodes_of(plan), traits(plan.runtime).nodes_field)
    if name == "nproc-per-node":
        return process_conflict(plan, container, variables, value)
    if plan.nodes < 2:
        return None
    if name == "standalone":
        return f"{nodes_of(plan)}, which then do not find each other", ""
    if name == "node-rank" and value.isdecimal():
        return f"{nodes_of(plan)}, which then all have this rank", "PET_NODE_RANK"
    if name == "master-addr" and "PET_MASTER_ADDR" in variables and is_elsewhere(value, variables["PET_MASTER_ADDR"]):
        return f"the first node is {variables['PET_MASTER_ADDR']}", "PET_MASTER_ADDR"
    if name == "rdzv-endpoint" and (value.rpartition(":")[0] or value).strip("[]") in LOOPBACK:
        return f"{nodes_of(plan)}, which then do not find each other", ""
    return None


def bounds(text: str) -> tuple[int, int] | None:
    """Return the least and most nodes of a flag or variable, or None if it is not a number or a range.

    >>> bounds("2"), bounds("1:4"), bounds("auto")
    ((2, 2), (1, 4), None)
    """
    least, colon, most = text.partition(":")
    both = (least, most if colon else least)
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in both):
        return None
    return int(both[0]), int(both[1])


def nodes_of(plan: Plan) -> str:
    """Return the number of nodes with its noun."""
    from trainc.base.texts import plural

    return f"the {plan.job.word} has {plural(plan.nodes, 'node')}"


def process_conflict(plan: Plan, container: Tree, variables: dict[str, str], value: str) -> tuple[str, str] | None:
    """Return the conflict of the processes per node with numProcPerNode, else with the GPUs, or None.

    One process can use several GPUs. Processes on CPUs have a default that the user did not choose.
    """
    count = bounds(value)
    if count is None or ":" in value:
        return None
    wanted = bounds(variables.get("PET_NPROC_PER_NODE", ""))
    field = traits(plan.runtime).processes_field
    is_set = plan.job.processes is not None or field in plan.runtime.settings
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


@lint_rule("torchrun-flags", "torchrun flag that contradicts the TrainJob")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The flag takes precedence over the variable that the torch policy sets, so the nodes wait for one another."""
    name, value, reason, source = finding.what
    known = traits(plan.runtime)
    instead = (
        f"remove the flag: torchrun reads {PET[name]}, which follows from the {plan.job.word}"
        if name in PET
        else ("remove the flag: torchrun reads the rendezvous from variables that the torch policy sets")
    )
    change = f", or change {source}" if source in (known.nodes_field, known.processes_field) else ""
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
