"""Ephemeral containers, which debug a running pod and are not allowed in a pod template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation import container
from trainc.kubernetes.validation.combinators import SPACES

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree
    from trainc.kubernetes.validation.combinators import PodViolations

EPHEMERAL_CONTAINER: Final = Declaration(
    "ephemeral-container", ("job",), "Ephemeral container in pod template", fix="unsafe"
)
FORBIDDEN: Final = (
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
"""The fields that an ephemeral container must not set."""


def ephemeral_containers(violations: PodViolations, at: At, pod: Tree) -> None:
    """Check all ephemeral containers of a pod, whose spec is at `at`."""
    from trainc.base.fixes import removal

    violations.report(
        EPHEMERAL_CONTAINER,
        (at, "ephemeralContainers"),
        "a pod template cannot have ephemeral containers",
        removal(path_of((at, "ephemeralContainers")), "remove them; use `kubectl debug` to add one to a running pod"),
    )
    named: dict[str, At] = {
        other.get("name", ""): (((at, kind), index), "name")
        for kind in ("containers", "initContainers")
        for index, other in enumerate(pod.get(kind) or ())
    }
    others = set(named) - {""}
    for index, one in enumerate(pod["ephemeralContainers"]):
        here = ((at, "ephemeralContainers"), index)
        container.check_name_image_and_mounts(violations, here, one, named)
        container.one_by_one(violations, here, one)
        image, target = one.get("image", ""), one.get("targetContainerName")
        if image != image.strip(SPACES):
            violations.report(
                EPHEMERAL_CONTAINER,
                (here, "image"),
                f'image "{image}" has whitespace around it',
                "remove the whitespace",
            )
        if target and target not in others:
            from trainc.base.suggestions import use

            violations.report(
                EPHEMERAL_CONTAINER,
                (here, "targetContainerName"),
                f'the pod has no container named "{target}"',
                use(sorted(others), " and ") if others else "remove it",
            )
        for key in FORBIDDEN:
            if key in one and not _counts_as_unset(key, one[key]):
                _forbidden(violations, (here, key), key)
        for place, mount in enumerate(one.get("volumeMounts") or ()):
            for key in ("subPath", "subPathExpr"):
                if mount.get(key):
                    _forbidden(violations, (((here, "volumeMounts"), place), key), key)


def _forbidden(violations: PodViolations, at: At, key: str) -> None:
    violations.report(EPHEMERAL_CONTAINER, at, f"{key} is not allowed in an ephemeral container", "remove it")


def _counts_as_unset(key: str, value: Tree) -> bool:
    """Return whether a field counts as unset. Probes and hooks count as set even if they are empty."""
    if key == "lifecycle":
        return value.keys() == container.DROPPED
    return key == "resources" and not value
