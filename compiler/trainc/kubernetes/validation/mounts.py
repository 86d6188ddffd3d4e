"""The mounts and block devices of a container.

The API server's errors have no index for the path inside a volume and for the propagation of a mount.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import PodViolations, field_of
from trainc.kubernetes.violations import shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

BLOCK_DEVICE: Final = Declaration("block-device", ("job",))
MOUNT_PATH_TAKEN: Final = Declaration("mount-path-taken", ("job",))
MOUNT_MODE: Final = Declaration("mount-mode", ("job",), fix="unsafe")
SUB_PATH: Final = Declaration("sub-path", ("job",))
VOLUME_MISSING: Final = Declaration("volume-missing", ("job",), fix="safe")
PROPAGATIONS: Final = ("None", "HostToContainer", "Bidirectional")
RECURSIVE: Final = ("Disabled", "IfPossible", "Enabled")
CLAIMS: Final = ("persistentVolumeClaim", "ephemeral")
"""The volume sources that can be block devices."""


def container_mounts(violations: PodViolations, at: At, container: Tree) -> None:
    """Check the mounts and devices of one container."""
    mounts, devices = container.get("volumeMounts") or (), container.get("volumeDevices") or ()
    here: At = (at, "volumeMounts")
    places: dict[str, At] = {}
    for index, mount in enumerate(mounts):
        _mount(violations, (here, index), mount, container, places)
    if devices:
        _devices(violations, (at, "volumeDevices"), devices)
    if mounts and devices:
        _mounts_and_devices(violations, at, container)


def no_volume(violations: PodViolations, at: At, name: str) -> None:
    """Report a volume that does not exist, or that does not count because it is itself invalid."""
    from trainc.base.fixes import replaced_name

    if name in violations.volumes:
        there = volume_at(violations, at, name)
        violations.report(
            VOLUME_MISSING,
            at,
            f"volume {shown(name)} counts as missing because it is itself invalid",
            "fix the volume",
            related=(("the volume", there),) if there else (),
        )
        return
    help = (
        f"add it to the pod's volumes: `- {{name: {name}, persistentVolumeClaim: {{claimName: ...}}}}`, or use "
        "another source, such as emptyDir for scratch space"
    )
    near = replaced_name(path_of(at), name, violations.known_volumes)
    violations.report(VOLUME_MISSING, at, f"the pod has no volume named {shown(name)}", near or help)


def volume_at(violations: PodViolations, at: At, name: str) -> At:
    """Return the place of a volume in the pod that contains the place `at`."""
    while at is not None and at[1] != "spec":
        at = at[0]
    for index, volume in enumerate(violations.pod.get("volumes") or ()):
        if volume.get("name") == name:
            return (at, "volumes"), index
    return None


def _mount(violations: PodViolations, at: At, mount: Tree, container: Tree, places: dict[str, At]) -> None:
    name, path = mount.get("name", ""), mount.get("mountPath", "")
    if not (name and path):
        _incomplete_mount(violations, at, mount)
    if name and not violations.volumes.get(name):
        no_volume(violations, (at, "name"), name)
    first = places.setdefault(path, at)
    if first is not at and path:
        _duplicate_path(violations, (at, "mountPath"), path, (first, "mountPath"))
    if "subPath" in mount or "subPathExpr" in mount:
        _sub_paths(violations, at, mount)
    if "mountPropagation" in mount:
        _propagation(violations, at, mount["mountPropagation"], container)
    if "recursiveReadOnly" in mount:
        _recursive_read_only(violations, at, mount)


def _incomplete_mount(violations: PodViolations, at: At, mount: Tree) -> None:
    if not mount.get("name"):
        violations.report_missing((at, "name"), "set the name of a volume of the pod")
    if not mount.get("mountPath"):
        violations.report_missing((at, "mountPath"), "set the path in the container, for example mountPath: /data")


def _duplicate_path(violations: PodViolations, at: At, path: str, first: At) -> None:
    violations.report(
        MOUNT_PATH_TAKEN,
        at,
        f"two volumes of the container use the path {shown(path)}",
        "change one of the paths",
        related=(("the other one", first),),
    )


def _sub_paths(violations: PodViolations, at: At, mount: Tree) -> None:
    """Check the directory or file of a volume that is mounted, with or without variables in its path."""
    assert at is not None
    for key in ("subPath", "subPathExpr"):
        path = mount.get(key)
        if not path:
            continue
        if key == "subPathExpr" and mount.get("subPath"):
            violations.report(
                SUB_PATH,
                (at, key),
                "the mount sets both subPath and subPathExpr",
                "remove one of them; only subPathExpr expands variables, as in $(POD_NAME)",
                related=(("subPath", (at, "subPath")),),
            )
        if path.startswith("/") or ".." in path.split("/"):
            why = "it starts with a slash" if path.startswith("/") else '".." leads out of the volume'
            violations.report(
                SUB_PATH,
                (at, key),
                f"{key} {path} is not a path inside the volume: {why}",
                "use a path relative to the volume, for example logs/run-1",
                field=field_of((at[0], key)),
            )


def _propagation(violations: PodViolations, at: At, propagation: str, container: Tree) -> None:
    """Check how later mounts below this mount propagate between the container and the node."""
    assert at is not None
    field = field_of((at[0], "mountPropagation"))
    if propagation not in PROPAGATIONS:
        violations.not_allowed((at, "mountPropagation"), propagation, PROPAGATIONS, field=field)
    elif propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        violations.report(
            MOUNT_MODE,
            (at, "mountPropagation"),
            "mountPropagation Bidirectional requires a privileged container",
            "use HostToContainer, or set securityContext: {privileged: true}",
            field=field,
        )


def _recursive_read_only(violations: PodViolations, at: At, mount: Tree) -> None:
    """Check whether mounts below this mount are read-only as well."""
    assert at is not None
    here, value, propagation = (at, "recursiveReadOnly"), mount["recursiveReadOnly"], mount.get("mountPropagation")
    field = field_of((at[0], "recursiveReadOnly"))
    if value not in RECURSIVE:
        violations.not_allowed(here, value, RECURSIVE, field=field)
    elif value != "Disabled" and not mount.get("readOnly"):
        from trainc.base.fixes import addition

        violations.report(
            MOUNT_MODE,
            here,
            f"recursiveReadOnly {value} requires a read-only mount",
            addition(path_of((at, "readOnly")), value=True, title="set readOnly: true"),
            field=field,
        )
    if value in RECURSIVE[1:] and propagation not in (None, "None"):
        violations.report(
            MOUNT_MODE,
            here,
            f"recursiveReadOnly {value} cannot be combined with mountPropagation",
            "remove one of them",
            field=field,
            related=(("mountPropagation", (at, "mountPropagation")),),
        )


def _devices(violations: PodViolations, at: At, devices: list[Tree]) -> None:
    names: dict[str, At] = {}
    paths: dict[str, At] = {}
    for index, device in enumerate(devices):
        here = (at, index)
        name, path = device.get("name", ""), device.get("devicePath", "")
        if name:
            _device(violations, (here, "name"), name, names)
        else:
            violations.report_missing((here, "name"), "set the name of a volume with a claim")
        if not path:
            violations.report_missing((here, "devicePath"), "set the device path, for example devicePath: /dev/xvda")
        elif ".." in path.split("/"):
            violations.report(
                BLOCK_DEVICE,
                (here, "devicePath"),
                f'devicePath {path} contains ".."',
                "use a path without ..",
            )
        elif path in paths:
            _duplicate_path(violations, (here, "devicePath"), path, paths[path])
        else:
            paths[path] = (here, "devicePath")


def _device(violations: PodViolations, at: At, name: str, names: dict[str, At]) -> None:
    """Check a device's volume; `names` maps earlier names to their places and is updated."""
    if name in names:
        violations.report(
            BLOCK_DEVICE,
            at,
            f"volume {shown(name)} is used for two devices of the container",
            "remove one of them",
            related=(("the first device", names[name]),),
        )
    names.setdefault(name, at)
    volume = violations.volumes.get(name)
    if not volume:
        no_volume(violations, at, name)
    elif not any(source in volume for source in CLAIMS):
        violations.report(
            BLOCK_DEVICE,
            at,
            f"volume {shown(name)} is not a claim, which a block device requires",
            "use a volume with persistentVolumeClaim or ephemeral, or mount this one with volumeMounts",
            related=(("the volume", volume_at(violations, at, name)),),
        )


def _mounts_and_devices(violations: PodViolations, at: At, container: Tree) -> None:
    """Report volumes and paths that are both a mount and a device. For each volume, only its last mount counts."""
    mounts, devices = container["volumeMounts"], container["volumeDevices"]
    for one, other, path, other_path in (
        ("volumeMounts", "volumeDevices", "mountPath", "devicePath"),
        ("volumeDevices", "volumeMounts", "devicePath", "mountPath"),
    ):
        mine, theirs = (mounts, devices) if one == "volumeMounts" else (devices, mounts)
        there = {item.get("name", ""): ((at, other), index) for index, item in enumerate(theirs)}
        paths = {theirs[step[1]].get(other_path, ""): step for step in there.values()}
        for index, item in enumerate(mine):
            here, name, place = ((at, one), index), item.get("name", ""), item.get(path, "")
            if name and name in there:
                _mount_and_device(violations, (here, "name"), name, (there[name], "name"))
            if place and place in paths:
                _duplicate_path(violations, (here, path), place, (paths[place], other_path))


def _mount_and_device(violations: PodViolations, at: At, name: str, other: At) -> None:
    violations.report(
        BLOCK_DEVICE,
        at,
        f"volume {shown(name)} is both mounted and a block device in the same container",
        "remove the mount or the device",
        related=(("the other one", other),),
    )
