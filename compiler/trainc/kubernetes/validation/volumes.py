"""The volumes of a pod: their names and sources, and those that other parts may refer to.

The sources that people use are here; `volumedrivers`, `projections` and `claimtemplates` have the others.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes import names
from trainc.kubernetes.validation import files
from trainc.kubernetes.validation.files import VOLUME_SOURCES
from trainc.kubernetes.validation.findings import Findings, Rule, label, late, one_of, required, spelled
from trainc.kubernetes.validation.resources import thousandths

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree


HOST_PATHS: Final = (
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_SPELLED: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""How the cluster spells a source that is one too many, where it does not spell it like the field."""

_host_path_type: Final = one_of(*HOST_PATHS)
_pull_policy: Final = one_of("Always", "IfNotPresent", "Never")


def volumes(found: Findings, at: At, volumes: list[Tree]) -> None:
    """All volumes; good ones are put into `found.volumes`, refused ones as None where no other has their name."""
    for index, volume in enumerate(volumes):
        here = (at, index)
        before = len(found.violations)
        sources = [source for source in volume if source != "name"]
        if len(sources) == 1:
            SOURCES[sources[0]](found, (here, sources[0]), volume[sources[0]])
        elif sources:
            _several(found, here, volume)
        if "iscsi" in volume:
            from trainc.kubernetes.validation import volumedrivers

            volumedrivers.target_length(found, here, volume)
        name = volume.get("name", "")
        if not name:
            required(found, here, volume, "name")
        elif not _is_good(name):
            label(found, (here, "name"), name)
        if first := found.volumes.get(name):
            from trainc.kubernetes.validation import complaints

            place = (at, next(i for i, other in enumerate(volumes) if other is first))
            complaints.twice(found, (here, "name"), name, (place, "name"), "volumes")
        elif len(found.violations) == before:
            found.volumes[name] = volume
        elif name:
            found.volumes.setdefault(name, None)


@lru_cache(maxsize=1024)
def _is_good(name: str) -> bool:
    """Whether a volume can have the name."""
    return not names.is_dns1123_label(name)


def _several(found: Findings, at: At, volume: Tree) -> None:
    """A volume of more than one source."""
    first, *others = (source for source in SOURCES if source in volume)
    SOURCES[first](found, (at, first), volume[first])
    for source in others:
        _one_too_many(found, at, volume, first, source)


def _one_too_many(found: Findings, at: At, volume: Tree, first: str, second: str) -> None:
    """A source behind the one that counts; it is not looked at."""
    from trainc.kubernetes.structural.remedies import shown

    found.complain(
        VOLUME_SOURCES,
        (at, second),
        f"volume {shown(volume.get('name', ''))} has two sources, {first} and {second}, and may have one",
        "keep one of them; a volume of its own for the other one; several in one folder make a projected volume",
        field=spelled(at, _SPELLED.get(second, second)),
        related=((f"the {first}", (at, first)),),
    )


def _empty_dir(found: Findings, at: At, value: Tree) -> None:
    size = value.get("sizeLimit")
    if size is not None and thousandths(size) < 0:
        from trainc.kubernetes.validation import complaints

        complaints.amount_too_small(found, (at, "sizeLimit"), size, "must not be negative", "remove it for no limit")


def _host_path(found: Findings, at: At, value: Tree) -> None:
    path = value.get("path")
    if not path:
        required(found, at, value, "path")
        return
    files.no_way_up(found, (at, "path"), path)
    if kind := value.get("type"):
        _host_path_type(found, (at, "type"), kind)


def _secret(found: Findings, at: At, value: Tree) -> None:
    if not value.get("secretName"):
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, (at, "secretName"), "add secretName; it is configMap that has `name` instead")
    _files(found, at, value)


def _config_map(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "name")
    _files(found, at, value)


def _files(found: Findings, at: At, value: Tree) -> None:
    if "defaultMode" in value:
        files.mode(found, (at, "defaultMode"), value["defaultMode"])
    if "items" in value:
        files.items(found, (at, "items"), value["items"])


def _claim(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "claimName")


def _nfs(found: Findings, at: At, value: Tree) -> None:
    required(found, at, value, "server", "path")
    if (path := value.get("path")) and path[0] != "/":
        files.not_absolute(found, (at, "path"), path)


def _image(found: Findings, at: At, value: Tree) -> None:
    if policy := value.get("pullPolicy"):
        _pull_policy(found, (at, "pullPolicy"), policy)


def _driver(found: Findings, at: At, value: Any) -> None:
    from trainc.kubernetes.validation import volumedrivers

    assert at is not None
    volumedrivers.DRIVERS[str(at[1])](found, at, value)


SOURCES: Final[dict[str, Rule]] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _driver,
    "gcePersistentDisk": _driver,
    "awsElasticBlockStore": _driver,
    "secret": _secret,
    "nfs": _nfs,
    "iscsi": _driver,
    "glusterfs": _driver,
    "flocker": _driver,
    "persistentVolumeClaim": _claim,
    "rbd": _driver,
    "cinder": _driver,
    "cephfs": _driver,
    "quobyte": _driver,
    "downwardAPI": late("projections", "downward_api"),
    "fc": _driver,
    "flexVolume": _driver,
    "configMap": _config_map,
    "azureFile": _driver,
    "vsphereVolume": _driver,
    "photonPersistentDisk": _driver,
    "portworxVolume": _driver,
    "azureDisk": _driver,
    "storageos": _driver,
    "projected": late("projections", "projected"),
    "scaleIO": _driver,
    "csi": _driver,
    "ephemeral": late("claimtemplates", "ephemeral"),
    "image": _image,
}
"""In the cluster's order: of two sources of a volume the later one is blamed, and only the first one looked at."""
