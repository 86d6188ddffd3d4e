"""Hints for fields that a runtime can set and a patch cannot.

Reads    a TrainJob, and the path of a field in its runtimePatches that the TrainJob schema does not have.
Returns  the text of a help. This module is imported only if there is such a field.
Source   Kubeflow Trainer v2.3, the schemas of TrainJob and TrainingRuntime: a patch has few of a pod's fields.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Final

from trainc.base.data import data_path
from trainc.base.kinds import RUNTIME
from trainc.kubernetes.trees import get
from trainc.pipeline.plan import NODE

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
"""The fields of the container `node`, and the spec.trainer field that sets each."""


def hint(job: Tree, path: Path, release: str) -> str:
    """Return a hint where to set the field instead, or an empty string if runtimes do not have the field."""
    if path[:2] != ("spec", "runtimePatches") or path[3:4] != PATCH:
        return ""
    *parent, name = (step for step in path[4:] if isinstance(step, str))
    if name not in known(tuple(parent), release):
        return ""
    if path[-3:-2] == ("containers",) and name in OF_TRAINER and get(job, (*path[:-1], "name")) == NODE:
        return f"did you mean spec.trainer.{OF_TRAINER[name]}?"
    return "set it in the runtime: a patch cannot set it"


@cache
def known(path: tuple[str, ...], release: str, *, kind: str = RUNTIME.kind) -> frozenset[str]:
    """Return the fields of the kind's spec at a path. The path passes through list items."""
    with open(data_path("schemas", release, f"{kind}.json"), encoding="utf-8") as file:
        root = json.load(file)
    schema = root
    for step in ("spec", *path):
        schema = _resolved(schema.get("properties", {}).get(step, {}), root)
    return frozenset(schema.get("properties", ()))


def _resolved(schema: Tree, root: Tree) -> Tree:
    """Return the schema that a reference or a list's `items` lead to."""
    while "$ref" in schema or "items" in schema:
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
        else:
            schema = schema["items"]
    return schema
