"""Structural schemas: how the API server prunes, defaults and validates a custom resource.

Reads    a schema of schemas/ (the subset of JSON Schema that CRDs may use) and an object.
Returns  the object as the server would store it (unknown fields pruned, nulls dropped, defaults set) and every
         violation. Inputs are never modified; an unchanged part is returned as the same object.
Source   apiextensions-apiserver v0.36.2 (pruning, defaulting, list types), kube-openapi v0.36 (validation).

A schema is compiled into nodes, one per subschema, when the first value reaches it: a schema has thousands of fields,
an object a few dozen. `schema_messages` has the messages; it is imported on the first violation.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_path
from trainc.kubernetes.structural.value_nodes import (
    Anything,
    Integer,
    IntOrString,
    Metadata,
    SchemaNode,
    SchemaViolations,
    String,
)
from trainc.kubernetes.trees import Memory
from trainc.kubernetes.violations import Admitted, Violation

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Path, Tree

__all__ = ["Admitted", "StructuralSchema", "Violation", "field", "load"]

_DEFINITIONS: Final = "definitions.json"
"""The file with the definitions of several kinds, if they share them."""
_REFERENCE: Final = re.compile(rf'"(?:\.\./([\w.-]+)/)?{re.escape(_DEFINITIONS)}#')
"""The beginning of a reference to a definition, with its folder if it is another one."""
_PROSE: Final = frozenset({"$comment", "$defs", "$schema", "description", "title"})
_IGNORED: Final = frozenset(
    {
        "x-kubernetes-group-version-kind",
        "x-kubernetes-map-type",  # only for server-side apply
        "x-kubernetes-validations",  # implemented by checks.cel
    }
)
_KEYWORDS: Final = {
    "object": frozenset({"properties", "additionalProperties", "required", "minProperties"}),
    "array": frozenset({"items", "minItems", "maxItems", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"}),
    "string": frozenset({"minLength", "maxLength", "pattern", "enum", "format"}),
    "integer": frozenset({"minimum", "maximum", "format"}),
    "boolean": frozenset[str](),
    "int-or-string": frozenset({"x-kubernetes-int-or-string", "anyOf", "pattern"}),
}


class Array(SchemaNode):
    """A list, whose items are unique if they have keys."""

    __slots__ = ("fewest", "item", "keys", "known", "most", "unique")

    def __init__(self, schema: Tree, compiler: Compiler) -> None:
        super().__init__(schema)
        self.known = Memory()
        """Valid values that stay unchanged; two thirds of the values are known from another job."""
        self.item = compiler.node(schema["items"])
        self.fewest: int = schema.get("minItems", 0)
        self.most: int | None = schema.get("maxItems")
        kind = schema.get("x-kubernetes-list-type", "atomic")
        self.unique = kind in ("map", "set")
        self.keys: tuple[str, ...] = tuple(schema.get("x-kubernetes-list-map-keys", ()))

    def admit(self, value: Any, at: At, violations: SchemaViolations) -> Any:
        """Admit the items; reject too few items, too many items and duplicates."""
        if id(value) in self.known:
            return value
        if not isinstance(value, list):
            violations.report("wrong_type", at, value, self.schema)
            return value
        count = violations.count
        plain, admit = self.item.plain, self.item.admit
        result = value
        for index, item in enumerate(value):
            if type(item) is plain:
                continue
            # A null in a list is not dropped: the node reports its wrong type.
            admitted = admit(item, (at, index), violations)
            if admitted is not item:
                if result is value:
                    result = list(value)
                result[index] = admitted
        if len(result) < self.fewest:
            violations.report("too_few_items", at, len(result), self.fewest)
        elif self.most is not None and len(result) > self.most:
            violations.report("too_many_items", at, len(result), self.most)
        if self.unique and len(result) > 1:
            self._check_unique(result, at, violations)
        if result is value and violations.count == count:
            self.known.keep(id(value), value)
        return result

    def _check_unique(self, items: list[Any], at: At, violations: SchemaViolations) -> None:
        keys = self.keys
        if len(keys) == 1:
            key = keys[0]
            names = [item.get(key) if isinstance(item, dict) else item for item in items]
        else:
            names = [tuple(map(item.get, keys)) if keys and isinstance(item, dict) else item for item in items]
        try:
            if len(set(names)) == len(items):
                return
        except TypeError:
            pass  # a list or mapping instead of a scalar: compared by its text below
        places: dict[str, list[int]] = {}
        for index, name in enumerate(names):
            if not keys or isinstance(items[index], dict):
                places.setdefault(json.dumps(name, sort_keys=True), []).append(index)
        for first, second, *more in (same for same in places.values() if len(same) > 1):
            violations.report("duplicate_item", (at, second), items[second], keys, [first, *more])


class Map(SchemaNode):
    """A mapping with arbitrary keys and values of one type."""

    __slots__ = ("known", "value")

    def __init__(self, schema: Tree, compiler: Compiler) -> None:
        super().__init__(schema)
        self.known = Memory()
        self.value = compiler.node(schema["additionalProperties"])

    def admit(self, value: Any, at: At, violations: SchemaViolations) -> Any:
        """Admit the values; drop nulls."""
        if id(value) in self.known:
            return value
        if not isinstance(value, dict):
            violations.report("wrong_type", at, value, self.schema)
            return value
        count = violations.count
        plain, admit = self.value.plain, self.value.admit
        result = value
        for key, item in value.items():
            if type(item) is plain:
                continue
            admitted = None if item is None else admit(item, (at, key), violations)
            if admitted is not item or item is None:
                if result is value:
                    result = dict(value)
                if item is None:
                    del result[key]
                else:
                    result[key] = admitted
        if result is value and violations.count == count:
            self.known.keep(id(value), value)
        return result


class Object(SchemaNode):
    """A mapping with known fields."""

    __slots__ = ("compiler", "defaults", "fewest", "fields", "known", "plain_fields", "properties", "required")

    def __init__(self, schema: Tree, compiler: Compiler) -> None:
        super().__init__(schema)
        self.compiler = compiler
        self.known = Memory()
        self.properties: Tree = schema.get("properties", {})
        self.fields: dict[str, SchemaNode] = {}
        """The nodes of the fields that have occurred in an object."""
        self.plain_fields: dict[str, type | None] = {}
        """The type whose values are all valid, by field: most fields have one, and it is looked up first."""
        self.required = frozenset(schema.get("required", ()))
        self.fewest: int = schema.get("minProperties", 0)
        self.defaults = tuple(
            (name, default)
            for name, child in self.properties.items()
            if (default := compiler.resolve(child).get("default")) is not None
        )
        if any(isinstance(default, dict | list) for _, default in self.defaults):
            raise ValueError("defaults that are mappings or lists are not implemented")

    def admit(self, value: Any, at: At, violations: SchemaViolations) -> Any:
        """Admit the fields: drop unknown fields and nulls, add defaults, then reject missing required fields."""
        if id(value) in self.known:
            return value
        if not isinstance(value, dict):
            violations.report("wrong_type", at, value, self.schema)
            return value
        count = violations.count
        fields, plain = self.fields, self.plain_fields
        result = value
        for key, item in value.items():
            if type(item) is plain.get(key):
                continue
            node = fields.get(key) or self._compile(key)
            if node is None or item is None:
                if node is None:
                    violations.drop((at, key), self.schema)
                if result is value:
                    result = dict(value)
                del result[key]
                continue
            admitted = node.admit(item, (at, key), violations)
            if admitted is not item:
                if result is value:
                    result = dict(value)
                result[key] = admitted
        for name, default in self.defaults:
            if name not in result:
                if result is value:
                    result = dict(value)
                result[name] = default
        if self.required and not self.required <= result.keys():
            self._report_missing(value, result, at, violations)
        if len(result) < self.fewest:
            violations.report("too_few_properties", at, list(self.properties))
        if result is value and violations.count == count:
            self.known.keep(id(value), value)
        return result

    def _report_missing(self, value: Tree, result: Tree, at: At, violations: SchemaViolations) -> None:
        for name in sorted(self.required - result.keys()):
            child = self.compiler.resolve(self.properties.get(name, {}))
            violations.report("missing_field", (at, name), child, name in value)

    def field(self, key: str) -> SchemaNode | None:
        """Return the node of a field; None if it is unknown."""
        return self.fields.get(key) or self._compile(key)

    def _compile(self, key: str) -> SchemaNode | None:
        schema = self.properties.get(key)
        if schema is None:
            return None
        node = self.fields[key] = self.compiler.node(schema)
        self.plain_fields[key] = node.plain
        return node


class Compiler:
    """Compiles the subschemas of one schema into nodes; each definition is compiled once."""

    __slots__ = ("definitions", "shared")

    def __init__(self, root: Tree) -> None:
        self.definitions: Tree = root.get("$defs", {})
        self.shared: dict[str, SchemaNode] = {}

    def node(self, schema: Tree) -> SchemaNode:
        """Return the node of a subschema. Raises ValueError for a keyword that is not implemented."""
        reference = schema.get("$ref")
        if reference is None:
            return self._make(schema)
        if reference not in self.shared:
            self.shared[reference] = self._make(self.resolve(schema))
        return self.shared[reference]

    def resolve(self, schema: Tree) -> Tree:
        """Return the subschema, or the definition that it refers to."""
        reference = schema.get("$ref")
        return schema if reference is None else self.definitions[reference.rpartition("/")[2]]

    def _make(self, schema: Tree) -> SchemaNode:
        if schema == {"x-kubernetes-preserve-unknown-fields": True}:
            return Anything(schema)
        kind = "int-or-string" if schema.get("x-kubernetes-int-or-string") else schema["type"]
        left = schema.keys() - _KEYWORDS[kind] - _IGNORED - _PROSE - {"type", "default"}
        if left:
            raise ValueError(f"keywords {sorted(left)} of a schema of type {kind} are not implemented")
        match kind:
            case "object":
                return Map(schema, self) if "additionalProperties" in schema else Object(schema, self)
            case "array":
                return Array(schema, self)
            case "integer":
                return Integer(schema)
            case "boolean":
                return SchemaNode(schema, bool)
            case "string":
                return String(schema) if schema.keys() & _KEYWORDS["string"] else SchemaNode(schema, str)
        return IntOrString(schema)


class StructuralSchema:
    """The schema of a kind, which admits objects of that kind."""

    __slots__ = ("_has_status", "_root")

    def __init__(self, schema: Tree) -> None:
        self._root = Object(schema, Compiler(schema))
        self._root.fields["metadata"] = Metadata(schema)
        self._has_status = "status" in self._root.properties

    def is_quantity(self, path: Path) -> bool:
        """Return whether the field at a path is a quantity."""
        node: SchemaNode | None = self._root
        for step in path:
            if isinstance(node, Object):
                node = node.field(str(step))
            elif isinstance(node, Map):
                node = node.value
            elif isinstance(node, Array):
                node = node.item
            else:
                return False
        return isinstance(node, IntOrString) and node.pattern is not None

    def admit(self, value: Any) -> Admitted:
        """Admit an object on creation. Metadata is not validated; a status is dropped, as the server does."""
        if self._has_status and isinstance(value, dict) and "status" in value:
            value = {key: item for key, item in value.items() if key != "status"}
        found = SchemaViolations(self._root.schema, value)
        admitted = self._root.admit(value, None, found)
        return Admitted(value=admitted, violations=tuple(found.violations), unknown=found.whole_unknown())


@cache
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
