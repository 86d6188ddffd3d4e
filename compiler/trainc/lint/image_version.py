"""Images without a fixed version.

Source: trainc's own. A name without tag and digest means `latest`, in every registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.violations import field_of
from trainc.lint import containers
from trainc.lint.triggers import versioned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan

PRELOADED: Final = "Never"
"""The imagePullPolicy of an image that is preloaded on the node and comes from no registry."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the images of all containers that have no fixed version."""
    for path, container in containers(plan):
        image = container.get("image")
        if image and not versioned(image) and container.get("imagePullPolicy") != PRELOADED:
            yield LintFinding("image-version", (*path, "image"), (image,))


@check("image-version", stage="lint", severity="warning", title="Image without a fixed version", own=True)
def image_version(plan: Plan, finding: LintFinding) -> Iterator[Finding]:
    """The same manifest can later start another program, and two nodes of a job can run different ones."""
    (image,) = finding.what
    tag = "has the tag latest" if image.endswith(":latest") else "has no tag, which means latest"
    yield Finding(
        message=f'image "{image}" {tag}: each node runs the version that is current when it pulls the image',
        help="set a version tag (:2.9.1) or a digest (@sha256:...)",
        field=field_of(("spec", *finding.path)),
    )


CHECKS: Final[tuple[Check[[Plan, LintFinding]]]] = (image_version,)
