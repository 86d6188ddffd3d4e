"""Ephemeral containers, which are for looking into a running pod, and which no template can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation import container
from trainc.kubernetes.validation.findings import SPACES

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree
    from trainc.kubernetes.validation.findings import Findings

EPHEMERAL_CONTAINER: Final = Declaration("ephemeral-container", ("job",), "A pod template has ephemeral containers")
NEVER: Final = (
    "lifecycle",
    "livenessProbe",
    "ports",
    "readinessProbe",
    "resizePolicy",
    "resources",
    "restartPolicy",
    "restartPolicyRules",
    "startupProbe",
)
"""The fields that such a container cannot have anywhere."""


def ephemeral(found: Findings, at: At, pod: Tree) -> None:
    """All ephemeral containers of a pod, whose spec is at `at`."""
    from trainc.kubernetes.structural.remedies import listed

    found.complain(
        EPHEMERAL_CONTAINER,
        (at, "ephemeralContainers"),
        "a template cannot have ephemeral containers",
        "remove them: `kubectl debug` adds one to a pod that is running",
    )
    named: dict[str, At] = {
        other.get("name", ""): (((at, kind), index), "name")
        for kind in ("containers", "initContainers")
        for index, other in enumerate(pod.get(kind) or ())
    }
    others = set(named)
    for index, one in enumerate(pod["ephemeralContainers"]):
        here = ((at, "ephemeralContainers"), index)
        container.of_any_kind(found, here, one, named)
        container.one_by_one(found, here, one)
        image, target = one.get("image", ""), one.get("targetContainerName")
        if image != image.strip(SPACES):
            found.complain(
                EPHEMERAL_CONTAINER, (here, "image"), f'image is "{image}", with space around it', "remove the space"
            )
        if target and target not in others:
            found.complain(
                EPHEMERAL_CONTAINER,
                (here, "targetContainerName"),
                f'no container of the pod is called "{target}"',
                f"its containers are {listed(sorted(others))}",
            )
        for key in NEVER:
            if key in one and not _is_nothing(key, one[key]):
                _cannot(found, (here, key), key)
        for place, mount in enumerate(one.get("volumeMounts") or ()):
            for key in ("subPath", "subPathExpr"):
                if mount.get(key):
                    _cannot(found, (((here, "volumeMounts"), place), key), key)


def _cannot(found: Findings, at: At, key: str) -> None:
    found.complain(EPHEMERAL_CONTAINER, at, f"{key} cannot be set for an ephemeral container", "remove it")


def _is_nothing(key: str, value: Tree) -> bool:
    """Whether a field counts as not set. Probes and hooks count even when they are empty."""
    if key == "lifecycle":
        return value.keys() == container.DROPPED
    return key == "resources" and not value
