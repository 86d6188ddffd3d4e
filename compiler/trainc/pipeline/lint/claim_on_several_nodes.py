"""A claim for one node that the pods of a job mount on several nodes.

Source: Kubernetes 1.36, persistent volumes: the volume of a claim with ReadWriteOnce is attached to one node, and one
with ReadWriteOncePod is mounted by one pod. The modes are those of the claim in the given files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

PER_POD: Final = "ReadWriteOncePod"
OF_ONE_NODE: Final = frozenset({"ReadWriteOnce", PER_POD})
NAME: Final = ("persistentVolumeClaim", "claimName")


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the volumes of jobs with several pods whose claim has only modes for one node."""
    if plan.library.claim_modes is None:
        return
    for job in range(len(plan.counts)):
        pods = plan.pods(job)
        for index, volume in enumerate(pod_at(plan, job).get("volumes") or ()) if pods > 1 else ():
            name = get(volume, NAME, "")
            modes = plan.library.claim_modes(plan.job.namespace, name) if name else ()
            if modes and OF_ONE_NODE.issuperset(modes):
                path = (*pod_spec(job), "volumes", index, *NAME)
                yield LintFinding("claim-on-several-nodes", path, (name, modes[0], str(pods)))


@lint_rule("claim-on-several-nodes")
def warning(_: Plan, finding: LintFinding) -> Finding:
    """The pods on other nodes wait for a volume that is attached to the node of the first one."""
    name, mode, pods = finding.what
    where = "one pod" if mode == PER_POD else "one node"
    return Finding(
        message=f'the claim "{name}" has the access mode {mode}, for {where}, but {pods} pods mount it',
        help="use a claim with ReadWriteMany, or with ReadOnlyMany for data that the pods only read",
    )
