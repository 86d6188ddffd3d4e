"""A job of an MPI runtime with nodes that are in no hostfile, because of its name.

Silent   for an initializer, and for a job that does not look like one of nodes.
Source   kubeflow/trainer v2.3.0, runtime plugin mpi: the hostfile lists the pods of job `node`, and of `launcher` with
         runLauncherAsNode; only these two get the SSH keys (kubeflow/trainer#4064).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import words
from trainc.pipeline.frameworks import main_container, traits
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.objects import ancestor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the name of each further job that runs sshd, trains, or equals job `node`."""
    known = traits(plan.runtime)
    slot = main_container(plan, plan.named(known.node))
    node: Tree = {} if slot is None else pod_at(plan, slot.job)[slot.containers][slot.at]
    for index, job in enumerate(plan.jobs):
        if (
            job["name"] in (known.launcher, known.node)
            or not plan.counts[index]
            or ancestor(job) not in ("", "trainer")
        ):
            continue
        containers = pod_at(plan, index)["containers"]
        runs_sshd = any("sshd" in word.text for container in containers for word in words(container))
        is_node = any(is_same(container, node) for container in containers)
        if runs_sshd or is_node or ancestor(job) == "trainer":
            yield LintFinding("mpi-unlisted-job", ("replicatedJobs", index, "name"), (job["name"],), shared=True)


def is_same(container: Tree, node: Tree) -> bool:
    """Return whether two containers run the same program."""
    return bool(node) and all(container.get(key) == node.get(key) for key in ("image", "command", "args"))


@lint_rule("mpi-unlisted-job")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """mpirun starts ranks only on the hosts of the hostfile, which has the pods of two jobs."""
    known = traits(plan.runtime)
    return Finding(
        message=f'mpirun starts no ranks in the pods of job "{finding.what[0]}": the hostfile has only those of job '
        f'"{known.node}", and with runLauncherAsNode of "{known.launcher}"',
        help=f'add the pods to job "{known.node}" as replicas or by numNodes, and remove the job',
    )
