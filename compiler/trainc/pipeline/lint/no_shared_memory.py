"""Torch processes that have only 64 MiB of shared memory in total: several with GPUs, or the workers of a data loader.

Source: the default /dev/shm of a container runtime (64 MiB); NCCL 2.28, which passes data between the GPUs of a node
through /dev/shm if they cannot reach one another directly. Gloo, on CPUs, does not use it. PyTorch 2.9, the data
loader: its workers pass each batch through /dev/shm.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.texts import plural
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import LONGEST as LONGEST_COMMAND
from trainc.kubernetes.commands import words
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.lint.triggers import shared_memory
from trainc.pipeline.plan import gpus
from trainc.pipeline.training import main_slots, training_traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

LONGEST: Final = 9
"""Digits. No node starts as many processes as a longer count."""
LOADER: Final = re.compile(
    r"(?<![\w.-])(?:--)?(?:data(?:[-_.]?loader)?[-_.])?num[-_]workers[= ]([1-9][0-9]{0,3})(?![\w.])"
)
"""The option or the key of a program that starts workers of a data loader."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the trainers that run several GPU processes in a container without a volume at /dev/shm."""
    for slot in main_slots(plan) if training_traits(plan).family == "torch" else ():
        pod = pod_at(plan, slot.job)
        if not plan.counts[slot.job] or pod.get("hostIPC"):
            continue
        container = pod["containers"][slot.at]
        count, workers = processes(container), loader_workers(container)
        has_volume = any(shared_memory(mount) for mount in container.get("volumeMounts") or ())
        if (count > 1 or workers) and not has_volume:
            yield LintFinding("no-shared-memory", (*slot.path, "volumeMounts"))


def loader_workers(container: Tree) -> int:
    """Return the number of workers of a data loader, by the arguments of a command; 0 if it is unknown."""
    text = " ".join(word.text for word in words(container))[:LONGEST_COMMAND]
    found = LOADER.search(text)
    return int(found[1]) if found else 0


def processes(container: Tree) -> int:
    """Return how many GPU processes torchrun starts in a container, or 0 if that is unknown."""
    resources = container.get("resources") or {}
    devices = gpus(resources)
    for variable in container.get("env") or ():
        if variable["name"] == "PET_NPROC_PER_NODE":
            count = variable.get("value", "")
            if count in ("auto", "gpu"):
                return devices
            is_number = count.isdecimal() and len(count) <= LONGEST
            return int(count) if is_number and (devices or "claims" in resources) else 0
    return 0


@lint_rule("no-shared-memory")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """NCCL and data loaders pass data through /dev/shm. When it is full, they fail late, or with `Bus error`."""
    job, at = int(finding.path[1]), int(finding.path[-2])
    container = pod_at(plan, job)["containers"][at]
    count = processes(container)
    who = f"{count} GPU processes" if count > 1 else plural(loader_workers(container), "worker") + " of the data loader"
    return Finding(
        message=f'{who} in a pod of job "{plan.jobs[job]["name"]}" {"has" if who.startswith("1 ") else "have"} only '
        "64 MiB of shared memory in total: nothing is mounted at /dev/shm",
        help="mount a volume `emptyDir: {medium: Memory}` at /dev/shm",
    )
