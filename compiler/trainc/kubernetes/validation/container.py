"""The containers of a pod: names, images, and the fields that each kind of container may have.

An init container with `restartPolicy: Always` is a sidecar: it keeps running and may have the same fields as regular
containers. Ephemeral containers, which debug a running pod, are not allowed in a template. `is_reference` decides about
plain images without `image_grammar`, which takes time to compile.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import (
    SPACES,
    FieldRule,
    PodViolations,
    called,
    fields,
    imported_later,
    label,
    one_of,
)
from trainc.kubernetes.violations import DUPLICATE_ITEM

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree


INIT_CONTAINER_FIELD: Final = Declaration("init-container-field", ("job",))
DROPPED: Final = {"stopSignal"}
"""The API server drops hooks with only a stop signal, which is behind a feature gate, before validation."""
_RESTARTED: Final[dict[str, FieldRule]] = {"restartPolicy": one_of("Always", "OnFailure", "Never")}
_RUNNING: Final[dict[str, FieldRule]] = {
    "lifecycle": imported_later("probes", "lifecycle"),
    "livenessProbe": imported_later("probes", "liveness"),
    "readinessProbe": imported_later("probes", "readiness"),
    "startupProbe": imported_later("probes", "liveness"),
}
_mounts: Final = imported_later("mounts", "container_mounts")
_on_the_host: Final = imported_later("ports", "on_the_host")
_restart_rules: Final = imported_later("probes", "rules")
EPHEMERAL_CONTAINER: Final = Declaration("ephemeral-container", ("job",), fix="unsafe")
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


def _resources(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a container's resources."""
    from trainc.kubernetes.validation.resource_rules import faults

    limits, requests = value.get("limits") or {}, value.get("requests") or {}
    if wrong := faults(tuple(limits.items()), tuple(requests.items())):
        from trainc.kubernetes.validation import resource_messages

        resource_messages.report(violations, at, value, wrong)
    if "claims" in value:
        from trainc.kubernetes.validation.podresources import used_claims

        used_claims(violations, (at, "claims"), value["claims"])


FIELDS: Final[dict[str, FieldRule]] = {
    "env": imported_later("env", "env"),
    "envFrom": imported_later("env", "env_from"),
    "imagePullPolicy": one_of("Always", "IfNotPresent", "Never"),
    "ports": imported_later("ports", "ports"),
    "resizePolicy": imported_later("probes", "resize_policy"),
    "resources": _resources,
    "securityContext": imported_later("security", "container_security"),
    "terminationMessagePolicy": one_of("File", "FallbackToLogsOnError"),
}
"""The fields that a container of any kind can have and that can be checked independently."""


def _not_in_init(violations: PodViolations, at: At, value: Tree) -> None:
    """Report a probe or a hook on an init container."""
    if value.keys() == DROPPED:
        return
    violations.report(
        INIT_CONTAINER_FIELD,
        at,
        f"{called(at)} is not allowed on an init container that runs to completion",
        "remove it, or set restartPolicy: Always on the container to make it a sidecar",
    )


_fields: Final = fields(FIELDS)


_fields_of_running: Final = fields(FIELDS | _RESTARTED | _RUNNING)


_fields_of_init: Final = fields(
    FIELDS
    | _RESTARTED
    | dict.fromkeys(_RUNNING, _not_in_init)
    | {"resizePolicy": imported_later("probes", "resize_policy_of_init")}
)


def containers(violations: PodViolations, at: At, pod: Tree) -> None:
    """Check all containers of a pod, whose spec is at `at`."""
    named: dict[str, At] = {}
    with_ports = False
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(pod.get(kind) or ()):
            here = ((at, kind), index)
            check_name_image_and_mounts(violations, here, container, named)
            running = kind == "containers" or container.get("restartPolicy") == "Always"
            (_fields_of_running if running else _fields_of_init)(violations, here, container)
            if "restartPolicyRules" in container:
                _restart_rules(violations, here, container)
            with_ports = with_ports or "ports" in container
    if with_ports:
        _on_the_host(violations, at, pod)
    if not pod.get("containers"):
        violations.report_missing((at, "containers"), "add a container: `- {name: node, image: ...}`")


def check_name_image_and_mounts(violations: PodViolations, at: At, container: Tree, named: dict[str, At]) -> None:
    """Check a container's name, image and mounts; `named` maps earlier names to their places and is updated."""
    name = container.get("name")
    if not name or not container.get("image"):
        _incomplete_container(violations, at, container)
    if name:
        label(violations, (at, "name"), name)
        if name in named:
            _same_name(violations, (at, "name"), name, named[name])
        else:
            named[name] = (at, "name")
    if "volumeMounts" in container or "volumeDevices" in container:
        _mounts(violations, at, container)


def one_by_one(violations: PodViolations, at: At, container: Tree) -> None:
    """Check the fields that any kind of container can have."""
    _fields(violations, at, container)


def _incomplete_container(violations: PodViolations, at: At, container: Tree) -> None:
    if not container.get("name"):
        violations.report_missing((at, "name"), "name the container, for example main")
    if not container.get("image"):
        violations.report_missing((at, "image"), "set the image with its tag")


def _same_name(violations: PodViolations, at: At, name: str, first: At) -> None:
    violations.report(
        DUPLICATE_ITEM,
        at,
        f'two containers of the pod are named "{name}"',
        "rename one of them: names must be unique across containers and init containers",
        related=(("the first container", first),),
    )


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
        check_name_image_and_mounts(violations, here, one, named)
        one_by_one(violations, here, one)
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
        return value.keys() == DROPPED
    return key == "resources" and not value


_SEPARATORS: Final = str.maketrans("/._", "---")
_LONGEST_TAG: Final = 128


@lru_cache(maxsize=1024)
def is_reference(image: str) -> bool:
    """Return whether the kubelet accepts an image.

    >>> [is_reference(image) for image in ("train", "Acme.io/train:V1", "acme/Train", "train:1 ", "https://a.io/b")]
    [True, True, False, False, False]
    """
    if _is_plain(image):
        return True
    from trainc.kubernetes import image_grammar

    return image_grammar.is_reference(image)


def _is_plain(image: str) -> bool:
    """Return whether an image is a name of words with single separators, with or without a tag; not an image ID.

    >>> _is_plain("nvcr.io/nvidia/pytorch:25.09-py3"), _is_plain("a:5000/b"), _is_plain("a__b")
    (True, False, False)
    """
    name, colon, tag = image.partition(":")
    if colon:
        plain_tag = tag.translate(_SEPARATORS).replace("-", "")
        if not plain_tag.isalnum() or "/" in tag or tag[0] in ".-" or len(tag) > _LONGEST_TAG:
            return False
    words = name.translate(_SEPARATORS).split("-")
    return image.isascii() and all(map(str.isalnum, words)) and name == name.lower() and (bool(colon) or len(words) > 1)
