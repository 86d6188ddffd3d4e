"""Torch GPU processes that have only 64 MiB of shared memory in total.

Source: the default /dev/shm of a container runtime (64 MiB); NCCL 2.28, which passes data between the GPUs of a node
through /dev/shm if they cannot reach one another directly. Gloo, on CPUs, does not use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
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


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the trainers that run several GPU processes in a container without a volume at /dev/shm."""
    for slot in main_slots(plan) if training_traits(plan).family == "torch" else ():
        pod = pod_at(plan, slot.job)
        if not plan.counts[slot.job] or pod.get("hostIPC"):
            continue
        container = pod["containers"][slot.at]
        count = processes(container)
        if count > 1 and not any(shared_memory(mount) for mount in container.get("volumeMounts") or ()):
            yield LintFinding("no-shared-memory", (*slot.path, "volumeMounts"))


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


@lint_rule("no-shared-memory", "Several GPUs without shared memory")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """NCCL and data loaders pass data through /dev/shm. When it is full, they fail late, or with `Bus error`."""
    job, at = int(finding.path[1]), int(finding.path[-2])
    count = processes(pod_at(plan, job)["containers"][at])
    return Finding(
        message=f'{count} GPU processes in a pod of job "{plan.jobs[job]["name"]}" have only 64 MiB of shared memory '
        "in total: nothing is mounted at /dev/shm",
        help="mount a volume `emptyDir: {medium: Memory}` at /dev/shm",
    )
