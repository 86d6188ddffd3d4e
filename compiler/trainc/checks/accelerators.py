"""What cannot be right with the accelerators of trainc.yaml, beyond what its schema refuses.

Reads    the accelerators by resource, in the form that the schema asks for.
Returns  violations, with paths that lead into the file. They are looked for whether or not a container asks for the
         resource: the file is wrong before somebody does.
Source   Kubernetes 1.36: names of resources that containers can ask for, paths of a host, volumes of a pod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.kubernetes.validation.files import PATH_LEADS_OUT
from trainc.kubernetes.validation.resources import RESOURCE_NAME, kind_of
from trainc.kubernetes.violations import DUPLICATE_ITEM, PATTERN, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree


def violations(accelerators: Tree) -> Iterator[Violation]:
    """Resources that nobody can ask for, paths that are relative or go up, and what is said twice."""
    volumes: dict[str, tuple[str, Path]] = {}
    for resource, accelerator in accelerators.items():
        here: Path = ("accelerators", resource)
        if not kind_of(resource).allowed:
            yield _resource(resource, here)
        for index, volume in enumerate(accelerator.get("volumes") or ()):
            at: Path = (*here, "volumes", index)
            for key in ("hostPath", "mountPath"):
                if not volume[key].startswith("/"):
                    yield _relative(key, volume[key], (*at, key))
            if ".." in volume["hostPath"].split("/"):
                yield _leads_out(volume["hostPath"], (*at, "hostPath"))
            first, where = volumes.setdefault(volume["name"], (volume["hostPath"], (*at, "name")))
            if first != volume["hostPath"]:
                yield _two_volumes(volume["name"], first, (*at, "hostPath"), where)
        names = [variable["name"] for variable in accelerator.get("env") or ()]
        for index, variable in enumerate(accelerator.get("envVars") or ()):
            if variable["name"] in names:
                yield _twice(variable["name"], (*here, "envVars", index), (*here, "env", names.index(variable["name"])))


def _resource(resource: str, path: Path) -> Violation:
    message = f'no container can ask for "{resource}"'
    help = "write it as a container's limits do, with the domain of who offers it: nvidia.com/gpu"
    return Violation.at(path, RESOURCE_NAME, message, help, key=True)


def _relative(key: str, value: str, path: Path) -> Violation:
    message = f'{key} is "{value}", which does not begin at the root'
    return Violation.at(path, PATTERN, message, f"write /{value}, or where else it is")


def _leads_out(host_path: str, path: Path) -> Violation:
    message = f'hostPath is "{host_path}", which goes up by ..'
    return Violation.at(path, PATH_LEADS_OUT, message, "write where it leads")


def _two_volumes(name: str, other: str, path: Path, first: Path) -> Violation:
    message = f'hostPath is another one than that of the first volume "{name}": "{other}"'
    help = "give one of them another name: a pod has one volume of a name"
    return Violation.at(path, DUPLICATE_ITEM, message, help, related=(("the first one", first),))


def _twice(name: str, path: Path, first: Path) -> Violation:
    message = f'a second variable "{name}"'
    help = "keep one: envVars is the older spelling of env"
    return Violation.at(path, DUPLICATE_ITEM, message, help, related=(("the first one", first),))
