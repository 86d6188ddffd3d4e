"""Images that are another one tomorrow.

Source: trainc's own. A name without tag and digest means `latest`, in every registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.violations import field_of
from trainc.lint import containers
from trainc.lint.signs import versioned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan

OF_THE_NODE: Final = "Never"
"""The imagePullPolicy of an image that somebody has put on the node: it comes from no registry."""


def find(plan: Plan) -> Iterator[Regret]:
    """The images of all containers that do not say which one they are."""
    for path, container in containers(plan):
        image = container.get("image")
        if image and not versioned(image) and container.get("imagePullPolicy") != OF_THE_NODE:
            yield Regret("image-version", (*path, "image"), (image,))


@check("image-version", stage="lint", severity="warning", title="An image does not say which version it is", own=True)
def image_version(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """The same manifest then starts another program some day, and two nodes of a job may run different ones."""
    (image,) = regret.what
    tag = "is latest" if image.endswith(":latest") else "has no tag, which means latest"
    yield Finding(
        message=f'image "{image}" {tag}: what runs is whatever was pushed last when a node pulls it',
        help="name a version (:2.9.1) or a digest (@sha256:...)",
        field=field_of(("spec", *regret.path)),
    )


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (image_version,)
