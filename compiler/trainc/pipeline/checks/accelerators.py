"""Rules for the accelerators of trainc.yaml that its schema cannot express.

Reads    the accelerators by resource, in the form that the schema requires.
Returns  violations, with paths in the file. The rules apply even if no container requests the resource: the file is
         wrong in any case.
Source   Kubernetes 1.36: resource names that containers can request, host paths, pod volumes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.kubernetes.validation.resource_rules import RESOURCE_NAME, kind_of
from trainc.kubernetes.validation.volume_files import PATH_LEADS_OUT
from trainc.kubernetes.violations import DUPLICATE_ITEM, PATTERN, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree


def violations(accelerators: Tree) -> Iterator[Violation]:
    """Yield a violation for each invalid resource name, relative path, path with `..`, and duplicate name."""
    volumes: dict[str, tuple[str, Path]] = {}
    for resource, accelerator in accelerators.items():
        here: Path = ("accelerators", resource)
        if not kind_of(resource).allowed:
            yield _resource(resource, here)
        for index, volume in enumerate(accelerator.get("volumes") or ()):
            at: Path = (*here, "volumes", index)
            for key in ("hostPath", "mountPath"):
                if not volume[key].startswith("/"):
                    yield _relative_amount(key, volume[key], (*at, key))
            if ".." in volume["hostPath"].split("/"):
                yield _leads_out(volume["hostPath"], (*at, "hostPath"))
            first, where = volumes.setdefault(volume["name"], (volume["hostPath"], (*at, "name")))
            if first != volume["hostPath"]:
                yield _two_volumes(volume["name"], first, (*at, "hostPath"), where)
        names = [variable["name"] for variable in accelerator.get("env") or ()]
        for index, variable in enumerate(accelerator.get("envVars") or ()):
            if variable["name"] in names:
                yield _duplicate_accelerator(
                    variable["name"], (*here, "envVars", index), (*here, "env", names.index(variable["name"]))
                )


def _resource(resource: str, path: Path) -> Violation:
    message = f'"{resource}" is not a resource that a container can request'
    help = "use the name from a container's limits, with the vendor's domain, such as nvidia.com/gpu"
    return Violation.at(path, RESOURCE_NAME, message, help, key=True)


def _relative_amount(key: str, value: str, path: Path) -> Violation:
    message = f'{key} must be an absolute path, not "{value}"'
    return Violation.at(path, PATTERN, message, f"use /{value}, or another absolute path")


def _leads_out(host_path: str, path: Path) -> Violation:
    message = f'hostPath "{host_path}" must not contain ..'
    return Violation.at(path, PATH_LEADS_OUT, message, "use the path that it resolves to")


def _two_volumes(name: str, other: str, path: Path, first: Path) -> Violation:
    message = f'hostPath differs from the first volume "{name}", which has "{other}"'
    help = "rename one of the volumes: volume names are unique in a pod"
    return Violation.at(path, DUPLICATE_ITEM, message, help, related=(("the first one", first),))


def _duplicate_accelerator(name: str, path: Path, first: Path) -> Violation:
    message = f'variable "{name}" is set twice'
    help = "remove one: envVars is the older name of env"
    return Violation.at(path, DUPLICATE_ITEM, message, help, related=(("the first one", first),))
