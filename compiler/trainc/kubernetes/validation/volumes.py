"""The volumes of a pod: their names and sources, and which of them other fields may refer to.

Common sources are here; `volumedrivers`, `projections` and `claimtemplates` have the others.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes import names
from trainc.kubernetes.validation import volume_files
from trainc.kubernetes.validation.combinators import (
    FieldRule,
    PodViolations,
    cluster_field,
    imported_later,
    label,
    one_of,
    required_fields,
)
from trainc.kubernetes.validation.resource_rules import thousandths
from trainc.kubernetes.validation.volume_files import VOLUME_SOURCES
from trainc.kubernetes.violations import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_CLUSTER_NAMES: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""The names of surplus sources in the API server's errors that differ from the field names."""

_host_path_type: Final = one_of(*HOST_PATHS)
_pull_policy: Final = one_of("Always", "IfNotPresent", "Never")


def volumes(violations: PodViolations, at: At, volumes: list[Tree]) -> None:
    """Check all volumes, and add them to `found.volumes`: invalid ones as None, unless a valid one has the name."""
    for index, volume in enumerate(volumes):
        here = (at, index)
        violations_before = len(violations.violations)
        sources = [source for source in volume if source != "name"]
        if len(sources) == 1:
            SOURCES[sources[0]](violations, (here, sources[0]), volume[sources[0]])
        elif sources:
            _one_source(violations, here, volume)
        if "iscsi" in volume:
            from trainc.kubernetes.validation import volumedrivers

            volumedrivers.target_length(violations, here, volume)
        name = volume.get("name", "")
        if not name:
            required_fields(violations, here, volume, "name")
        elif not _is_valid_name(name):
            label(violations, (here, "name"), name)
        if first := violations.volumes.get(name):
            place = (at, next(i for i, other in enumerate(volumes) if other is first))
            violations.duplicate((here, "name"), name, (place, "name"), "volume")
        elif len(violations.violations) == violations_before:
            violations.volumes[name] = volume
        elif name:
            violations.volumes.setdefault(name, None)


def added(violations: PodViolations, at: At, volumes: Sequence[Tree]) -> None:
    """Check the names of the volumes that are appended to the pod's own, and add them to `found.volumes`.

    Their claims have the same names, which must be DNS subdomains; that is not checked again.
    """
    for index, volume in enumerate(volumes, len(violations.pod.get("volumes") or ())):
        name = volume["name"]
        wrong = not _is_valid_name(name) and not names.dns1123_subdomain_errors(name)
        if wrong:
            label(violations, ((at, index), "name"), name)
        violations.volumes.setdefault(name, None if wrong else volume)


@lru_cache(maxsize=1024)
def _is_valid_name(name: str) -> bool:
    """Return whether the name is a valid volume name."""
    return not names.dns1123_label_errors(name)


def _one_source(violations: PodViolations, at: At, volume: Tree) -> None:
    """Check a volume with more than one source."""
    first, *others = (source for source in SOURCES if source in volume)
    SOURCES[first](violations, (at, first), volume[first])
    for source in others:
        _one_too_many(violations, at, volume, first, source)


def _one_too_many(violations: PodViolations, at: At, volume: Tree, first: str, second: str) -> None:
    """Report a source after the first one; it is not checked itself."""
    violations.report(
        VOLUME_SOURCES,
        (at, second),
        f"volume {shown(volume.get('name', ''))} sets two sources, {first} and {second}, but may set only one",
        "move one of them to a separate volume, or use a projected volume to combine them in one directory",
        field=cluster_field(at, _CLUSTER_NAMES.get(second, second)),
        related=((first, (at, first)),),
    )


def _empty_dir(violations: PodViolations, at: At, value: Tree) -> None:
    size = value.get("sizeLimit")
    if size is not None and thousandths(size) < 0:
        violations.amount_too_small((at, "sizeLimit"), size, "must not be negative", "remove it for no limit")


def _host_path(violations: PodViolations, at: At, value: Tree) -> None:
    path = value.get("path")
    if not path:
        required_fields(violations, at, value, "path")
        return
    volume_files.no_parent(violations, (at, "path"), path)
    if kind := value.get("type"):
        _host_path_type(violations, (at, "type"), kind)


def _secret(violations: PodViolations, at: At, value: Tree) -> None:
    if not value.get("secretName"):
        violations.report_missing((at, "secretName"), "add secretName; only configMap uses `name`")
    _files(violations, at, value)


def _config_map(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "name")
    _files(violations, at, value)


def _files(violations: PodViolations, at: At, value: Tree) -> None:
    if "defaultMode" in value:
        volume_files.mode(violations, (at, "defaultMode"), value["defaultMode"])
    if "items" in value:
        volume_files.items(violations, (at, "items"), value["items"])


def _claim(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "claimName")


def _nfs(violations: PodViolations, at: At, value: Tree) -> None:
    required_fields(violations, at, value, "server", "path")
    if (path := value.get("path")) and path[0] != "/":
        volume_files.not_absolute(violations, (at, "path"), path)


def _image(violations: PodViolations, at: At, value: Tree) -> None:
    if policy := value.get("pullPolicy"):
        _pull_policy(violations, (at, "pullPolicy"), policy)
    if not value.get("reference"):
        message = "Kubernetes 1.37 rejects an image volume without a reference; Kubernetes 1.36 rejects only its pods"
        violations.report_difference((at, "reference"), message, "set reference")


def _driver(violations: PodViolations, at: At, value: Any) -> None:
    from trainc.kubernetes.validation import volumedrivers

    assert at is not None
    volumedrivers.DRIVERS[str(at[1])](violations, at, value)


SOURCES: Final[dict[str, FieldRule]] = {
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
    "downwardAPI": imported_later("projections", "downward_api"),
    "fc": _driver,
    "flexVolume": _driver,
    "configMap": _config_map,
    "azureFile": _driver,
    "vsphereVolume": _driver,
    "photonPersistentDisk": _driver,
    "portworxVolume": _driver,
    "azureDisk": _driver,
    "storageos": _driver,
    "projected": imported_later("projections", "projected"),
    "scaleIO": _driver,
    "csi": _driver,
    "ephemeral": imported_later("claimtemplates", "ephemeral_volume"),
    "image": _image,
}
"""In the API server's order: if a volume sets two sources, the later one is reported and only the first is checked."""
