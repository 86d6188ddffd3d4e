"""The pod of a Job's template: its own fields, and the order in which its parts are looked at.

Volumes come first: mounts, devices and variables refer to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.validation import container
from trainc.kubernetes.validation.findings import (
    At,
    Findings,
    Rule,
    fields,
    late,
    one_of,
)

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree

DNS_POLICIES: Final = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
FIELDS: Final[dict[str, Rule]] = {
    "dnsPolicy": one_of(*DNS_POLICIES),
    "affinity": late("scheduling", "affinity"),
    "overhead": late("podresources", "overhead"),
    "resourceClaims": late("claims", "declared"),
    "resources": late("podresources", "of_pod"),
}
"""The fields that can be looked at one by one. `volumes`, `containers` and `initContainers` are not among them."""
_fields: Final = fields(FIELDS)


def template(found: Findings, at: At, template: Tree) -> None:
    """A pod template: the rules of its metadata and of its spec."""
    spec = (at, "spec")
    pod = found.pod
    if "volumes" in pod:
        from trainc.kubernetes.validation import volumes

        volumes.volumes(found, (spec, "volumes"), pod["volumes"])
    container.containers(found, spec, pod)
    _fields(found, spec, pod)
