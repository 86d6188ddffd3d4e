"""Torch processes with a GPU each that have 64 MiB to talk through.

Source: what a container runtime mounts at /dev/shm where nothing else is mounted (64 MiB); NCCL 2.28, which passes data
between the GPUs of a node through it where they cannot reach one another directly. Gloo, on CPUs, does not use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.violations import field_of
from trainc.lint import pod_at
from trainc.lint.signs import shared_memory
from trainc.plan import NODE, gpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.plan import Plan


def find(plan: Plan) -> Iterator[Regret]:
    """The trainers with several GPU processes in a container, and nothing of their own at /dev/shm."""
    for job in plan.trainers() if plan.runtime.framework == "torch" else ():
        pod, slot = pod_at(plan, job), plan.find(job, NODE)
        if slot is None or not plan.counts[job] or pod.get("hostIPC"):
            continue
        container = pod["containers"][slot.at]
        count = processes(container)
        if count > 1 and not any(shared_memory(mount) for mount in container.get("volumeMounts") or ()):
            yield Regret("no-shared-memory", (*slot.path, "volumeMounts"))


def processes(container: Tree) -> int:
    """How many processes with GPUs torchrun starts in a container; 0 where that is not known."""
    resources = container.get("resources") or {}
    there = gpus(resources)
    for variable in container.get("env") or ():
        if variable["name"] == "PET_NPROC_PER_NODE":
            said = variable.get("value", "")
            return there if said in ("auto", "gpu") else int(said) if there or "claims" in resources else 0
    return 0


@check("no-shared-memory", stage="lint", severity="warning", title="Several GPUs, and no shared memory", own=True)
def no_shared_memory(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """NCCL and data loaders pass data through /dev/shm, and fail late, or with `Bus error`, when it is full."""
    job, at = int(regret.path[1]), int(regret.path[-2])
    count = processes(pod_at(plan, job)["containers"][at])
    yield Finding(
        message=f'{count} GPU processes in a pod of job "{plan.jobs[job]["name"]}" have 64 MiB of shared memory '
        "between them: nothing is mounted at /dev/shm",
        help="give the pod a volume `emptyDir: {medium: Memory}`, and mount it at /dev/shm",
        field=field_of(("spec", *regret.path)),
    )


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (no_shared_memory,)
