"""Torch GPU processes that share only 64 MiB of memory.

Source: the default /dev/shm of a container runtime (64 MiB); NCCL 2.28, which passes data between the GPUs of a node
through /dev/shm if they cannot reach one another directly. Gloo, on CPUs, does not use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.violations import field_of
from trainc.lint import pod_at
from trainc.lint.triggers import shared_memory
from trainc.plan import NODE, gpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the trainers that run several GPU processes in a container without a volume at /dev/shm."""
    for job in plan.trainers() if plan.runtime.framework == "torch" else ():
        pod, slot = pod_at(plan, job), plan.find(job, NODE)
        if slot is None or not plan.counts[job] or pod.get("hostIPC"):
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
            return devices if count in ("auto", "gpu") else int(count) if devices or "claims" in resources else 0
    return 0


@check("no-shared-memory", stage="lint", severity="warning", title="Several GPUs without shared memory", own=True)
def no_shared_memory(plan: Plan, finding: LintFinding) -> Iterator[Finding]:
    """NCCL and data loaders pass data through /dev/shm. When it is full, they fail late, or with `Bus error`."""
    job, at = int(finding.path[1]), int(finding.path[-2])
    count = processes(pod_at(plan, job)["containers"][at])
    yield Finding(
        message=f'{count} GPU processes in a pod of job "{plan.jobs[job]["name"]}" share only 64 MiB of memory: '
        "nothing is mounted at /dev/shm",
        help="mount a volume `emptyDir: {medium: Memory}` at /dev/shm",
        field=field_of(("spec", *finding.path)),
    )


CHECKS: Final[tuple[Check[[Plan, LintFinding]]]] = (no_shared_memory,)
