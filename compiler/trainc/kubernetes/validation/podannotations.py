"""The pod annotations that Kubernetes reads: profiles, old tolerations, pod deletion cost, mirror pods.

Reads    the pod template's metadata, and the fields that replace the annotations. Imported if a pod has one of them.
Source   Kubernetes 1.36: the API server's validation of annotations, and of annotations and fields that must agree.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import At, path_of
from trainc.kubernetes.validation import scheduling, security
from trainc.kubernetes.validation.combinators import PodViolations, every_container, field_of
from trainc.kubernetes.violations import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.kubernetes.trees import Tree

POD_ANNOTATION: Final = Declaration("pod-annotation", ("job",))

_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_MIRROR: Final = "kubernetes.io/config.mirror"
_TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/tolerations"
_SECCOMP: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF: Final = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR_OF: Final = "container.apparmor.security.beta.kubernetes.io/"
_LOCAL: Final = "localhost/"
_DEFAULTS: Final = ("runtime/default", "docker/default")
_NUMBER: Final = re.compile("(-?)(?:(?<=-)0*)?(0|[1-9][0-9]{0,9})")
"""Only a negative number may have leading zeros."""
_CLUSTER_FIELD: Final = "spec.template.annotations"
_TOLERATION_TYPES: Final = {"key": str, "operator": str, "value": str, "effect": str, "tolerationSeconds": int}


def template_annotations(violations: PodViolations, at: At) -> None:
    """Check each annotation that Kubernetes reads, and that it agrees with the field that replaces it."""
    place = ((at, "metadata"), "annotations")
    values: dict[str, str] = violations.metadata["annotations"]
    for key, value in values.items():
        if rule := _RULES.get(key):
            rule(violations, (place, key), value)
        elif key.startswith(_SECCOMP_OF):
            _seccomp(violations, (place, key), value)
        elif key.startswith(_APP_ARMOR_OF):
            _app_armor(violations, (place, key), value, key.removeprefix(_APP_ARMOR_OF))
    _agree(violations, (at, "spec"), place, values)


def _report(violations: PodViolations, at: At, message: str, help: str) -> None:
    assert at is not None
    violations.report(POD_ANNOTATION, at, message, help, field=f"{_CLUSTER_FIELD}[{at[1]}]")


def _deletion_cost(violations: PodViolations, at: At, value: str) -> None:
    number = _NUMBER.fullmatch(value)
    if not number or not -(2**31) <= int(number[1] + number[2]) < 2**31:
        message = f"the pod deletion cost must be a 32-bit integer, not {shown(value)}"
        _report(violations, at, message, 'use an integer in quotes: "100"')


def _mirror(violations: PodViolations, at: At, value: str) -> None:
    if not violations.pod.get("nodeName"):
        message = "a mirror pod requires nodeName, which the pod does not set"
        _report(violations, at, message, "remove the annotation; only nodes create mirror pods")


def _tolerations(violations: PodViolations, at: At, value: str) -> None:
    """Check tolerations in JSON, whose field names are case-insensitive."""
    if not value:
        return
    tolerations = _read(value)
    if tolerations is None:
        message = "the annotation must be a JSON list of tolerations"
        violations.report(POD_ANNOTATION, at, message, "use spec.tolerations instead", field=_CLUSTER_FIELD)
        return
    inner = PodViolations({})
    scheduling.tolerations(inner, None, tolerations)
    for violation in inner.violations:
        field = f"{_CLUSTER_FIELD}.{_TOLERATIONS}{violation.field}"
        violations.violations.append(violation._replace(path=path_of(at), field=field, related=()))


def _read(text: str) -> list[dict[str, Any]] | None:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if items is not None and not isinstance(items, list):
        return None
    known = {name.lower(): name for name in _TOLERATION_TYPES}
    tolerations = []
    for item in items or ():
        if item is not None and not isinstance(item, dict):
            return None
        fields = {known[key.lower()]: value for key, value in (item or {}).items() if key.lower() in known}
        fields = {key: value for key, value in fields.items() if value is not None}
        if any(type(value) is not _TOLERATION_TYPES[key] for key, value in fields.items()):
            return None
        if not -(2**63) <= fields.get("tolerationSeconds", 0) < 2**63:
            return None
        tolerations.append(fields)
    return tolerations


def _seccomp(violations: PodViolations, at: At, value: str) -> None:
    assert at is not None
    field = f"{_CLUSTER_FIELD}.{at[1]}"
    if value.startswith(_LOCAL):
        security.local_path(violations, at, value.removeprefix(_LOCAL), field=field)
    elif value != "unconfined" and value not in _DEFAULTS:
        message = f"{shown(value)} is not a seccomp profile"
        violations.report(
            POD_ANNOTATION, at, message, "use securityContext.seccompProfile.type: RuntimeDefault instead",
            field=field,
        )  # fmt: skip


def _app_armor(violations: PodViolations, at: At, value: str, name: str) -> None:
    if all(container.get("name") != name for _, container in every_container(None, violations.pod)):
        message = f"the annotation names container {shown(name)}, which the pod does not have"
        _report(violations, at, message, "correct the container's name at the end of the key")
    if value and value not in ("runtime/default", "unconfined") and not value.startswith(_LOCAL):
        message = f"{shown(value)} is not an AppArmor profile"
        _report(violations, at, message, "use securityContext.appArmorProfile.type: RuntimeDefault instead")


_RULES: Final[dict[str, Callable[[PodViolations, At, str], None]]] = {
    _DELETION_COST: _deletion_cost,
    _MIRROR: _mirror,
    _SECCOMP: _seccomp,
    _TOLERATIONS: _tolerations,
}


def _agree(violations: PodViolations, spec: At, annotations: At, values: dict[str, str]) -> None:
    """Check that each annotation agrees with the field that replaces it."""
    context, here = violations.pod.get("securityContext") or {}, (spec, "securityContext")
    if profile := context.get("seccompProfile"):
        _agrees(violations, (here, "seccompProfile"), profile, (annotations, _SECCOMP), values, _DEFAULTS)
    of_linux = (violations.pod.get("os") or {}).get("name") != "windows"
    for place, container in every_container(spec, violations.pod):
        container_context, name = container.get("securityContext") or {}, container.get("name", "")
        container_place = (place, "securityContext")
        if profile := container_context.get("seccompProfile"):
            key = _SECCOMP_OF + name
            _agrees(violations, (container_place, "seccompProfile"), profile, (annotations, key), values, _DEFAULTS)
        profile = container_context.get("appArmorProfile") or context.get("appArmorProfile")
        if profile and of_linux:
            at = ((container_place if "appArmorProfile" in container_context else here), "appArmorProfile")
            field = field_of((container_place, "appArmorProfile"))
            key = _APP_ARMOR_OF + name
            _agrees(violations, at, profile, (annotations, key), values, _DEFAULTS[:1], field)


def _agrees(
    violations: PodViolations,
    at: At,
    profile: Tree,
    annotation: tuple[At, str],
    values: dict[str, str],
    defaults: tuple[str, ...],
    field: str = "",
) -> None:
    value, kind = values.get(annotation[1]), profile.get("type", "")
    if value is None:
        return
    annotation_values = {"Unconfined": ("unconfined",), "RuntimeDefault": defaults}
    if kind == "Localhost":
        local = value.startswith(_LOCAL)
        key = "localhostProfile" if local else "type"
        matches = local and value.removeprefix(_LOCAL) == profile.get("localhostProfile")
    else:
        key, matches = "type", kind not in annotation_values or value in annotation_values[kind]
    if not matches:
        message = f"{key} is {shown(profile.get(key, ''))}, but the annotation {annotation[1]} is {shown(value)}"
        violations.report(
            security.SECURITY_PROFILE, (at, key), message, "remove the annotation; the field replaces it",
            field=f"{field or field_of(at)}.{key}", related=(("the annotation", annotation),),
        )  # fmt: skip
