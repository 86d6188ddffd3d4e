"""The sources of volumes that few people use: one table, source -> rule.

Most of them are asked for their required fields alone. The cluster has drivers for few of them left, and still checks
what they are told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.validation import files
from trainc.kubernetes.validation.findings import Findings, Rule, label, one_of, required, spelled, subdomain
from trainc.kubernetes.violations import TOO_LONG

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

VOLUME_DRIVER: Final = Declaration("volume-driver", ("job",), "What a volume's driver is told does not fit together")

_QUALIFIED_NAME: Final = r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+:[^,;*&$|\t\n\f\r ]+\Z"
_NUMBERS: Final = {"eui": r"eui.[A-Za-z0-9]{16}\Z", "naa": r"naa.[A-Za-z0-9]{32}\Z"}
_MOST: Final = 255
"""Of logical units and partitions."""
_TARGET: Final = 64
_TENANT: Final = 64
_DRIVER: Final = 63
_CACHING: Final = ("None", "ReadOnly", "ReadWrite")
_DISKS: Final = {"Shared": "https://", "Dedicated": "https://", "Managed": "/subscriptions/"}
"""The kinds of an Azure disk, and how the URI of one begins."""
_caching: Final = one_of(*_CACHING)
_disk: Final = one_of(*_DISKS)


def _needs(*keys: str) -> Rule:
    """The rule of a source that has required fields alone, and maybe a Secret, which must be named."""

    def rule(found: Findings, at: At, value: Tree) -> None:
        required(found, at, value, *keys)

    return rule


def _with_secret(*keys: str) -> Rule:
    def rule(found: Findings, at: At, value: Tree) -> None:
        required(found, at, value, *keys)
        _secret(found, at, value)

    return rule


def _secret(found: Findings, at: At, value: Tree) -> None:
    if (secret := value.get("secretRef")) is not None:
        required(found, (at, "secretRef"), secret, "name")


def _fault(found: Findings, at: At, message: str, help: str, *, field: str = "") -> None:
    found.complain(VOLUME_DRIVER, at, message, help, field=field)


def _number(found: Findings, at: At, value: int, *, field: str = "") -> None:
    if not 0 <= value <= _MOST:
        from trainc.kubernetes.validation import complaints

        complaints.out_of_range(found, at, value, 0, _MOST, field=field)


def _too_long(found: Findings, at: At, value: str, most: int) -> None:
    from trainc.kubernetes.validation.complaints import called

    message = f"{called(at)} has {len(value.encode())} characters, and may have {most}"
    found.complain(TOO_LONG, at, message, "write a shorter one")


def _disk_with_partition(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "volumeID")
    _number(found, (at, "partition"), value.get("partition", 0))


def _gce(found: Findings, at: At, value: Tree) -> None:
    """The cluster calls it `persistentDisk`."""
    assert at is not None
    if not value.get("pdName"):
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, (at, "pdName"), field=spelled(at[0], "persistentDisk", "pdName"))
    field = spelled(at[0], "persistentDisk", "partition")
    _number(found, (at, "partition"), value.get("partition", 0), field=field)


def _git(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "repository")
    if directory := value.get("directory"):
        files.below(found, (at, "directory"), directory)


def _iscsi(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "targetPortal", "iqn")
    if value.get("iqn"):
        _iscsi_name(found, (at, "iqn"), value["iqn"])
    _number(found, (at, "lun"), value.get("lun", 0))
    if "initiatorName" in value:
        _iscsi_name(found, (at, "initiatorName"), value["initiatorName"], field=spelled(at, "initiatorname"))
    if (value.get("chapAuthDiscovery") or value.get("chapAuthSession")) and "secretRef" not in value:
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, (at, "secretRef"), "add the Secret that CHAP is to use")


def _iscsi_name(found: Findings, at: At, value: str, *, field: str = "") -> None:
    kind = value[:3]
    if (kind == "iqn" and re.search(_QUALIFIED_NAME, value)) or re.match(_NUMBERS.get(kind, r"(?!)"), value):
        return
    from trainc.kubernetes.structural.remedies import shown
    from trainc.kubernetes.validation.complaints import called

    found.complain(
        VOLUME_DRIVER,
        at,
        f"{called(at)} is {shown(value)}, which is no iSCSI name",
        "write one such as iqn.2001-04.com.example:storage, eui. with 16 digits, or naa. with 32",
        field=field,
    )


def target_length(found: Findings, at: At, volume: Tree) -> None:
    """The name of an iSCSI volume and its portal, which make one name where there is an initiator's."""
    iscsi = volume["iscsi"]
    made = f"{volume.get('name', '')}:{iscsi.get('targetPortal', '')}"
    if "initiatorName" in iscsi and len(made.encode()) > _TARGET:
        _fault(
            found,
            (at, "name"),
            f"the volume's name and targetPortal have {len(made.encode())} characters with a colon between, "
            f"and may have {_TARGET} where there is an initiatorName",
            "write a shorter name",
        )


def _flocker(found: Findings, at: At, value: Tree) -> None:
    name, uuid = value.get("datasetName"), value.get("datasetUUID")
    if bool(name) == bool(uuid):
        has = "datasetName and" if name else "neither datasetName nor"
        _fault(found, at, f"flocker has {has} datasetUUID, and must have one of them", "write one of them")
    if name and "/" in name:
        _fault(found, (at, "datasetName"), f'datasetName is {name}, and has "/" in it', "write it without")


def _quobyte(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "registry", "volume")
    registry, tenant = value.get("registry"), value.get("tenant", "")
    if registry and len(tenant.encode()) > _TENANT:
        _too_long(found, (at, "tenant"), tenant, _TENANT)
    elif registry and not all(map(_is_address, registry.split(","))):
        message = f"registry is {registry}, and must be made of hosts with ports"
        _fault(found, (at, "registry"), message, "for example registry:7861, several with a comma between")


def _is_address(text: str) -> bool:
    """Whether a text is a host, a colon and a port; a host that has colons of its own stands in brackets."""
    host, colon, port = text.rpartition(":")
    if host[:1] == "[":
        host = host[1:-1] if host.endswith("]") else "["
        return bool(colon) and not set("[]") & set(host + port)
    return bool(colon) and not set("[]:") & set(host) and not set("[]") & set(port)


def _fibre_channel(found: Findings, at: At, value: Tree) -> None:
    targets, ids = value.get("targetWWNs"), value.get("wwids")
    if bool(targets) == bool(ids):
        has = "targetWWNs and" if targets else "neither targetWWNs nor"
        message = f"fc has {has} wwids, and must have one of them"
        _fault(found, at, message, "write one of them", field=spelled(at, "targetWWNs"))
    if targets and "lun" not in value:
        required(found, at, value, "lun")
    elif targets:
        _number(found, (at, "lun"), value["lun"])


def _flex(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "driver")
    for key in value.get("options") or ():
        if f".{key.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            message = f"the option {key} has a domain that Kubernetes keeps for itself"
            help = "write the driver's own name of the option"
            found.complain(
                VOLUME_DRIVER,
                ((at, "options"), key),
                message,
                help,
                field=f"{spelled(at, 'options')}[{key}]",
                key=True,
            )


def _azure_disk(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "diskName")
    if "cachingMode" in value:
        _caching(found, (at, "cachingMode"), value["cachingMode"])
    kind = value.get("kind", "Shared")
    _disk(found, (at, "kind"), kind)
    begins = _DISKS.get(kind, "https://")
    uri = value.get("diskURI") or ""
    if not uri:
        required(found, at, value, "diskURI")
    elif not uri.startswith(begins):
        message = f"diskURI is {uri}, and that of a disk of the kind {kind} begins with {begins}"
        _fault(found, (at, "diskURI"), message, "write the URI of the disk, or another kind: the default is Shared")


def _storage_os(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "volumeName")
    for key in ("volumeName", "volumeNamespace"):
        if value.get(key):
            label(found, (at, key), value[key])
    _secret(found, at, value)


def _csi(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "driver")
    driver = value.get("driver") or ""
    if len(driver.encode()) > _DRIVER:
        _too_long(found, (at, "driver"), driver, _DRIVER)
    elif driver:
        subdomain(found, (at, "driver"), driver.lower())
    if (secret := value.get("nodePublishSecretRef")) is not None:
        required(found, (at, "nodePublishSecretRef"), secret, "name")
        if (name := secret.get("name")) and names.is_dns1123_subdomain(name):
            from trainc.kubernetes.validation import complaints

            place = ((at, "nodePublishSecretRef"), "name")
            complaints.bad_name(found, place, name, "subdomain", field=spelled(at, "name"))


DRIVERS: Final[dict[str, Rule]] = {
    "awsElasticBlockStore": _disk_with_partition,
    "azureDisk": _azure_disk,
    "azureFile": _needs("secretName", "shareName"),
    "cephfs": _needs("monitors"),
    "cinder": _with_secret("volumeID"),
    "csi": _csi,
    "fc": _fibre_channel,
    "flexVolume": _flex,
    "flocker": _flocker,
    "gcePersistentDisk": _gce,
    "gitRepo": _git,
    "glusterfs": _needs("endpoints", "path"),
    "iscsi": _iscsi,
    "photonPersistentDisk": _needs("pdID"),
    "portworxVolume": _needs("volumeID"),
    "quobyte": _quobyte,
    "rbd": _needs("monitors", "image"),
    "scaleIO": _needs("gateway", "system", "volumeName"),
    "storageos": _storage_os,
    "vsphereVolume": _needs("volumePath"),
}
"""`volumes.SOURCES` has the others."""
