"""Images without a fixed version.

Source: trainc's own. A name without tag and digest means `latest`, in every registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import containers, lint_rule
from trainc.pipeline.lint.triggers import has_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

PRELOADED: Final = "Never"
"""The imagePullPolicy of an image that is preloaded on the node and comes from no registry."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the images of all containers that have no fixed version."""
    for path, container in containers(plan):
        image = container.get("image")
        if image and not has_version(image) and container.get("imagePullPolicy") != PRELOADED:
            yield LintFinding("image-version", (*path, "image"), (image,))


@lint_rule("image-version")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The same manifest can later start another program, and two nodes of a job can run different ones."""
    (image,) = finding.what
    tag = "has the tag latest" if image.endswith(":latest") else "has no tag, which means latest"
    return Finding(
        message=f'image "{image}" {tag}: each node runs the version that is current when it pulls the image',
        help="set a version tag (:2.9.1) or a digest (@sha256:...)",
    )
