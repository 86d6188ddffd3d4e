"""Extensions: fields of a runtime's `mlPolicy` that trainc supports in addition to Trainer's CRD.

Reads    schemas/extensions/<key>.json: the schema of `mlPolicy.<key>`, complete or as an addition to the CRD's.
Returns  the runtime schemas with the extensions. After that, an extension's field is like any other field.
Source   trainc's own (difference extensions): they exist only at compile time, and no controller reads them.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Final

from trainc.base.data import data_path
from trainc.base.kinds import RUNTIMES
from trainc.base.releases import RELEASES
from trainc.kubernetes.structural import StructuralSchema
from trainc.kubernetes.trees import get, put

if TYPE_CHECKING:
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
