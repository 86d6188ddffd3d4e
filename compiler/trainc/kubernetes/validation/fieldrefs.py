"""What files about the pod refer to: a field of it, or a resource of one of its containers.

`named` is the place that the cluster's error names for the reference: its fields lack the item.
Source   Kubernetes 1.36: the fields that a pod's API gives to files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.validation.findings import Findings, spelled

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

POD_FILE: Final = Declaration(
    "pod-file", ("job",), "A file about the pod has no source, two, or one that no file can have"
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
OF_CPU: Final = ("1", "1m")
OF_BYTES: Final = ("1", *(f"1{prefix}" for prefix in "kMGTPE"), *(f"1{prefix}i" for prefix in "KMGTPE"))


def pod_field(found: Findings, at: At, ref: Tree, named: At) -> None:
    """A field of the pod, or a single label or annotation."""
    path = ref.get("fieldPath")
    here, field = (at, "fieldPath"), (named, "fieldPath")
    if not path:
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, here, "for example metadata.name", field=spelled(field))
        return
    name, subscript = split(path)
    if (ref.get("apiVersion") or "v1") != "v1":
        from trainc.kubernetes.structural.remedies import shown

        message = f"apiVersion is {shown(ref['apiVersion'])}, and pods have v1 alone"
        found.complain(POD_FILE, (at, "apiVersion"), message, "remove it", field=spelled(field))
    elif subscript is not None and name in ("metadata.annotations", "metadata.labels"):
        if names.is_qualified_name(subscript.lower() if name == "metadata.annotations" else subscript):
            from trainc.kubernetes import misnamed
            from trainc.kubernetes.structural.remedies import shown

            message = f"fieldPath is {shown(path)}, and the key {misnamed.fault_of_key(subscript)}"
            found.complain(POD_FILE, here, message, "write the key of a label or an annotation", field=spelled(named))
    elif path not in FIELDS:
        _unreadable(found, here, path, spelled(field))


def split(path: str) -> tuple[str, str | None]:
    """A path, and the key that stands behind it in brackets and quotes, if one does."""
    name, bracket, rest = path.partition("['")
    return (name, rest[:-2]) if name and bracket and rest.endswith("']") else (path, None)


def _unreadable(found: Findings, at: At, path: str, field: str) -> None:
    from trainc.kubernetes.structural.remedies import listed, shown
    from trainc.nearest import nearest

    why = "which a file cannot have" if path in KNOWN else "which is no field that a pod lets its containers read"
    near = None if path in KNOWN else nearest(path, FIELDS)
    found.complain(
        POD_FILE,
        at,
        f"fieldPath is {shown(path)}, {why}",
        f"did you mean {near}?" if near else f"write {listed([*FIELDS], 'or')}",
        field=field,
    )


def resource_field(found: Findings, at: At, ref: Tree, named: At) -> None:
    """A resource of a container, which must be named: files belong to no container."""
    resource = ref.get("resource") or ""
    unnamed = not ref.get("containerName")
    if unnamed or (resource not in RESOURCES and not resource.startswith(PAGES)):
        from trainc.kubernetes.validation import complaints

        if unnamed:
            complaints.missing(found, (at, "containerName"), field=spelled(named, "containerName"))
        elif not resource:
            complaints.missing(found, (at, "resource"), "for example limits.memory", field=spelled(named, "resource"))
        else:
            complaints.not_allowed(found, (at, "resource"), resource, RESOURCES, field=spelled(named, "resource"))
    if "divisor" in ref:
        _divisor(found, at, resource, Quantity.from_json(ref["divisor"]), named)


def _divisor(found: Findings, at: At, resource: str, divisor: Quantity, named: At) -> None:
    if divisor.is_zero or not (resource in RESOURCES or resource.startswith(PAGES)):
        return
    allowed = OF_CPU if resource in ("limits.cpu", "requests.cpu") else OF_BYTES
    if str(divisor) not in allowed:
        from trainc.kubernetes.structural.remedies import listed

        found.complain(
            POD_FILE,
            (at, "divisor"),
            f"divisor is {divisor}, which {resource} cannot be divided by",
            f"write {listed([*allowed], 'or')}",
            field=spelled(named, "divisor"),
        )
