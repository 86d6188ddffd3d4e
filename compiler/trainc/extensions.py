"""Extensions: what trainc reads in a runtime's `mlPolicy` beyond Trainer's CRD.

Reads    schemas/extensions/<key>.json: the schema of `mlPolicy.<key>`, whole or as far as it adds to the CRD's.
Returns  the schemas of the runtimes with them. A field of an extension is known like any other from there on.
Source   trainc's own (difference extensions): they are there at compile time, and no controller hears of them.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Final

from trainc.data import data_path
from trainc.frontends import CLUSTER, NAMESPACED
from trainc.kubernetes.structural import StructuralSchema
from trainc.kubernetes.trees import get, put

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path, Tree

RELEASE: Final = "trainer-2.3"
"""The schemas that are extended."""
POLICY: Final[Path] = ("properties", "spec", "properties", "mlPolicy", "properties")
PROSE: Final = frozenset({"$schema", "$comment", "$defs", "title"})
"""What is said about the file of an extension, not about the field; and what the whole schema has in one place."""


@cache
def load(kind: str) -> StructuralSchema:
    """The schema of a kind of runtime, ready to admit objects of it."""
    return StructuralSchema(schema(kind))


def schema(kind: str) -> Tree:
    """The JSON Schema of a kind of runtime, with the extensions."""
    extended = read(RELEASE, f"{kind}.json")
    for name in sorted(os.listdir(data_path("schemas", "extensions"))):
        extension = read("extensions", name)
        at = (*POLICY, name.removesuffix(".json"))
        added = {keyword: value for keyword, value in extension.items() if keyword not in PROSE}
        extended = put(extended, at, merged(get(extended, at, {}), added))
        extended["$defs"] = extended["$defs"] | extension.get("$defs", {})
    return extended


def merged(schema: Tree, added: Tree) -> Tree:
    """A schema with what another one adds: mappings are merged, anything else is replaced."""
    both = (schema.keys() & added.keys()) if schema else ()
    inside = {key: merged(schema[key], added[key]) for key in both if isinstance(added[key], dict)}
    return schema | added | inside


def is_extended(folder: str, kind: str) -> bool:
    """Whether the schema of that folder and kind has extensions."""
    return folder == RELEASE and kind in (CLUSTER, NAMESPACED)


def read(folder: str, name: str) -> Tree:
    """A file of schemas/."""
    with open(data_path("schemas", folder, name), encoding="utf-8") as file:
        found: Tree = json.load(file)
    return found
