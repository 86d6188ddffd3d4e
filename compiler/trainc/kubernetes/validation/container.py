"""The containers of a pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.validation.findings import At, Findings, Rule, fields, late, one_of

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree

FIELDS: Final[dict[str, Rule]] = {
    "imagePullPolicy": one_of("Always", "IfNotPresent", "Never"),
    "resources": late("resources", "of_container"),
    "securityContext": late("security", "of_container"),
}
_fields: Final = fields(FIELDS)


def containers(found: Findings, at: At, pod: Tree) -> None:
    """All containers of a pod, whose spec is at `at`."""
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(pod.get(kind) or ()):
            _fields(found, ((at, kind), index), container)
