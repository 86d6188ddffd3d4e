"""The framework with which pods train, also where the runtime has no policy for it, and the jobs whose pods train.

Reads    a plan; of a runtime without a policy, its framework label, and the commands and variables of its containers.
Returns  the traits of the framework, as lint rules need them; the jobs and the main containers; the number of nodes.
Source   trainc's own. Without a policy, nothing but the variables and the flags of the containers connects pods: a job
         trains with a framework if a container has the address of the rendezvous, or runs torchrun.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.commands import runs
from trainc.kubernetes.trees import get
from trainc.pipeline.frameworks import main_container, traits
from trainc.pipeline.objects import Traits, ancestor
from trainc.pipeline.plan import PROCESSES, Slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

FRAMEWORK_LABEL: Final = "trainer.kubeflow.org/framework"
"""The label of a runtime with its framework, by which Trainer's SDK lists runtimes."""
TORCHRUN: Final = frozenset({"torchrun", "torch.distributed.run", "torch.distributed.launch"})
"""The program, and the modules that are the same program."""
ADDRESSES: Final = frozenset(
    {
        *("MASTER_ADDR", "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "TF_CONFIG", "PADDLE_MASTER"),
        *("COORDINATOR_ADDRESS", "JAX_COORDINATOR_ADDRESS", "DMLC_TRACKER_URI", "DMLC_PS_ROOT_URI"),
    }
)
"""The variables with the address of the rendezvous, of all frameworks and operators."""
READERS: Final = {
    "TF_": "tensorflow",
    "PADDLE_": "paddle",
    "COORDINATOR_": "jax",
    "JAX_": "jax",
    "DMLC_": "mxnet",
    "": "torch",
}
"""The framework that reads such a variable, by its beginning."""
MPIRUN: Final = frozenset({"mpirun", "mpiexec"})


def has_policy(plan: Plan) -> bool:
    """Return whether a policy or a front end connects the pods."""
    return plan.job.is_legacy or not traits(plan.runtime).independent_nodes


def training_traits(plan: Plan) -> Traits:
    """Return the traits of the framework with which the pods train; those of `plain` if it is unknown."""
    if has_policy(plan) or not (key := _framework(plan)):
        return traits(plan.runtime)
    return Traits(
        family=key,
        container="",
        nodes_field="replicas" if plan.trainer is None else "numNodes",
        processes_field=PROCESSES,
        independent_nodes=not any(_connects(container) for _, container in _mains(plan)),
    )


def main_slots(plan: Plan) -> Iterator[Slot]:
    """Yield the main container of each job that trains, and of a launcher."""
    if has_policy(plan):
        launcher = plan.named(traits(plan.runtime).launcher)
        for job in sorted({*plan.trainers(), *(() if launcher is None else (launcher,))}):
            if slot := main_container(plan, job):
                yield slot
        return
    trainers, is_known = set(plan.trainers()), _framework(plan) != ""
    for slot, container in _mains(plan):
        if slot.job in trainers or (is_known and not trainers and _connects(container)):
            yield slot


def mains_of(plan: Plan, jobs: Iterable[int]) -> Iterator[Slot]:
    """Yield the main container of each of the jobs that train; of a legacy job also the only one, whatever its name."""
    if not has_policy(plan):
        wanted = set(jobs)
        yield from (slot for slot in main_slots(plan) if slot.job in wanted)
        return
    for job in jobs:
        only = plan.containers(job) if plan.job.is_legacy else []
        if slot := main_container(plan, job) or (only[0] if len(only) == 1 else None):
            yield slot


def training(plan: Plan) -> list[int]:
    """Return the replicated jobs that train: the trainers, and the nodes on which a launcher starts processes."""
    jobs = {*plan.trainers(), plan.named(traits(plan.runtime).node)}
    if not has_policy(plan):
        jobs = {slot.job for slot in main_slots(plan)}
    return [job for job, count in enumerate(plan.counts) if count and job in jobs]


def nodes(plan: Plan) -> int:
    """Return the number of nodes that train."""
    if has_policy(plan):
        return plan.nodes
    return sum(map(plan.pods, training(plan)))


def node_range(text: str) -> tuple[int, int] | None:
    """Return the least and most nodes of a flag or variable of torchrun, or None if it is not a number or a range.

    >>> node_range("2"), node_range("1:4"), node_range("auto")
    ((2, 2), (1, 4), None)
    """
    least, colon, most = text.partition(":")
    both = (least, most if colon else least)
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in both):
        return None
    return int(both[0]), int(both[1])


def _framework(plan: Plan) -> str:
    """Return the framework of a runtime without a policy: by its label, or what its containers run and read."""
    label = get(plan.runtime.value, ("metadata", "labels", FRAMEWORK_LABEL))
    if isinstance(label, str) and label:
        return label
    if any(runs(container, TORCHRUN) for _, container in _mains(plan)):
        return "torch"
    return _framework_of_variables(plan) if plan.job.is_jobset else ""


def _framework_of_variables(plan: Plan) -> str:
    """Return the framework that reads the address of the rendezvous in a container, or runs there; empty for none."""
    for _, container in _mains(plan):
        if runs(container, MPIRUN):
            return "mpi"
        for variable in container.get("env") or ():
            if (name := variable.get("name")) in ADDRESSES:
                return next(family for start, family in READERS.items() if name.startswith(start))
    return ""


def _mains(plan: Plan) -> Iterator[tuple[Slot, Tree]]:
    """Yield the main container of each job but initializers: the one that is named `node`, else the first."""
    for job in range(len(plan.counts)):
        slot = plan.find(job, "node") or Slot(job, "containers", 0)
        container = get(plan.spec, slot.path)
        if container is not None and ancestor(plan.jobs[job]) in (None, "", "trainer"):
            yield slot, container


def _connects(container: Tree) -> bool:
    """Return whether a container has the address of a rendezvous, as a variable or a flag of torchrun."""
    if any(variable.get("name") in ADDRESSES for variable in container.get("env") or ()):
        return True
    flags = (word.text.lstrip("-").replace("_", "-") for word in runs(container, TORCHRUN))
    return any(flag.startswith(("master-addr", "rdzv-endpoint")) for flag in flags)
