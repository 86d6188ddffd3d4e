"""Limits: what is too large for those who store it, or pass it on.

Reads    the JobSet as it is stored; the ConfigMaps of a plan.
Returns  violations; findings. Nothing is measured before somebody asks, and a run asks where something may be large.
Source   etcd's limit of a request (1.5 MiB), against the JSON as which the API server stores a custom resource; the
         API server's on a ConfigMap and on annotations (Kubernetes 1.36); Linux' on one string of a program's arguments
         or environment (MAX_ARG_STRLEN, its closing zero included). Names are no matter of this: those of Jobs, pods
         and Services JobSet's webhook looks at (`checks.jobset`), that of a PodGroup is the TrainJob's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.checks import Check, check
from trainc.declarations import Declaration
from trainc.diagnostics import Finding
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import Violation, field_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree
    from trainc.plan import Plan

OBJECT_TOO_LARGE: Final = Declaration("object-too-large", ("jobset",), "An object is larger than etcd stores", own=True)
ARGUMENT_TOO_LONG: Final = Declaration(
    "argument-too-long", ("job",), "An argument or a variable is longer than Linux passes on", own=True
)

MOST_STORED: Final = 3 * 512 * 1024
MOST_DATA: Final = 1024 * 1024
MOST_ARGUMENT: Final = 128 * 1024 - 1
_ESCAPED: Final = "<>&\u2028\u2029"
"""What Go writes into JSON as an escape of six bytes."""


def stored(jobset: Tree) -> Iterator[Violation]:
    """The JobSet as a whole; what takes the most of it is where to look."""
    size = _json_size(jobset)
    if size > MOST_STORED:
        path, largest = _largest(jobset, size)
        yield Violation.at(
            path,
            OBJECT_TOO_LARGE,
            f"the JobSet takes {size} bytes where it is stored, and may take {MOST_STORED}; "
            f"{field_of(path)} alone takes {largest}",
            "put what is large into a ConfigMap or a volume, and mount that",
        )


@check("config-map-too-large", stage="build", title="A ConfigMap holds more than 1 MiB")
def config_maps(plan: Plan) -> Iterator[Finding]:
    """The values of a ConfigMap take at most 1 MiB together; its keys do not count."""
    for tree in plan.others:
        size = sum(map(_size, tree["data"].values())) if tree["kind"] == "ConfigMap" else 0
        if size > MOST_DATA:
            yield Finding(
                message=f'ConfigMap "{tree["metadata"]["name"]}" holds {size} bytes, and may hold {MOST_DATA}',
                help="the names of all nodes are in it, or the whole command: use fewer nodes or a shorter name, "
                "or call a script in the image",
                place=plan.job.at("spec", "trainer", "numNodes"),
            )


def strings(jobset: Tree) -> Iterator[Violation]:
    """What a container is started with, string by string; the fields are those of the Job."""
    for j, job in enumerate(jobset["spec"].get("replicatedJobs") or ()):
        pod = ("template", "spec", "template", "spec")
        for key in ("initContainers", "containers"):
            for c, container in enumerate(get(job, (*pod, key), ())):
                for path, what, size in _strings(container):
                    there = (*pod, key, c, *path)
                    yield Violation.at(
                        ("spec", "replicatedJobs", j, *there),
                        ARGUMENT_TOO_LONG,
                        f"{what} takes {size} bytes, and Linux starts no program with more than "
                        f"{MOST_ARGUMENT} in one string",
                        "put the text into a file: a ConfigMap, a Secret or a volume that is mounted",
                        field=field_of(there[1:]),
                    )


def _strings(container: Tree) -> Iterator[tuple[Path, str, int]]:
    """The strings of a container that are too long: where, what they are, and their size."""
    for index, variable in enumerate(container.get("env") or ()):
        size = _size(variable["name"]) + 1 + _size(variable.get("value") or "")
        if size > MOST_ARGUMENT:
            yield ("env", index, "value"), f"variable {variable['name']} with its name", size
    for key in ("command", "args"):
        for index, word in enumerate(container.get(key) or ()):
            if (size := _size(word)) > MOST_ARGUMENT:
                yield (key, index), f"{key}[{index}]", size


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _json_size(tree: Any) -> int:
    import json

    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    return _size(text) + sum(text.count(character) * (6 - _size(character)) for character in _ESCAPED)


def _largest(tree: Any, size: int) -> tuple[Path, int]:
    """The smallest part of a tree that is most of it, and its size."""
    path: Path = ()
    while isinstance(tree, dict | list) and tree:
        pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
        sizes = {key: _json_size(value) for key, value in pairs}
        key = max(sizes, key=lambda key: sizes[key])
        if sizes[key] * 2 < size:
            break
        path, tree, size = (*path, key), tree[key], sizes[key]
    return path, size


CHECKS: Final[tuple[Check[[Plan]], ...]] = (config_maps,)
