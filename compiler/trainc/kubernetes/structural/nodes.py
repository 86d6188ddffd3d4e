"""Nodes: compiled subschemas, which prune, default and validate the values that reach them.

Reads    a schema, and the values that it describes.
Returns  nodes, whose `admit` returns the value to store and adds what is wrong to a `Faults`: facts, which
         `schema_messages` turns into sentences. A subschema is compiled when the first value reaches it: a schema has
         thousands of fields, an object a few dozen.
Source   apiextensions-apiserver v0.36.2 (pruning, defaulting, list types), kube-openapi v0.36 (validation of types,
         formats and ranges), and the Go types behind int-or-string.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes import string_formats
from trainc.kubernetes.trees import Memory

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, PathStep, Tree

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
METADATA: Final = {
    # The fields of ObjectMeta and their types. Name fields are read without the Go type, so the schema rejects a
    # wrong type there.
    "annotations": "object",
    "creationTimestamp": "time",
    "deletionGracePeriodSeconds": "integer",
    "deletionTimestamp": "time",
    "finalizers": "array",
    "generateName": "name",
    "generation": "integer",
    "labels": "object",
    "managedFields": "array",
    "name": "name",
    "namespace": "name",
    "ownerReferences": "array",
    "resourceVersion": "string",
    "selfLink": "string",
    "uid": "string",
}
METADATA_SCHEMA: Final[Tree] = {"type": "object", "properties": {key: {} for key in METADATA}}
"""The part of the schema that a message about an unknown field needs."""
EXPORTED: Final = "creationTimestamp"
"""The field of a template's metadata that Go programs write as null, and CRDs lack: `kubectl apply` omits nulls."""
_INT32: Final = (-(2**31), 2**31 - 1)
_INT64: Final = (-(2**63), 2**63 - 1)
_GREATEST_WHOLE_FLOAT: Final = 2.0**53 - 1  # the server does not treat larger floats as integers


class Faults:
    """The violations and unknown fields of one object, as facts."""

    __slots__ = ("count", "unknown", "violations")

    def __init__(self) -> None:
        self.count = 0
        """The number of violations and unknown fields."""
        self.violations: list[tuple[str, At, tuple[Any, ...]]] = []
        """The functions of `schema_messages` that describe them, with the path and their other arguments."""
        self.unknown: list[tuple[PathStep, Tree]] = []
        """The unknown fields, with the schema of their parent."""

    def report(self, kind: str, at: At, *facts: Any) -> None:
        """Add the violation that the function `kind` of `schema_messages` describes."""
        self.count += 1
        self.violations.append((kind, at, facts))

    def drop(self, at: PathStep, schema: Tree) -> None:
        """Add an unknown field."""
        self.count += 1
        self.unknown.append((at, schema))


class SchemaNode:
    """A compiled subschema."""

    __slots__ = ("plain", "schema")

    def __init__(self, schema: Tree, plain: type | None = None) -> None:
        self.schema = schema
        self.plain = plain
        """The type whose values are all valid; for such a value, the parent skips the call of the node."""

    def admit(self, value: Any, at: At, faults: Faults) -> Any:
        """Return the value to store."""
        if type(value) is not self.plain:
            faults.report("wrong_type", at, value, self.schema)
        return value


class Anything(SchemaNode):
    """A value of any type, which is not validated."""

    __slots__ = ()

    def admit(self, value: Any, at: At, faults: Faults) -> Any:
        """Return the value."""
        return value


def stored_metadata(metadata: Any) -> Any:
    """Return the metadata without nulls and fields unknown to ObjectMeta; a null label or annotation becomes ""."""
    if not isinstance(metadata, dict):
        return metadata
    result = {key: value for key, value in metadata.items() if value is not None and key in METADATA}
    for key in ("labels", "annotations"):
        values = result.get(key)
        if isinstance(values, dict) and None in values.values():
            result[key] = {name: "" if value is None else value for name, value in values.items()}
            metadata = None  # marks a change even if no field was removed
    return metadata if metadata is not None and len(result) == len(metadata) else result


class Metadata(SchemaNode):
    """The object's own metadata, which is read into the Go type ObjectMeta instead of a schema."""

    __slots__ = ()

    def admit(self, value: Any, at: At, faults: Faults) -> Any:
        """Drop the fields that the type does not have; `objectmeta.check` validates the others."""
        admitted = stored_metadata(value)
        if admitted is not value:
            for key in value.keys() - METADATA.keys():
                faults.drop((at, key), METADATA_SCHEMA)
        return admitted


class String(SchemaNode):
    """A string with a minimum or maximum length, a pattern, allowed values or a format."""

    __slots__ = ("enum", "is_time", "longest", "pattern", "shortest")

    def __init__(self, schema: Tree) -> None:
        super().__init__(schema)
        self.shortest: int = schema.get("minLength", 0)
        self.longest: int | None = schema.get("maxLength")
        self.enum: list[str] | None = schema.get("enum")
        self.pattern = string_formats.go_pattern(schema["pattern"]) if "pattern" in schema else None
        self.is_time = "format" in schema
        if schema.get("format", "date-time") != "date-time":
            raise ValueError(f"format {schema['format']} of a string is not implemented")

    def admit(self, value: Any, at: At, faults: Faults) -> Any:
        """Reject a string of the wrong length, value, pattern or format; only the first of these is reported."""
        if type(value) is not str:
            # The schema accepts a list for a time; the decoder does not.
            stage = "read" if self.is_time and isinstance(value, list) else "schema"
            faults.report("wrong_type", at, value, self.schema, stage)
            return value
        if len(value) < self.shortest:
            faults.report("too_short", at, value, self.shortest)
        elif self.longest is not None and len(value) > self.longest:
            faults.report("too_long", at, value, self.longest)
        elif self.enum is not None and value not in self.enum:
            faults.report("not_allowed", at, value, self.enum)
        elif self.pattern is not None and not self.pattern.search(value):
            faults.report("no_match", at, value, self.schema["pattern"])
        elif self.is_time and (rejected_by := string_formats.date_time(value)):
            faults.report("no_time", at, value, rejected_by)
        return value


class Integer(SchemaNode):
    """An integer: int32, or int64 if the schema names no format."""

    __slots__ = ("greatest", "least")

    def __init__(self, schema: Tree) -> None:
        super().__init__(schema)
        low, high = {"int32": _INT32, "int64": _INT64}[schema.get("format", "int64")]
        self.least: int = max(schema.get("minimum", low), low)
        self.greatest: int = min(schema.get("maximum", high), high)

    def admit(self, value: Any, at: At, faults: Faults) -> Any:
        """Reject fractions and numbers out of range."""
        if type(value) is float and value.is_integer() and abs(value) <= _GREATEST_WHOLE_FLOAT:
            value = int(value)
        if type(value) is not int:
            faults.report("wrong_type", at, value, self.schema)
        elif not self.least <= value <= self.greatest:
            faults.report("out_of_range", at, value, self.least, self.greatest)
        return value


class IntOrString(SchemaNode):
    """A number or a string: a quantity if it has a pattern; otherwise a port or a percentage."""

    __slots__ = ("pattern",)

    def __init__(self, schema: Tree) -> None:
        super().__init__(schema)
        self.pattern = string_formats.go_pattern(schema["pattern"]) if "pattern" in schema else None
        if schema.get("pattern", string_formats.QUANTITY) != string_formats.QUANTITY:
            raise ValueError(f"the pattern {schema['pattern']} of an int-or-string is not implemented")

    def admit(self, value: Any, at: At, faults: Faults) -> Any:
        """Reject a value that is not a quantity (or a port)."""
        if type(value) is str:
            if self.pattern is None:
                return value
            if not self.pattern.search(value):
                faults.report("no_quantity", at, value, "schema")
            elif stage := string_formats.quantity(value):
                faults.report("no_quantity", at, value, stage)
            return value
        if type(value) is float and value.is_integer() and abs(value) <= _GREATEST_WHOLE_FLOAT:
            value = int(value)
        if type(value) is not int or not _INT64[0] <= value <= _INT64[1]:
            faults.report("wrong_type", at, value, self.schema)
        elif self.pattern is None and not _INT32[0] <= value <= _INT32[1]:
            faults.report("out_of_range", at, value, *_INT32, "read")  # only the Go type has this limit
        return value


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

    def admit(self, value: Any, at: At, faults: Faults) -> Any:
        """Admit the items; reject too few items, too many items and duplicates."""
        if id(value) in self.known:
            return value
        if not isinstance(value, list):
            faults.report("wrong_type", at, value, self.schema)
            return value
        count = faults.count
        plain, admit = self.item.plain, self.item.admit
        result = value
        for index, item in enumerate(value):
            if type(item) is plain:
                continue
            # A null in a list is not dropped: the node reports its wrong type.
            admitted = admit(item, (at, index), faults)
            if admitted is not item:
                if result is value:
                    result = list(value)
                result[index] = admitted
        if len(result) < self.fewest:
            faults.report("too_few_items", at, len(result), self.fewest)
        elif self.most is not None and len(result) > self.most:
            faults.report("too_many_items", at, len(result), self.most)
        if self.unique and len(result) > 1:
            self._check_unique(result, at, faults)
        if result is value and faults.count == count:
            self.known.keep(id(value), value)
        return result

    def _check_unique(self, items: list[Any], at: At, faults: Faults) -> None:
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
            faults.report("duplicate_item", (at, second), items[second], keys, [first, *more])


class Map(SchemaNode):
    """A mapping with arbitrary keys and values of one type."""

    __slots__ = ("known", "value")

    def __init__(self, schema: Tree, compiler: Compiler) -> None:
        super().__init__(schema)
        self.known = Memory()
        self.value = compiler.node(schema["additionalProperties"])

    def admit(self, value: Any, at: At, faults: Faults) -> Any:
        """Admit the values; drop nulls."""
        if id(value) in self.known:
            return value
        if not isinstance(value, dict):
            faults.report("wrong_type", at, value, self.schema)
            return value
        count = faults.count
        plain, admit = self.value.plain, self.value.admit
        result = value
        for key, item in value.items():
            if type(item) is plain:
                continue
            admitted = None if item is None else admit(item, (at, key), faults)
            if admitted is not item or item is None:
                if result is value:
                    result = dict(value)
                if item is None:
                    del result[key]
                else:
                    result[key] = admitted
        if result is value and faults.count == count:
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
            # The defaults of its own fields apply to a mapping, too.
            (name, compiler.node(child).admit(default, None, Faults()) if isinstance(default, dict | list) else default)
            for name, child in self.properties.items()
            if (default := resolved(compiler.root, child).get("default")) is not None
        )

    def admit(self, value: Any, at: At, faults: Faults) -> Any:
        """Admit the fields: drop unknown fields and nulls, add defaults, then reject missing required fields."""
        if id(value) in self.known:
            return value
        if not isinstance(value, dict):
            faults.report("wrong_type", at, value, self.schema)
            return value
        count = faults.count
        fields, plain = self.fields, self.plain_fields
        result = value
        for key, item in value.items():
            if type(item) is plain.get(key):
                continue
            node = fields.get(key) or self._compile(key)
            if node is None or item is None:
                if node is None and not (item is None and key == EXPORTED and "annotations" in self.properties):
                    faults.drop((at, key), self.schema)
                if result is value:
                    result = dict(value)
                del result[key]
                continue
            admitted = node.admit(item, (at, key), faults)
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
            self._report_missing(value, result, at, faults)
        if len(result) < self.fewest:
            faults.report("too_few_properties", at, list(self.properties))
        if result is value and faults.count == count:
            self.known.keep(id(value), value)
        return result

    def _report_missing(self, value: Tree, result: Tree, at: At, faults: Faults) -> None:
        for name in sorted(self.required - result.keys()):
            child = resolved(self.compiler.root, self.properties.get(name, {}))
            faults.report("missing_field", (at, name), child, name in value)

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

    __slots__ = ("root", "shared")

    def __init__(self, root: Tree) -> None:
        self.root = root
        self.shared: dict[str, SchemaNode] = {}

    def node(self, schema: Tree) -> SchemaNode:
        """Return the node of a subschema. Raises ValueError for a keyword that is not implemented."""
        reference = schema.get("$ref")
        if reference is None:
            return self._make(schema)
        if reference not in self.shared:
            self.shared[reference] = self._make(resolved(self.root, schema))
        return self.shared[reference]

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


def resolved(root: Tree, schema: Tree) -> Tree:
    """Return a subschema, or the definition that it refers to."""
    while (reference := schema.get("$ref")) is not None:
        schema = root["$defs"][reference.rpartition("/")[2]]
    return schema
