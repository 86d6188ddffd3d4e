"""The way out for a field that a runtime may have and a patch may not.

Reads    a TrainJob, and the path of a field in its runtimePatches that TrainJobs do not have.
Returns  half a sentence. Imported when such a field is there.
Source   Kubeflow Trainer v2.3, the schemas of TrainJob and TrainingRuntime: a patch has few of a pod's fields.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Final

from trainc.data import data_path
from trainc.kubernetes.trees import get
from trainc.plan import NODE

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path, Tree

PATCH: Final = ("trainingRuntimeSpec",)
OF_TRAINER: Final = {
    "args": "args",
    "command": "command",
    "env": "env",
    "image": "image",
    "resources": "resourcesPerNode",
}
"""What spec.trainer says of the container `node`."""


def way_out(job: Tree, path: Path, release: str) -> str:
    """Where to write what is at a path of a TrainJob; nothing where no runtime has such a field."""
    if path[:2] != ("spec", "runtimePatches") or path[3:4] != PATCH:
        return ""
    *parent, name = (step for step in path[4:] if isinstance(step, str))
    if name not in known(tuple(parent), release):
        return ""
    if path[-3:-2] == ("containers",) and name in OF_TRAINER and get(job, (*path[:-1], "name")) == NODE:
        return f"did you mean spec.trainer.{OF_TRAINER[name]}?"
    return "a patch cannot set it: write it into the runtime"


@cache
def known(path: tuple[str, ...], release: str) -> frozenset[str]:
    """The fields of a runtime's spec at a path, which leads through the items of lists."""
    with open(data_path("schemas", release, "TrainingRuntime.json"), encoding="utf-8") as file:
        root = json.load(file)
    schema = root
    for step in ("spec", *path):
        schema = _resolved(schema.get("properties", {}).get(step, {}), root)
    return frozenset(schema.get("properties", ()))


def _resolved(schema: Tree, root: Tree) -> Tree:
    """The mapping that a subschema, or the items of a list, describe."""
    while "$ref" in schema or "items" in schema:
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
        else:
            schema = schema["items"]
    return schema
