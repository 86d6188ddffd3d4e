"""The Job itself: how many pods, when it has failed or succeeded, and the labels that it gives its pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.validation import pod
from trainc.kubernetes.validation.findings import At, Findings, Rule, at_least, fields

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree

FIELDS: Final[dict[str, Rule]] = {
    "backoffLimit": at_least(0),
}
_fields: Final = fields(FIELDS)


def job(found: Findings, at: At, job: Tree) -> None:
    """A whole Job."""
    spec = (at, "spec")
    _fields(found, spec, job["spec"])
    pod.template(found, (spec, "template"), job["spec"]["template"])
