"""Where a container has the pod's volumes: as folders, or as block devices.

The cluster says no index where it means the path below a volume, or how a mount is shared with the node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation.findings import Findings, field_of

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

BLOCK_DEVICE: Final = Declaration("block-device", ("job",), "A volume cannot be used as a block device")
MOUNT_PATH_TAKEN: Final = Declaration("mount-path-taken", ("job",), "Two volumes are at the same path of a container")
MOUNT_MODE: Final = Declaration("mount-mode", ("job",), "A mount is shared or read-only in a way that it cannot be")
SUB_PATH: Final = Declaration("sub-path", ("job",), "A path leads out of its volume")
VOLUME_MISSING: Final = Declaration("volume-missing", ("job",), "A container uses a volume that the pod does not have")
PROPAGATIONS: Final = ("None", "HostToContainer", "Bidirectional")
RECURSIVE: Final = ("Disabled", "IfPossible", "Enabled")
CLAIMS: Final = ("persistentVolumeClaim", "ephemeral")
"""The sources of a volume that can be a block device."""


def of_container(found: Findings, at: At, container: Tree) -> None:
    """The mounts and devices of one container."""
    mounts, devices = container.get("volumeMounts") or (), container.get("volumeDevices") or ()
    here: At = (at, "volumeMounts")
    places: dict[str, At] = {}
    for index, mount in enumerate(mounts):
        _mount(found, (here, index), mount, container, places)
    if devices:
        _devices(found, (at, "volumeDevices"), devices)
    if mounts and devices:
        _both(found, at, container)


def no_volume(found: Findings, at: At, name: str) -> None:
    """Complain of a volume that is not there, or counts as missing because it is refused itself."""
    from trainc.kubernetes.structural.remedies import shown
    from trainc.nearest import nearest

    if name in found.volumes:
        there = volume_at(found, at, name)
        found.complain(
            VOLUME_MISSING,
            at,
            f"the volume {shown(name)} counts as missing, since it is refused itself",
            "put the volume right",
            related=(("the volume", there),) if there else (),
        )
        return
    near = nearest(name, [known for known, volume in found.volumes.items() if volume])
    found.complain(
        VOLUME_MISSING,
        at,
        f"no volume of the pod is called {shown(name)}",
        f"did you mean {near}?"
        if near
        else f"add it to the pod's volumes: `- {{name: {name}, persistentVolumeClaim: {{claimName: ...}}}}`, or with "
        "another source, such as emptyDir for scratch space",
    )


def volume_at(found: Findings, at: At, name: str) -> At:
    """The place of a volume of the pod, of which `at` is a place."""
    while at is not None and at[1] != "spec":
        at = at[0]
    for index, volume in enumerate(found.pod.get("volumes") or ()):
        if volume.get("name") == name:
            return (at, "volumes"), index
    return None


def _mount(found: Findings, at: At, mount: Tree, container: Tree, places: dict[str, At]) -> None:
    name, path = mount.get("name", ""), mount.get("mountPath", "")
    if not (name and path):
        _incomplete(found, at, mount)
    if name and not found.volumes.get(name):
        no_volume(found, (at, "name"), name)
    first = places.setdefault(path, at)
    if first is not at and path:
        _taken(found, (at, "mountPath"), path, (first, "mountPath"))
    if "subPath" in mount or "subPathExpr" in mount:
        _sub_paths(found, at, mount)
    if "mountPropagation" in mount:
        _propagation(found, at, mount["mountPropagation"], container)
    if "recursiveReadOnly" in mount:
        _recursive(found, at, mount)


def _incomplete(found: Findings, at: At, mount: Tree) -> None:
    from trainc.kubernetes.validation import complaints

    if not mount.get("name"):
        complaints.missing(found, (at, "name"), "name a volume of the pod")
    if not mount.get("mountPath"):
        complaints.missing(found, (at, "mountPath"), "say where the container finds the volume: mountPath: /data")


def _taken(found: Findings, at: At, path: str, first: At) -> None:
    from trainc.kubernetes.structural.remedies import shown

    found.complain(
        MOUNT_PATH_TAKEN,
        at,
        f"two volumes of the container are at {shown(path)}",
        "give one of them another path",
        related=(("the other one", first),),
    )


def _sub_paths(found: Findings, at: At, mount: Tree) -> None:
    """The folder or file of a volume that is mounted, as it is or with variables in it."""
    assert at is not None
    for key in ("subPath", "subPathExpr"):
        path = mount.get(key)
        if not path:
            continue
        if key == "subPathExpr" and mount.get("subPath"):
            found.complain(
                SUB_PATH,
                (at, key),
                "a mount has subPath or subPathExpr, and this one has both",
                "keep the one that is meant: subPathExpr is the one with variables, as in $(POD_NAME)",
                related=(("subPath", (at, "subPath")),),
            )
        if path.startswith("/") or ".." in path.split("/"):
            why = "it begins with a slash" if path.startswith("/") else '".." leads out of the volume'
            found.complain(
                SUB_PATH,
                (at, key),
                f"{key} is {path}, which is no path inside a volume: {why}",
                "write the path as seen from the top of the volume: logs/run-1",
                field=field_of((at[0], key)),
            )


def _propagation(found: Findings, at: At, propagation: str, container: Tree) -> None:
    """Whether what is mounted below a mount is seen on the node, and here what the node mounts."""
    from trainc.kubernetes.validation import complaints

    assert at is not None
    field = field_of((at[0], "mountPropagation"))
    if propagation not in PROPAGATIONS:
        complaints.not_allowed(found, (at, "mountPropagation"), propagation, PROPAGATIONS, field=field)
    elif propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        found.complain(
            MOUNT_MODE,
            (at, "mountPropagation"),
            "mountPropagation is Bidirectional, and the container is not privileged",
            "write HostToContainer, which any container may; or securityContext: {privileged: true}",
            field=field,
        )


def _recursive(found: Findings, at: At, mount: Tree) -> None:
    """Whether what is mounted below a mount is read-only as well."""
    from trainc.kubernetes.validation import complaints

    assert at is not None
    here, value, propagation = (at, "recursiveReadOnly"), mount["recursiveReadOnly"], mount.get("mountPropagation")
    field = field_of((at[0], "recursiveReadOnly"))
    if value not in RECURSIVE:
        complaints.not_allowed(found, here, value, RECURSIVE, field=field)
    elif value != "Disabled" and not mount.get("readOnly"):
        found.complain(
            MOUNT_MODE,
            here,
            f"recursiveReadOnly is {value}, and the mount is not read-only",
            "write readOnly: true as well",
            field=field,
        )
    if value in RECURSIVE[1:] and propagation not in (None, "None"):
        found.complain(
            MOUNT_MODE,
            here,
            f"recursiveReadOnly is {value}, and mountPropagation lets mounts in",
            "remove one of the two",
            field=field,
            related=(("mountPropagation", (at, "mountPropagation")),),
        )


def _devices(found: Findings, at: At, devices: list[Tree]) -> None:
    from trainc.kubernetes.validation import complaints

    names: dict[str, At] = {}
    paths: dict[str, At] = {}
    for index, device in enumerate(devices):
        here = (at, index)
        name, path = device.get("name", ""), device.get("devicePath", "")
        if name:
            _device(found, (here, "name"), name, names)
        else:
            complaints.missing(found, (here, "name"), "name a volume of the pod that is a claim")
        if not path:
            complaints.missing(found, (here, "devicePath"), "say which device it is: devicePath: /dev/xvda")
        elif ".." in path.split("/"):
            found.complain(
                BLOCK_DEVICE,
                (here, "devicePath"),
                f'devicePath is {path}, and there may be no ".." in it',
                "write the path without ..",
            )
        elif path in paths:
            _taken(found, (here, "devicePath"), path, paths[path])
        else:
            paths[path] = (here, "devicePath")


def _device(found: Findings, at: At, name: str, names: dict[str, At]) -> None:
    """The volume of a device; `names` has the places of those before, and gets this one."""
    from trainc.kubernetes.structural.remedies import shown

    if name in names:
        found.complain(
            BLOCK_DEVICE,
            at,
            f"the volume {shown(name)} is two devices of the container",
            "keep one of them",
            related=(("the first one", names[name]),),
        )
    names.setdefault(name, at)
    volume = found.volumes.get(name)
    if not volume:
        no_volume(found, at, name)
    elif not any(source in volume for source in CLAIMS):
        found.complain(
            BLOCK_DEVICE,
            at,
            f"the volume {shown(name)} is no claim, and only a claim can be a block device",
            "name a volume with persistentVolumeClaim or ephemeral, or mount this one: volumeMounts",
            related=(("the volume", volume_at(found, at, name)),),
        )


def _both(found: Findings, at: At, container: Tree) -> None:
    """Volumes and paths that are a mount as well as a device. Of the mounts of one volume the last counts."""
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
                _mount_and_device(found, (here, "name"), name, (there[name], "name"))
            if place and place in paths:
                _taken(found, (here, path), place, (paths[place], other_path))


def _mount_and_device(found: Findings, at: At, name: str, other: At) -> None:
    from trainc.kubernetes.structural.remedies import shown

    found.complain(
        BLOCK_DEVICE,
        at,
        f"the volume {shown(name)} is mounted, and a block device of the same container",
        "remove the mount or the device",
        related=(("the other one", other),),
    )
