"""The images of a JobSet's containers: the kubelet must be able to parse each one.

Reads    a JobSet as it is stored.
Returns  violations, each of a Pod, whose paths lead into the JobSet. The API server accepts such an image; the pod is
         created and stays in InvalidImageName (difference pod-errors).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import JOBS_OF_JOBSET, POD_TEMPLATE
from trainc.kubernetes.images import is_reference
from trainc.kubernetes.violations import Violation
from trainc.pipeline.checks.created_jobs import JobFault, first_job

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.fixes import Fix
    from trainc.kubernetes.trees import Path, Tree

IMAGE_REFERENCE: Final = Declaration(
    "image-reference", ("job",), "Invalid image reference", trainc_only=True, fix="unsafe"
)
KINDS: Final = ("containers", "initContainers")


def faults(jobset: Tree) -> Iterator[JobFault]:
    """Yield a violation for each container whose image is no image reference."""
    for index, replicated in enumerate(jobset["spec"].get("replicatedJobs") or ()):
        pod = replicated["template"]["spec"]["template"].get("spec") or {}
        for kind in KINDS:
            for at, container in enumerate(pod.get(kind) or ()):
                image = container.get("image")
                if image and not is_reference(image):
                    base: Path = (*JOBS_OF_JOBSET, index, *POD_TEMPLATE)
                    subject = first_job(jobset, replicated)._replace(apiVersion="v1", kind="Pod")
                    yield JobFault(subject, _violation(("spec", kind, at, "image"), image), base)


def _violation(path: Path, image: str) -> Violation:
    from trainc.kubernetes.image_grammar import explain

    found = explain(image)
    help: str | Fix = found.help
    if found.meant:
        from trainc.base.fixes import replace

        help = replace(path, found.meant, applicability="unsafe")._replace(form="name")
    return Violation.at(path, IMAGE_REFERENCE, found.message, help)._replace(part=(found.begin, found.end))
