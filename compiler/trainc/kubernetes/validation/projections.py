"""Downward API volumes and projected volumes, whose files come from several places.

The API server drops the sources that need a feature gate which is off by default (clusterTrustBundle, podCertificate),
so they are not checked. The API server's errors for downward API files omit the item: `named` is the place of a
reference in such an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation import volume_files
from trainc.kubernetes.validation.combinators import PodViolations, cluster_field, required_fields
from trainc.kubernetes.validation.volume_files import VOLUME_SOURCES
from trainc.kubernetes.violations import listed, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

PROJECTED_PATH_TWICE: Final = Declaration("projected-path-twice", ("job",))
KINDS: Final = ("secret", "configMap", "downwardAPI", "serviceAccountToken")
MIN_TOKEN_SECONDS: Final = 600
MAX_TOKEN_SECONDS: Final = 2**32
"""The range of a token's expirationSeconds."""
POD_FILE: Final = Declaration("pod-file", ("job",), fix="safe")
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


def downward_api(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a downward API volume."""
    if "defaultMode" in value:
        volume_files.mode(violations, (at, "defaultMode"), value["defaultMode"])
    _downward_files(violations, at, value)


def projected(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a projected volume, which has several sources in one directory."""
    if "defaultMode" in value:
        volume_files.mode(violations, (at, "defaultMode"), value["defaultMode"])
    paths: dict[str, At] = {}
    for index, source in enumerate(value.get("sources") or ()):
        here = ((at, "sources"), index)
        kinds = [kind for kind in KINDS if kind in source]
        for kind in kinds:
            _source(violations, at, (here, kind), source[kind])
            for place, item in enumerate(source[kind].get("items") or ()):
                _unique_path(violations, at, (((here, kind), "items"), place), item.get("path") or "", paths)
        if len(kinds) > 1:
            message = f"sources[{index}] sets {listed(kinds)}, but may set only one source"
            violations.report(VOLUME_SOURCES, here, message, "split it into one item of `sources` per source")


def _source(violations: PodViolations, volume: At, at: At, value: Tree) -> None:
    """Check one source of one kind."""
    assert at is not None
    match at[1]:
        case "serviceAccountToken":
            _token(violations, volume, at, value)
        case "downwardAPI":
            _downward_files(violations, at, value)
        case _:
            required_fields(violations, at, value, "name")
            volume_files.items(violations, (at, "items"), value.get("items") or [])


def _token(violations: PodViolations, volume: At, at: At, value: Tree) -> None:
    """Check a service account token; the API server's error gives its path as the volume's."""
    seconds = value.get("expirationSeconds", MIN_TOKEN_SECONDS)
    if not MIN_TOKEN_SECONDS <= seconds <= MAX_TOKEN_SECONDS:
        violations.out_of_range((at, "expirationSeconds"), seconds, MIN_TOKEN_SECONDS, MAX_TOKEN_SECONDS)
    _path(violations, at, value, volume)


def _downward_files(violations: PodViolations, at: At, value: Tree) -> None:
    """Check the downward API files of a volume or of a projected source."""
    for index, item in enumerate(value.get("items") or ()):
        here = ((at, "items"), index)
        _path(violations, here, item, at)
        if "mode" in item:
            volume_files.mode(violations, (here, "mode"), item["mode"], named=(at, "mode"))
        ref, resource = item.get("fieldRef"), item.get("resourceFieldRef")
        if ref is not None:
            place = (at, "fieldRef")
            pod_field(violations, (here, "fieldRef"), ref, place)
        elif resource is not None:
            place = (at, "resourceFieldRef")
            resource_field(violations, (here, "resourceFieldRef"), resource, place)
        if (ref is None) == (resource is None):
            has = "neither fieldRef nor" if ref is None else "both fieldRef and"
            violations.report(
                POD_FILE,
                here,
                f"a downward API file sets {has} resourceFieldRef, but must set exactly one",
                "add one of them" if ref is None else "keep one of them, and add a separate item for the other",
                field=cluster_field(at),
            )


def _path(violations: PodViolations, at: At, value: Tree, named: At) -> None:
    """Check a file's path, which the API server's error reports as the `path` of the place `named`."""
    if path := value.get("path"):
        volume_files.path_in_volume(violations, (at, "path"), path, named=(named, "path"))
    else:
        violations.report_missing((at, "path"), field=cluster_field(named, "path"))


def _unique_path(violations: PodViolations, volume: At, at: At, path: str, paths: dict[str, At]) -> None:
    """Report two items of a projected volume with the same path."""
    if not path:
        return
    first = paths.setdefault(path, (at, "path"))
    if first != (at, "path"):
        violations.report(
            PROJECTED_PATH_TWICE,
            (at, "path"),
            f"two items of the volume use the path {shown(path)}",
            "change one of the paths",
            field=cluster_field(volume),
            related=(("the first one", first),),
        )


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
            message = f"fieldPath {shown(path)} has an invalid key: it {names.fault_of_key(subscript)}"
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
