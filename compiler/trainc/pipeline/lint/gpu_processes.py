"""Another number of processes per node than the node has accelerators.

Source: kubeflow/trainer v2.3.0, the plugins torch, mpi and xgboost: without numProcPerNode they count the processes
from trainer.resourcesPerNode alone if it is set, and only resources with `gpu` in the name; torch then counts CPUs.
The pods have the resources of the runtime, too (kubeflow/trainer#3974). NCCL 2.28, which rejects two ranks on one GPU
(pytorch/pytorch#68666).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.base.trainjob_dialects import TrainJobForm
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import program, words
from trainc.kubernetes.pod_resources import Accelerators, accelerators
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.frameworks import framework_of, traits
from trainc.pipeline.lint import lint_rule, pod_at, stored
from trainc.pipeline.lint.device_count import MOST
from trainc.pipeline.plan import PROCESSES, gpus
from trainc.pipeline.training import has_policy, mains_of, training, training_traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Place
    from trainc.pipeline.plan import Plan, Slot

WITHOUT_VARIABLES: Final = re.compile(r"python[0-9.]*|accelerate|colossalai|deepspeed|horovodrun|mpirun|ray")
"""Programs that do not read the variables of torchrun."""
XGBOOST: Final = "XGBoost"
"""The starter whose count no field sets."""
LONGEST: Final = 9
"""Digits. A longer count is larger than any number of devices."""


class Count(NamedTuple):
    """The processes that a framework starts on a node."""

    processes: int
    is_written: bool
    """Whether numProcPerNode sets them."""
    starter: str


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the containers whose accelerators do not fit the number of processes."""
    is_torch = training_traits(plan).family == "torch"
    for slot in mains_of(plan, jobs(plan)):
        if not plan.counts[slot.job] or pod_at(plan, slot.job).get("resourceClaims"):
            continue
        container: Tree = get(stored(plan), slot.path, {})
        found = accelerators(container.get("resources") or {})
        count = torchrun_count(plan, container) if is_torch else processes(plan)
        if found is None or count is None or found.number >= MOST or fits(count, found):
            continue
        what = (
            str(count.processes) if count.processes < MOST else "over a million",
            "written" if count.is_written else "",
            count.starter,
            str(found.number),
            found.name,
        )
        path = devices = device_path(container, slot, found.name)
        if is_of_variable(plan):
            names = [item["name"] for item in container["env"]]
            path = (*slot.path, "env", names.index(PROCESSES), "value")
        explains = count.is_written or "resourcesPerNode" in plan.job.trainer
        yield LintFinding("gpu-processes", path, what, related=(("the devices", devices),) if explains else ())


def jobs(plan: Plan) -> list[int]:
    """Return the jobs in whose pods the processes run."""
    if not has_policy(plan):
        return training(plan)
    node = plan.named(traits(plan.runtime).node)
    return list(plan.trainers()) if node is None else [node]


def processes(plan: Plan) -> Count | None:
    """Return the processes per node that follow from the TrainJob and its runtime; None if something else counts."""
    count = framework_of(plan).counted_processes(plan)
    return None if count is None else Count(count, is_written=False, starter=traits(plan.runtime).starter)


def torchrun_count(plan: Plan, container: Tree) -> Count | None:
    """Return the processes that torchrun starts by its variable; None if the command does not read it."""
    from trainc.pipeline.frameworks.torch.torchrun import num_proc_per_node

    text = next((item.get("value") or "" for item in container.get("env") or () if item["name"] == PROCESSES), "")
    if not text.isdecimal() or not reads_variable(container):
        return None
    count = int(text) if len(text) <= LONGEST else MOST
    word = text if is_of_variable(plan) else num_proc_per_node(plan)
    return None if word == "cpu" else Count(count, is_written=word != "auto", starter="torchrun")


def reads_variable(container: Tree) -> bool:
    """Return whether the command may run torchrun without its own number of processes.

    The program of an image, and what a shell runs, are unknown.
    """
    command = [word.text for word in words(container)]
    if any("nproc" in word for word in (*command, *(container.get("args") or ()))):
        return False
    runs_torchrun = any("torchrun" in word or "torch.distributed" in word for word in command)
    return runs_torchrun or not command or not WITHOUT_VARIABLES.fullmatch(program(command[0]))


def fits(count: Count, devices: Accelerators) -> bool:
    """Return whether the processes use all accelerators, and each process has one.

    A count of one is right if it is written: the process uses all accelerators.
    """
    return count.processes in devices.processes or (count.is_written and count.processes < 2)


def device_path(container: Tree, slot: Slot, name: str) -> tuple[str | int, ...]:
    """Return the path of the amount of a resource in a container."""
    key = next(key for key in ("limits", "requests") if name in (get(container, ("resources", key)) or {}))
    return (*slot.path, "resources", key, name)


@lint_rule("gpu-processes")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """Too few processes leave accelerators idle, and two processes on one fail."""
    text, written, starter, number, name = finding.what
    field, many = training_traits(plan).processes_field, "process" if text == "1" else "processes"
    value = f'"{number}"' if field in ("nprocPerNode", PROCESSES) else number  # a string in a PyTorchJob
    fault = f"{starter} starts {text} {many} on each node with {number} {name}"
    if written:
        more = "NCCL rejects two processes on one GPU" if "gpu" in name else "a device takes one process"
        too_many = not text.isdecimal() or int(text) > int(number)
        reason = more if too_many else "the other devices are idle"
        return Finding(message=f"{fault}: {reason}", help=f"set `{field}: {value}`", place=written_at(plan))
    given = plan.job.trainer.get("resourcesPerNode")
    helps = () if starter == XGBOOST else (f"set `{field}: {value}`",)
    if "gpu" not in name.lower():
        reason = 'Trainer counts only resources with "gpu" in the name'
    elif given is None or gpus(given):
        reason = "Trainer counts the resources of another job"
    else:
        reason = "Trainer counts only those of resourcesPerNode"
        helps = (f"add `{name}: {number}` to its limits", *helps)
    place = None if given is None else plan.job.at("spec", "trainer", "resourcesPerNode")
    return Finding(message=f"{fault}: {reason}", help=", or ".join(helps) or "request GPUs", place=place)


def is_of_variable(plan: Plan) -> bool:
    """Return whether the variable leads to the field: a legacy kind's or, without a policy, the variable itself."""
    return plan.job.own_runtime is not None or not has_policy(plan)


def written_at(plan: Plan) -> Place | None:
    """Return the place of numProcPerNode; None if the variable leads to it."""
    if plan.job.processes is not None:
        return plan.job.at(*TrainJobForm.PROCESSES)
    if not is_of_variable(plan):
        return plan.runtime.at(*plan.runtime.processes_path)
    return None
