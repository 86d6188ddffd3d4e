"""Structural schemas: how the API server prunes, defaults and validates a custom resource.

Reads    a schema of schemas/ (the subset of JSON Schema that CRDs may use) and an object.
Returns  the object as the server would store it (unknown fields pruned, nulls dropped, defaults set) and every
         violation. Inputs are never modified; an unchanged part is returned as the same object.
Source   apiextensions-apiserver v0.36.2 (pruning, defaulting, list types), kube-openapi v0.36 (validation).

The nodes collect facts. `schema_messages` turns them into violations; it is imported on the first one.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_path
from trainc.kubernetes.structural.nodes import Array, Compiler, Faults, IntOrString, Map, Metadata, Object
from trainc.kubernetes.violations import Admitted, Violation

if TYPE_CHECKING:
    from trainc.kubernetes.structural.nodes import SchemaNode
    from trainc.kubernetes.trees import Path, Tree

__all__ = ["Admitted", "StructuralSchema", "Violation", "field", "load"]

_DEFINITIONS: Final = "definitions.json"
"""The file with the definitions of several kinds, if they share them."""
_REFERENCE: Final = re.compile(rf'"(?:\.\./([\w.-]+)/)?{re.escape(_DEFINITIONS)}#')
"""The beginning of a reference to a definition, with its folder if it is another one."""


class StructuralSchema:
    """The schema of a kind, which admits objects of that kind."""

    __slots__ = ("_has_status", "_root")

    def __init__(self, schema: Tree) -> None:
        self._root = Object(schema, Compiler(schema))
        self._root.fields["metadata"] = Metadata(schema)
        self._has_status = "status" in self._root.properties

    def is_quantity(self, path: Path) -> bool:
        """Return whether the field at a path is a quantity."""
        node = self._node(path)
        return isinstance(node, IntOrString) and node.pattern is not None

    def has_field(self, path: Path) -> bool:
        """Return whether an object can have a field at a path."""
        return self._node(path) is not None

    def _node(self, path: Path) -> SchemaNode | None:
        node: SchemaNode | None = self._root
        for step in path:
            if isinstance(node, Object):
                node = node.field(str(step))
            elif isinstance(node, Map):
                node = node.value
            else:
                node = node.item if isinstance(node, Array) else None
        return node

    def admit(self, value: Any) -> Admitted:
        """Admit an object on creation. Metadata is not validated; a status is dropped, as the server does."""
        if self._has_status and isinstance(value, dict) and "status" in value:
            value = {key: item for key, item in value.items() if key != "status"}
        faults = Faults()
        admitted = self._root.admit(value, None, faults)
        if not faults.count:
            return Admitted(value=admitted, violations=(), unknown=())
        from trainc.kubernetes.structural.schema_messages import violations_of

        violations, unknown = violations_of(faults, self._root.schema, value)
        return Admitted(value=admitted, violations=violations, unknown=unknown)


@cache  # one value for each schema
def load(kind: str, dialect: str) -> StructuralSchema:
    """Load the schema of a kind in a dialect: `load("TrainJob", "trainer-2.3")`. Raises OSError if there is none."""
    return StructuralSchema(read(kind, dialect))


def read(kind: str, dialect: str) -> Tree:
    """Return the content of a kind's schema file, with its definitions. Raises OSError if there is no file."""
    with open(data_path("schemas", dialect, f"{kind}.json"), encoding="utf-8") as file:
        text = file.read()
    schema: Tree = json.loads(text)
    if reference := _REFERENCE.search(text):
        with open(data_path("schemas", reference[1] or dialect, _DEFINITIONS), encoding="utf-8") as file:
            schema["$defs"] = json.load(file)["$defs"]
    return schema


def bundled(kind: str, dialect: str) -> Tree:
    """Return a kind's schema for another validator, which reads no other file. Raises OSError if there is no file."""
    whole: Tree = json.loads(_REFERENCE.sub('"#', json.dumps(read(kind, dialect))))
    return whole
