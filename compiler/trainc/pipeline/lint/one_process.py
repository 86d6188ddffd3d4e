"""Several GPUs on a node, but a command that starts one process.

Source: kubeflow/trainer v2.3.0, the torch policy: it sets the variables of torchrun, which starts the processes. The
variables PET_* have no effect without torchrun.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import Word, program, words
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.frameworks.torch.torchrun import num_proc_per_node
from trainc.pipeline.lint import lint_rule, stored
from trainc.pipeline.plan import PROCESSES, gpus
from trainc.pipeline.training import has_policy, main_slots, training_traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

PYTHON: Final = re.compile(r"python[0-9.]*")
STARTERS: Final = re.compile(
    r"multiprocessing|spawn|subprocess|Popen|fork|accelerate|deepspeed|lightning|fabric|ray|torchrun|DataParallel"
    r"|device_map|vllm|unsloth|torchtune|nemo|horovod|colossalai|distributed"
)
"""Words in the text of a program that starts processes itself, or uses all GPUs with one."""
OPTIONS: Final = frozenset({"-u", "-B", "-E", "-I", "-O", "-OO", "-s", "-S", "-q", "-v"})
"""Python's flags without a value."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the command of the trainer if it is Python with a script, and the node has several GPUs for processes."""
    if training_traits(plan).family != "torch":
        return
    for slot in main_slots(plan):
        container: Tree = get(stored(plan), slot.path, {})
        devices, command = gpus(container.get("resources") or {}), words(container)
        if devices > 1 and is_script(command) and wants_processes(plan, container):
            yield LintFinding("one-process", (*slot.path, *command[0].path), (str(devices),))


def is_script(command: list[Word]) -> bool:
    """Return whether a command runs Python with a script or a program text that starts no processes.

    A module (`-m`) is often a launcher.
    """
    if not command or not PYTHON.fullmatch(program(command[0].text)):
        return False
    rest = [word.text for word in command[1:] if word.text not in OPTIONS]
    if rest[:1] == ["-c"]:
        return len(rest) > 1 and not STARTERS.search(rest[1])
    return bool(rest) and rest[0].endswith(".py") and not any(STARTERS.search(word) for word in rest)


def wants_processes(plan: Plan, container: Tree) -> bool:
    """Return whether the policy plans several processes per node. A count of 1 is planned only if it is written."""
    counted = plan.job.own_runtime is None and has_policy(plan) and num_proc_per_node(plan) == "auto"
    for variable in container.get("env") or ():
        if variable["name"] == PROCESSES:
            return counted or variable.get("value") not in ("0", "1")
    return False


@lint_rule("one-process")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """A process of torch uses one GPU, unless its program distributes the work itself."""
    (devices,) = finding.what
    known = training_traits(plan)
    one = '"1"' if plan.job.own_runtime or known.processes_field == PROCESSES else "1"  # a string
    field = f"{known.processes_field}: {one}"
    return Finding(
        message=f"python starts one process for the {devices} GPUs of a node: only torchrun starts one per GPU",
        help=f"use torchrun instead of python; if the program uses all GPUs itself, set `{field}`",
    )
