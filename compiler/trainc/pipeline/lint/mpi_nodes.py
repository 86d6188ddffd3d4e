"""MPI jobs that train on another number of hosts than numNodes, or have several launchers.

Source: kubeflow/trainer v2.3.0, runtime plugin mpi: numNodes of the TrainJob is the number of pods of job `node`, or
one more with runLauncherAsNode, but at least one; numNodes of the runtime is the number of pods of the jobs with the
trainer's label, usually the launcher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.plural import plural
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.checks import hosts as host_lists
from trainc.pipeline.frameworks import traits
from trainc.pipeline.lint import lint_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield a finding if the hosts of the hostfile are not numNodes, or if there are several launchers."""
    wanted = written_nodes(plan)
    if not traits(plan.runtime).launcher or wanted is None or wanted < 1 or plan.job.own_runtime is not None:
        return
    from trainc.pipeline.frameworks.mpi import hostfile_jobs, launcher_job, node_job, with_listed_replicas

    listed = with_listed_replicas(plan)
    hosts = sum(host_lists.count(listed, job) for job in hostfile_jobs(listed))
    launcher, node = launcher_job(plan), node_job(plan)
    launchers = 0 if launcher is None else host_lists.count(plan, launcher)
    if hosts == wanted and launchers < 2:
        return
    at_fault = launcher if launchers > 1 else node
    several = at_fault is not None and host_lists.replicas(plan, at_fault) > 1
    path = ("replicatedJobs", at_fault, "replicas") if several and at_fault is not None else ()
    of_runtime = launchers > 1 or "numNodes" not in plan.job.trainer
    yield LintFinding("mpi-nodes", path, (str(wanted), str(hosts), str(launchers)), shared=of_runtime)


def written_nodes(plan: Plan) -> int | None:
    """Return numNodes of the TrainJob, else that of the runtime's document; None without both."""
    of_runtime = get(plan.runtime.document.value, ("spec", "mlPolicy", "numNodes"), None)
    given = plan.job.trainer.get("numNodes", of_runtime)
    return None if given is None else int(given)


@lint_rule("mpi-nodes", "Other MPI hosts than numNodes")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """mpirun starts ranks on each host of the hostfile, and each launcher starts mpirun."""
    wanted, hosts, launchers = map(int, finding.what)
    of_job, of_runtime = plan.job.at("spec", "trainer", "numNodes"), plan.runtime.at("spec", "mlPolicy", "numNodes")
    cause = of_job if "numNodes" in plan.job.trainer else of_runtime
    known, counted = traits(plan.runtime), plural(hosts, "host")
    if launchers > 1:
        fault = f"{launchers} launchers run, and each starts mpirun over {counted}"
    else:
        fault = f"mpirun starts ranks on {counted}, but numNodes is {wanted}"
    if finding.path:
        name = plan.jobs[int(finding.path[1])]["name"]
        several = host_lists.replicas(plan, int(finding.path[1]))
        return Finding(message=f'{fault}: job "{name}" has {several} replicas', help="set replicas: 1")
    if launchers > 1:
        return Finding(
            message=f'{fault}: mlPolicy.numNodes is the number of pods of job "{known.launcher}"',
            help="set mlPolicy.numNodes: 1, and the number of nodes in the TrainJob",
            place=of_runtime,
        )
    if plan.runtime.settings.get("runLauncherAsNode") and hosts > wanted:
        return Finding(
            message=f'{fault}: with runLauncherAsNode, the launcher and at least one pod of job "{known.node}" train',
            help=f"set numNodes: {hosts} in the TrainJob, or use a runtime without runLauncherAsNode",
            place=cause,
        )
    return Finding(
        message=f'{fault}: the pods of job "{known.node}" do not follow from it',
        help=f"set numNodes: {wanted} in the TrainJob, and mlPolicy.numNodes: 1",
        place=cause,
    )
