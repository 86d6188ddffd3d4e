"""MPI jobs that train on another number of hosts than numNodes, or have several launchers.

Source: kubeflow/trainer v2.3.0, runtime plugin mpi: numNodes of the TrainJob is the number of pods of job `node`, or
one more with runLauncherAsNode, but at least one; numNodes of the runtime is the number of pods of the jobs with the
trainer's label, usually the launcher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.texts import plural
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.checks import limits
from trainc.pipeline.frameworks import traits
from trainc.pipeline.lint import lint_rule, stored
from trainc.pipeline.objects import ancestor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Path
    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield a finding if the hosts of the hostfile are not the TrainJob's numNodes, or if there are several launchers.

    Without numNodes in the TrainJob, nothing sets the number of hosts: the runtime's is that of launchers. A launcher
    alone is one host.
    """
    wanted = plan.job.trainer.get("numNodes")
    if not traits(plan.runtime).launcher or plan.job.own_runtime is not None or (wanted is not None and wanted < 1):
        return
    from trainc.pipeline.frameworks.mpi import host_count, launcher_job, node_job

    hosts = host_count(plan)
    launcher = launcher_job(plan)
    launchers = 0 if launcher is None else plan.pods(launcher)
    is_alone = wanted == 1 and node_job(plan) is None
    if launchers < 2 and (wanted in (None, hosts) or is_alone):
        return
    job = launcher if launchers > 1 else node_job(plan)
    path: Path = ()
    if job is not None and limits.job_count(plan, job) > 1:
        path = ("replicatedJobs", job, "replicas")
    elif job is not None and launchers > 1 and ancestor(plan.jobs[job]) != "trainer":
        path = ("replicatedJobs", job, "template", "spec", "parallelism")
    yield LintFinding("mpi-nodes", path, (str(hosts), str(launchers)), shared=launchers > 1)


@lint_rule("mpi-nodes")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """mpirun starts ranks on each host of the hostfile, and each launcher starts mpirun."""
    hosts, launchers = map(int, finding.what)
    known, counted = traits(plan.runtime), plural(hosts, "host")
    if launchers > 1:
        fault = f"{launchers} launchers run, and each starts mpirun over {counted}"
    else:
        fault = f"mpirun starts ranks on {counted}, but numNodes is {plan.job.trainer['numNodes']}"
    if finding.path:
        name, field = plan.jobs[int(finding.path[1])]["name"], finding.path[-1]
        several = f'job "{name}" has {field}: {get(stored(plan), finding.path)}'
        return Finding(message=f"{fault}: {several}", help=f"set {field}: 1")
    if launchers > 1:
        return Finding(
            message=f'{fault}: mlPolicy.numNodes is the number of pods of job "{known.launcher}"',
            help="set mlPolicy.numNodes: 1, and the number of nodes in the TrainJob",
            place=plan.runtime.at("spec", "mlPolicy", "numNodes"),
        )
    if plan.named(known.node) is None:
        reason, help = f'the runtime has no job "{known.node}"', f'name the job of the nodes "{known.node}"'
    elif plan.runtime.settings.get("runLauncherAsNode"):
        reason = f'with runLauncherAsNode, the launcher and at least one pod of job "{known.node}" train'
        help = f"set numNodes: {hosts}, or use a runtime without runLauncherAsNode"
    else:
        reason, help = f'job "{known.node}" has other pods', f"set numNodes: {hosts}"
    return Finding(message=f"{fault}: {reason}", help=help, place=plan.job.at("spec", "trainer", "numNodes"))
