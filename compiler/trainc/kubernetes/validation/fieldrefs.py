"""The fields and container resources that downward API files can read.

`named` is the place in the API server's error for the reference: its fields omit the item.
Source   Kubernetes 1.36: the fields that a pod's API gives to files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import PodViolations, cluster_field
from trainc.kubernetes.violations import listed, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

POD_FILE: Final = Declaration(
    "pod-file", ("job",), "Downward API file without exactly one supported source", fix="safe"
)

FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
KNOWN: Final = {
    *FIELDS,
    *("spec.host", "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
    "spec.terminationGracePeriodSeconds",
    *("status.hostIP", "status.hostIPs", "status.phase", "status.podIP", "status.podIPs"),
}
RESOURCES: Final = tuple(
    f"{kind}.{resource}" for kind in ("limits", "requests") for resource in ("cpu", "ephemeral-storage", "memory")
)
PAGES: Final = ("limits.hugepages-", "requests.hugepages-")
CPU_DIVISORS: Final = ("1", "1m")
BYTE_DIVISORS: Final = ("1", *(f"1{prefix}" for prefix in "kMGTPE"), *(f"1{prefix}i" for prefix in "KMGTPE"))


def pod_field(violations: PodViolations, at: At, ref: Tree, named: At) -> None:
    """Check a reference to a pod field, or to a single label or annotation."""
    path = ref.get("fieldPath")
    here, field = (at, "fieldPath"), (named, "fieldPath")
    if not path:
        violations.report_missing(here, "set a pod field, for example metadata.name", field=cluster_field(field))
        return
    name, subscript = split(path)
    if (ref.get("apiVersion") or "v1") != "v1":
        message = f'apiVersion must be "v1", not {shown(ref["apiVersion"])}'
        violations.report(POD_FILE, (at, "apiVersion"), message, "remove apiVersion", field=cluster_field(field))
    elif subscript is not None and name in ("metadata.annotations", "metadata.labels"):
        if names.qualified_name_errors(subscript.lower() if name == "metadata.annotations" else subscript):
            from trainc.kubernetes import misnamed

            message = f"fieldPath {shown(path)} has an invalid key: it {misnamed.fault_of_key(subscript)}"
            violations.report(
                POD_FILE, here, message, "use a valid label or annotation key", field=cluster_field(named)
            )
    elif path not in FIELDS:
        _unreadable_field(violations, here, path, cluster_field(field))


def split(path: str) -> tuple[str, str | None]:
    """Return a path and the key in the brackets and quotes that follow it, if any."""
    name, bracket, rest = path.partition("['")
    return (name, rest[:-2]) if name and bracket and rest.endswith("']") else (path, None)


def _unreadable_field(violations: PodViolations, at: At, path: str, field: str) -> None:
    from trainc.base.fixes import replaced_name

    reason = "is not available to files" if path in KNOWN else "is not a pod field that containers can read"
    help = f"use {listed([*FIELDS], 'or')}"
    violations.report(
        POD_FILE,
        at,
        f"fieldPath {shown(path)} {reason}",
        (None if path in KNOWN else replaced_name(path_of(at), path, FIELDS)) or help,
        field=field,
    )


def resource_field(violations: PodViolations, at: At, ref: Tree, named: At) -> None:
    """Check a reference to a resource of a container, which must be named: files do not belong to a container."""
    resource = ref.get("resource") or ""
    unnamed = not ref.get("containerName")
    if unnamed or (resource not in RESOURCES and not resource.startswith(PAGES)):
        if unnamed:
            violations.report_missing((at, "containerName"), field=cluster_field(named, "containerName"))
        elif not resource:
            violations.report_missing(
                (at, "resource"),
                "set a resource, for example limits.memory",
                field=cluster_field(named, "resource"),
            )
        else:
            violations.not_allowed((at, "resource"), resource, RESOURCES, field=cluster_field(named, "resource"))
    if "divisor" in ref:
        _divisor(violations, at, resource, Quantity.from_json(ref["divisor"]), named)


def _divisor(violations: PodViolations, at: At, resource: str, divisor: Quantity, named: At) -> None:
    if divisor.is_zero or not (resource in RESOURCES or resource.startswith(PAGES)):
        return
    allowed = CPU_DIVISORS if resource in ("limits.cpu", "requests.cpu") else BYTE_DIVISORS
    if str(divisor) not in allowed:
        violations.report(
            POD_FILE,
            (at, "divisor"),
            f"divisor {divisor} is not allowed for {resource}",
            f"use {listed([*allowed], 'or')}",
            field=cluster_field(named, "divisor"),
        )
