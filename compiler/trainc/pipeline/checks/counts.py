"""Warnings about TrainJobs and runtimes that start nothing: no nodes, no processes, no jobs.

Reads    the patched runtime's jobs; trainer.numNodes, trainer.numProcPerNode; mlPolicy.numNodes, mpi.numProcPerNode.
Returns  diagnostics. The cluster accepts all of these counts.
Source   kubeflow/trainer v2.3.0, which uses a TrainJob's counts unchanged, and 1 for an mlPolicy.numNodes below 1. Its
         next release requires trainer.numProcPerNode to be at least 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.trainjob_dialects import PROCESSES_FIELD, TrainJobForm
from trainc.diagnostics import Diagnostic
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.objects import Runtime, Traits
    from trainc.pipeline.plan import Plan

NODE_COUNT: Final = Declaration("node-count", ("trainjob", "runtime"), "warning", trainc_only=True)
PROCESS_COUNT: Final = Declaration("process-count", ("trainjob", "runtime"), "warning", trainc_only=True)
NO_JOBS: Final = Declaration("no-jobs", ("trainjob",), "warning", trainc_only=True)


def is_below_one(count: Any) -> bool:
    """Return whether a count is a number below 1; the number of processes can also be a word."""
    return isinstance(count, int) and count < 1


def trainjob_counts(plan: Plan, traits: Traits) -> Iterator[Diagnostic]:
    """Yield the warnings about a TrainJob together with its patched runtime."""
    if not plan.jobs:
        yield Diagnostic.declared(
            NO_JOBS,
            f'runtime "{plan.runtime.id.name}" has no replicatedJobs, so the TrainJob starts no pods',
            "add a replicated job to the runtime's template, or use another runtime",
            object=plan.job.id,
            field="spec.runtimeRef.name",
            place=plan.job.at("spec", "runtimeRef", "name"),
        )
    if traits.checks_counts:
        return
    nodes, processes = plan.job.trainer.get("numNodes"), plan.job.processes
    if nodes == 0 and not refuses_zero_nodes(plan.runtime):
        outcome = "the TrainJob completes without training"
        if traits.launcher:
            as_node = plan.runtime.settings.get("runLauncherAsNode")
            outcome = "the launcher and one node start anyway" if as_node else "the launcher starts without nodes"
        yield Diagnostic.declared(
            NODE_COUNT,
            f"numNodes must be at least 1, not 0: {outcome}",
            "set the number of nodes; for a TrainJob that does not start yet, set spec.suspend, too",
            object=plan.job.id,
            field="spec.trainer.numNodes",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )
    if is_below_one(processes):
        yield Diagnostic.declared(
            PROCESS_COUNT,
            f"{PROCESSES_FIELD} must be at least 1, not {processes}: Trainer's next release rejects it",
            "set the number of processes per node, or remove the field to use the runtime's default",
            object=plan.job.id,
            field=field_of(TrainJobForm.PROCESSES),
            place=plan.job.at(*TrainJobForm.PROCESSES),
        )


def refuses_zero_nodes(runtime: Runtime) -> bool:
    """Return whether another rule reports numNodes: 0 as an error."""
    return "elasticPolicy" in runtime.settings or "coscheduling" in (runtime.gang or {})


def runtime_counts(runtime: Runtime, traits: Traits) -> Iterator[Diagnostic]:
    """Yield the warnings about a runtime."""
    if traits.checks_counts:
        return
    nodes = (runtime.policy or {}).get("numNodes")
    if is_below_one(nodes) and "elasticPolicy" not in runtime.settings:
        yield Diagnostic.declared(
            NODE_COUNT,
            f"mlPolicy.numNodes must be at least 1, not {nodes}: the controller uses 1 instead",
            "set `numNodes: 1`, or remove the field",
            object=runtime.id,
            field="spec.mlPolicy.numNodes",
            place=runtime.at("spec", "mlPolicy", "numNodes"),
            phase="runtime",
        )
    processes = runtime.processes if traits.launcher else None
    if is_below_one(processes):
        yield Diagnostic.declared(
            PROCESS_COUNT,
            f"{runtime.framework}.{PROCESSES_FIELD} must be at least 1, not {processes}: the nodes have no slots for "
            "processes",
            f"set `{PROCESSES_FIELD}: 1` for one process per GPU, or the number of processes",
            object=runtime.id,
            field=field_of(runtime.processes_path),
            place=runtime.at(*runtime.processes_path),
            phase="runtime",
        )
