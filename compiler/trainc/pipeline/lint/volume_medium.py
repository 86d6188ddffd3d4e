"""Media of emptyDir volumes that the kubelet does not know.

Source: Kubernetes 1.36, pkg/volume/emptydir: the API server accepts each medium, and the kubelet knows Memory,
HugePages and HugePages-<size>. With another one, it does not mount the volume.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import shown
from trainc.pipeline.lint import lint_rule, pod_at, stored
from trainc.pipeline.lint.triggers import KNOWN_MEDIA
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

MEDIA: Final = ("Memory", "HugePages")


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the media of the volumes of pods that run."""
    for job, count in enumerate(plan.counts):
        for index, volume in enumerate(pod_at(plan, job).get("volumes") or ()) if count else ():
            medium = get(volume, ("emptyDir", "medium"), "")
            if not medium.startswith(KNOWN_MEDIA) and medium:
                yield LintFinding("volume-medium", (*pod_spec(job), "volumes", index, "emptyDir", "medium"))


@lint_rule("volume-medium", fix="unsafe")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The kubelet cannot mount the volume, so that the pods stay in ContainerCreating."""
    from trainc.base.fixes import replace

    medium = get(stored(plan), finding.path)
    meant = next((known for known in MEDIA if known.lower() == medium.lower()), None)
    return Finding(
        message=f"the kubelet does not know the medium {shown(medium)} of an emptyDir: the pods wait for the volume",
        help=replace(finding.path, meant, applicability="unsafe")
        if meant
        else "use Memory or HugePages-<size>, or leave it out for the disk of the node",
    )
