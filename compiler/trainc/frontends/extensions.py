"""Extensions: fields of a runtime's `mlPolicy` that trainc supports in addition to Trainer's CRD; the JSON Schemas.

Reads    schemas/extensions/<key>.json: the schema of `mlPolicy.<key>`, complete or as an addition to the CRD's.
Returns  the runtime schemas with the extensions. After that, an extension's field is like any other field. For editors,
         the schema of any kind in a release or a dialect. For `configurations:` of a kustomization, what kustomize does
         not know: the images of TrainJobs and of volumes, and the references from TrainJobs to runtimes.
Source   trainc's own (difference extensions): they exist only at compile time, and no controller reads them. kustomize
         5.7, api/konfig/builtinpluginconsts: the field specs of its transformers.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_path
from trainc.base.kinds import (
    CLUSTER_RUNTIME,
    COMPILED,
    EACH,
    FOLDERS,
    JOBSET,
    KINDS,
    OF_TRAINC,
    RUNTIME,
    RUNTIMES,
    TRAINJOB,
)
from trainc.base.releases import RELEASES
from trainc.kubernetes.structural import StructuralSchema, bundled
from trainc.kubernetes.trees import get, put

if TYPE_CHECKING:
    from trainc.base.releases import TrainerRelease
    from trainc.kubernetes.trees import Path, Tree


POLICY: Final[Path] = ("properties", "spec", "properties", "mlPolicy", "properties")
PROSE: Final = frozenset({"$schema", "$comment", "$defs", "title"})
"""Keywords that describe the extension's file rather than the field, and $defs, which the whole schema shares."""


@cache  # one value for each kind of runtime and release
def load(kind: str, folder: str) -> StructuralSchema:
    """Return the schema of a runtime kind from a folder of schemas, ready to admit objects."""
    return StructuralSchema(schema(kind, folder))


def schema(kind: str, folder: str) -> Tree:
    """Return the JSON Schema of a runtime kind from a folder of schemas, with the extensions."""
    extended = read(folder, f"{kind}.json")
    for name in sorted(os.listdir(data_path("schemas", "extensions"))):
        extension = read("extensions", name)
        at = (*POLICY, name.removesuffix(".json"))
        added = {keyword: value for keyword, value in extension.items() if keyword not in PROSE}
        extended = put(extended, at, merged(get(extended, at, {}), added))
        extended["$defs"] = extended["$defs"] | extension.get("$defs", {})
    return extended


def merged(schema: Tree, added: Tree) -> Tree:
    """Return a schema with an addition: mappings are merged, other values are replaced."""
    both = (schema.keys() & added.keys()) if schema else ()
    inside = {key: merged(schema[key], added[key]) for key in both if isinstance(added[key], dict)}
    return schema | added | inside


def is_extended(folder: str, kind: str) -> bool:
    """Return whether the schema of that folder and kind has extensions."""
    return any(folder == release.crds for release in RELEASES) and any(kind == runtime.kind for runtime in RUNTIMES)


def read(folder: str, name: str) -> Tree:
    """Return the content of a file in schemas/."""
    with open(data_path("schemas", folder, name), encoding="utf-8") as file:
        found: Tree = json.load(file)
    return found


OF_TRAINER: Final = "spec/trainer/image"
OF_VOLUME: Final = ("spec", "volumes", EACH, "image", "reference")


def schema_of(kind: str, release: TrainerRelease, folder: str = "") -> Any:
    """Return the schema of a kind. Raise FileNotFoundError if the folder of `schemas` has no such kind.

    Args:
        kind: one of `WITH_SCHEMA`.
        release: the release of Trainer.
        folder: the folder of another dialect; by default that of the release.
    """
    from trainc.frontends.descriptions import described

    if kind in OF_TRAINC:
        return read(FOLDERS[kind], f"{kind}.json")
    row = next((row for row in KINDS if row.schema and row.name == kind), None)
    if row is not None:
        return described(kind, bundled(row.kind, row.schema))
    of_release = release.jobset if kind == JOBSET.kind else release.crds
    folder = FOLDERS.get(kind) or folder or of_release
    is_whole = folder == of_release and is_extended(folder, kind)
    return described(kind, schema(kind, folder) if is_whole else read(folder, f"{kind}.json"))


def configurations() -> dict[str, Any]:
    """Return the content of a file for `configurations:` of a kustomization."""
    images = [{"path": OF_TRAINER, "kind": TRAINJOB.kind, "group": TRAINJOB.group}]
    for kind in COMPILED:
        images += [
            {"path": _kustomize_path((*template, *OF_VOLUME)), "kind": kind.kind, "group": kind.group}
            for template in kind.pods
        ]
    reference = {"path": "spec/runtimeRef/name", "kind": TRAINJOB.kind, "group": TRAINJOB.group}
    references = [
        {"kind": kind.kind, "group": kind.group, "fieldSpecs": [reference]} for kind in (CLUSTER_RUNTIME, RUNTIME)
    ]
    return {"images": images, "nameReference": references}


def _kustomize_path(steps: tuple[str, ...]) -> str:
    """Return a path in kustomize's notation, in which `[]` is each item of a list.

    >>> _kustomize_path(("spec", "jobs", "*", "image"))
    'spec/jobs[]/image'
    """
    return "/".join(steps).replace(f"/{EACH}", "[]")
