"""Rarely used volume sources: one table, source -> rule.

For most of them only the required fields are checked. The API server still validates sources whose drivers have been
removed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.validation import volume_files
from trainc.kubernetes.validation.combinators import (
    FieldRule,
    PodViolations,
    called,
    cluster_field,
    label,
    one_of,
    required_fields,
    subdomain,
)
from trainc.kubernetes.violations import TOO_LONG, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

VOLUME_DRIVER: Final = Declaration("volume-driver", ("job",))

_QUALIFIED_NAME: Final = r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+:[^,;*&$|\t\n\f\r ]+\Z"
_NUMBERS: Final = {"eui": r"eui.[A-Za-z0-9]{16}\Z", "naa": r"naa.[A-Za-z0-9]{32}\Z"}
_MAX_NUMBER: Final = 255
"""The limit for logical units and partitions."""
_MAX_TARGET: Final = 64
_MAX_TENANT: Final = 64
_MAX_DRIVER: Final = 63
_CACHING: Final = ("None", "ReadOnly", "ReadWrite")
_DISKS: Final = {"Shared": "https://", "Dedicated": "https://", "Managed": "/subscriptions/"}
"""Azure disk kinds and the prefixes of their URIs."""
_caching: Final = one_of(*_CACHING)
_disk: Final = one_of(*_DISKS)


def _with_required(*keys: str) -> FieldRule:
    """Return the rule for a source of which only the required fields are checked."""

    def rule(violations: PodViolations, at: At, value: Tree) -> None:
        required_fields(violations, at, value, *keys)

    return rule


def _with_secret(*keys: str) -> FieldRule:
    def rule(violations: PodViolations, at: At, value: Tree) -> None:
        required_fields(violations, at, value, *keys)
        _secret(violations, at, value)

    return rule


def _secret(violations: PodViolations, at: At, value: Tree) -> None:
    if (secret := value.get("secretRef")) is not None:
        required_fields(violations, (at, "secretRef"), secret, "name")


def _fault(violations: PodViolations, at: At, message: str, help: str, *, field: str = "") -> None:
    violations.report(VOLUME_DRIVER, at, message, help, field=field)


def _number(violations: PodViolations, at: At, value: int, *, field: str = "") -> None:
    if not 0 <= value <= _MAX_NUMBER:
        violations.out_of_range(at, value, 0, _MAX_NUMBER, field=field)


def _too_long(violations: PodViolations, at: At, value: str, maximum: int) -> None:
    message = f"{called(at)} has {len(value.encode())} characters; the limit is {maximum}"
    violations.report(TOO_LONG, at, message, "shorten it")


def _disk_with_partition(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "volumeID")
    _number(violations, (at, "partition"), value.get("partition", 0))


def _gce(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a GCE disk, which the API server's errors call `persistentDisk`."""
    assert at is not None
    if not value.get("pdName"):
        violations.report_missing((at, "pdName"), field=cluster_field(at[0], "persistentDisk", "pdName"))
    field = cluster_field(at[0], "persistentDisk", "partition")
    _number(violations, (at, "partition"), value.get("partition", 0), field=field)


def _git(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "repository")
    if directory := value.get("directory"):
        volume_files.path_in_directory(violations, (at, "directory"), directory)


def _iscsi(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "targetPortal", "iqn")
    if value.get("iqn"):
        _iscsi_name(violations, (at, "iqn"), value["iqn"])
    _number(violations, (at, "lun"), value.get("lun", 0))
    if "initiatorName" in value:
        _iscsi_name(violations, (at, "initiatorName"), value["initiatorName"], field=cluster_field(at, "initiatorname"))
    if (value.get("chapAuthDiscovery") or value.get("chapAuthSession")) and "secretRef" not in value:
        violations.report_missing((at, "secretRef"), "add the Secret for CHAP authentication")


def _iscsi_name(violations: PodViolations, at: At, value: str, *, field: str = "") -> None:
    kind = value[:3]
    if (kind == "iqn" and re.search(_QUALIFIED_NAME, value)) or re.match(_NUMBERS.get(kind, r"(?!)"), value):
        return
    violations.report(
        VOLUME_DRIVER,
        at,
        f"{called(at)} {shown(value)} is not a valid iSCSI name",
        "use a name such as iqn.2001-04.com.example:storage, eui. with 16 characters, or naa. with 32",
        field=field,
    )


def target_length(violations: PodViolations, at: At, volume: Tree) -> None:
    """Check the combined length of an iSCSI volume's name and portal, which form one name if an initiator is set."""
    iscsi = volume["iscsi"]
    combined = f"{volume.get('name', '')}:{iscsi.get('targetPortal', '')}"
    if "initiatorName" in iscsi and len(combined.encode()) > _MAX_TARGET:
        _fault(
            violations,
            (at, "name"),
            f"the volume's name and targetPortal, joined by a colon, have {len(combined.encode())} characters; "
            f"the limit is {_MAX_TARGET} with an initiatorName",
            "shorten the volume's name",
        )


def _flocker(violations: PodViolations, at: At, value: Tree) -> None:
    name, uuid = value.get("datasetName"), value.get("datasetUUID")
    if bool(name) == bool(uuid):
        has = "both datasetName and" if name else "neither datasetName nor"
        help = "remove one of them" if name else "add one of them"
        _fault(violations, at, f"flocker sets {has} datasetUUID, but must set exactly one", help)
    if name and "/" in name:
        _fault(violations, (at, "datasetName"), f'datasetName {name} contains "/"', "remove the slash")


def _quobyte(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "registry", "volume")
    registry, tenant = value.get("registry"), value.get("tenant", "")
    if registry and len(tenant.encode()) > _MAX_TENANT:
        _too_long(violations, (at, "tenant"), tenant, _MAX_TENANT)
    elif registry and not all(map(_is_address, registry.split(","))):
        message = f"registry must be a list of host:port pairs, not {registry}"
        _fault(
            violations, (at, "registry"), message, "use host:port pairs separated by commas, for example registry:7861"
        )


def _is_address(text: str) -> bool:
    """Return whether a text is a host, a colon and a port; a host that contains colons must be in brackets."""
    host, colon, port = text.rpartition(":")
    if host[:1] == "[":
        host = host[1:-1] if host.endswith("]") else "["
        return bool(colon) and not set("[]") & set(host + port)
    return bool(colon) and not set("[]:") & set(host) and not set("[]") & set(port)


def _fibre_channel(violations: PodViolations, at: At, value: Tree) -> None:
    targets, ids = value.get("targetWWNs"), value.get("wwids")
    if bool(targets) == bool(ids):
        has = "both targetWWNs and" if targets else "neither targetWWNs nor"
        message = f"fc sets {has} wwids, but must set exactly one"
        help = "remove one of them" if targets else "add one of them"
        _fault(violations, at, message, help, field=cluster_field(at, "targetWWNs"))
    if targets and "lun" not in value:
        required_fields(violations, at, value, "lun")
    elif targets:
        _number(violations, (at, "lun"), value["lun"])


def _flex(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "driver")
    for key in value.get("options") or ():
        if f".{key.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            message = f"option {key} uses a domain that Kubernetes reserves"
            help = "use the driver's own option name"
            violations.report(
                VOLUME_DRIVER,
                ((at, "options"), key),
                message,
                help,
                field=f"{cluster_field(at, 'options')}[{key}]",
                key=True,
            )


def _azure_disk(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "diskName")
    if "cachingMode" in value:
        _caching(violations, (at, "cachingMode"), value["cachingMode"])
    kind = value.get("kind", "Shared")
    _disk(violations, (at, "kind"), kind)
    prefix = _DISKS.get(kind, "https://")
    uri = value.get("diskURI") or ""
    if not uri:
        required_fields(violations, at, value, "diskURI")
    elif not uri.startswith(prefix):
        message = f"diskURI must start with {prefix} for kind {kind}, but is {uri}"
        _fault(violations, (at, "diskURI"), message, "fix diskURI, or change kind, which defaults to Shared")


def _storage_os(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "volumeName")
    for key in ("volumeName", "volumeNamespace"):
        if value.get(key):
            label(violations, (at, key), value[key])
    _secret(violations, at, value)


def _csi(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "driver")
    driver = value.get("driver") or ""
    if len(driver.encode()) > _MAX_DRIVER:
        _too_long(violations, (at, "driver"), driver, _MAX_DRIVER)
    elif driver:
        subdomain(violations, (at, "driver"), driver.lower())
    if (secret := value.get("nodePublishSecretRef")) is not None:
        required_fields(violations, (at, "nodePublishSecretRef"), secret, "name")
        if (name := secret.get("name")) and names.dns1123_subdomain_errors(name):
            place = ((at, "nodePublishSecretRef"), "name")
            violations.bad_name(place, name, "subdomain", field=cluster_field(at, "name"))


DRIVERS: Final[dict[str, FieldRule]] = {
    "awsElasticBlockStore": _disk_with_partition,
    "azureDisk": _azure_disk,
    "azureFile": _with_required("secretName", "shareName"),
    "cephfs": _with_required("monitors"),
    "cinder": _with_secret("volumeID"),
    "csi": _csi,
    "fc": _fibre_channel,
    "flexVolume": _flex,
    "flocker": _flocker,
    "gcePersistentDisk": _gce,
    "gitRepo": _git,
    "glusterfs": _with_required("endpoints", "path"),
    "iscsi": _iscsi,
    "photonPersistentDisk": _with_required("pdID"),
    "portworxVolume": _with_required("volumeID"),
    "quobyte": _quobyte,
    "rbd": _with_required("monitors", "image"),
    "scaleIO": _with_required("gateway", "system", "volumeName"),
    "storageos": _storage_os,
    "vsphereVolume": _with_required("volumePath"),
}
"""The rules by source; `volumes.SOURCES` has the rules of the other sources."""
