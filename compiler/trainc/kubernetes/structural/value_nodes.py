"""Structural-schema nodes for single values (strings, numbers, metadata), and the collector of their violations.

Reads    a subschema, and the values that it describes.
Returns  nodes, whose `admit` returns the value to store; `structural` builds mappings and lists from them.
Source   kube-openapi v0.36 (validation of types, formats and ranges), and the Go types behind int-or-string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes import string_formats
from trainc.kubernetes.trees import path_of

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, PathStep, Tree
    from trainc.kubernetes.violations import Violation

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
_MANY: Final = 500
"""More unknown fields in one object are not typing errors, so no similar field is searched for them."""
_INT32: Final = (-(2**31), 2**31 - 1)
_INT64: Final = (-(2**63), 2**63 - 1)
_GREATEST_WHOLE_FLOAT: Final = 2.0**53 - 1  # the server does not treat larger floats as integers


class SchemaViolations:
    """The violations and unknown fields of one object."""

    __slots__ = ("count", "object", "root", "unknown", "violations")

    def __init__(self, root: Tree, object: Any = None) -> None:
        self.root = root
        self.object = object
        self.count = 0
        """The number of violations and unknown fields."""
        self.violations: list[Violation] = []
        self.unknown: list[Violation] = []

    def report(self, kind: str, at: At, *facts: Any) -> None:
        """Add the violation that `schema_messages.<kind>` creates from the facts."""
        from trainc.kubernetes.structural import schema_messages

        self.count += 1
        root = {"root": self.root} if kind == "wrong_type" else {}
        self.violations.append(getattr(schema_messages, kind)(path_of(at), *facts, **root))

    def drop(self, at: PathStep, schema: Tree) -> None:
        """Add an unknown field."""
        from trainc.kubernetes.structural import schema_messages

        self.count += 1
        searched = len(self.unknown) < _MANY
        facts = path_of(at), schema, self.root, self.object
        self.unknown.append(schema_messages.unknown_field(*facts, searched=searched))

    def whole_unknown(self) -> tuple[Violation, ...]:
        """Return the unknown fields, with fixes that move all fields of one mapping together."""
        if len(self.unknown) < 2:
            return tuple(self.unknown)
        from trainc.kubernetes.structural.homes import whole_moves

        return whole_moves(self.unknown)


class SchemaNode:
    """A compiled subschema."""

    __slots__ = ("plain", "schema")

    def __init__(self, schema: Tree, plain: type | None = None) -> None:
        self.schema = schema
        self.plain = plain
        """The type whose values are all valid; for such a value, the parent skips the call of the node."""

    def admit(self, value: Any, at: At, violations: SchemaViolations) -> Any:
        """Return the value to store."""
        if type(value) is not self.plain:
            violations.report("wrong_type", at, value, self.schema)
        return value


class Anything(SchemaNode):
    """A value of any type, which is not validated."""

    __slots__ = ()

    def admit(self, value: Any, at: At, violations: SchemaViolations) -> Any:
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

    def admit(self, value: Any, at: At, violations: SchemaViolations) -> Any:
        """Drop the fields that the type does not have; `objectmeta.check` validates the others."""
        admitted = stored_metadata(value)
        if admitted is not value:
            for key in value.keys() - METADATA.keys():
                violations.drop((at, key), METADATA_SCHEMA)
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

    def admit(self, value: Any, at: At, violations: SchemaViolations) -> Any:
        """Reject a string of the wrong length, value, pattern or format; only the first of these is reported."""
        if type(value) is not str:
            # The schema accepts a list for a time; the decoder does not.
            stage = "read" if self.is_time and isinstance(value, list) else "schema"
            violations.report("wrong_type", at, value, self.schema, stage)
            return value
        if len(value) < self.shortest:
            violations.report("too_short", at, value, self.shortest)
        elif self.longest is not None and len(value) > self.longest:
            violations.report("too_long", at, value, self.longest)
        elif self.enum is not None and value not in self.enum:
            violations.report("not_allowed", at, value, self.enum)
        elif self.pattern is not None and not self.pattern.search(value):
            violations.report("no_match", at, value, self.schema["pattern"])
        elif self.is_time and (rejected_by := string_formats.date_time(value)):
            violations.report("no_time", at, value, rejected_by)
        return value


class Integer(SchemaNode):
    """An integer: int32, or int64 if the schema names no format."""

    __slots__ = ("greatest", "least")

    def __init__(self, schema: Tree) -> None:
        super().__init__(schema)
        low, high = {"int32": _INT32, "int64": _INT64}[schema.get("format", "int64")]
        self.least: int = max(schema.get("minimum", low), low)
        self.greatest: int = min(schema.get("maximum", high), high)

    def admit(self, value: Any, at: At, violations: SchemaViolations) -> Any:
        """Reject fractions and numbers out of range."""
        if type(value) is float and value.is_integer() and abs(value) <= _GREATEST_WHOLE_FLOAT:
            value = int(value)
        if type(value) is not int:
            violations.report("wrong_type", at, value, self.schema)
        elif not self.least <= value <= self.greatest:
            violations.report("out_of_range", at, value, self.least, self.greatest)
        return value


class IntOrString(SchemaNode):
    """A number or a string: a quantity if it has a pattern; otherwise a port or a percentage."""

    __slots__ = ("pattern",)

    def __init__(self, schema: Tree) -> None:
        super().__init__(schema)
        self.pattern = string_formats.go_pattern(schema["pattern"]) if "pattern" in schema else None
        if schema.get("pattern", string_formats.QUANTITY) != string_formats.QUANTITY:
            raise ValueError(f"the pattern {schema['pattern']} of an int-or-string is not implemented")

    def admit(self, value: Any, at: At, violations: SchemaViolations) -> Any:
        """Reject a value that is not a quantity (or a port)."""
        if type(value) is str:
            if self.pattern is None:
                return value
            if not self.pattern.search(value):
                violations.report("no_quantity", at, value, "schema")
            elif stage := string_formats.quantity(value):
                violations.report("no_quantity", at, value, stage)
            return value
        if type(value) is float and value.is_integer() and abs(value) <= _GREATEST_WHOLE_FLOAT:
            value = int(value)
        if type(value) is not int or not _INT64[0] <= value <= _INT64[1]:
            violations.report("wrong_type", at, value, self.schema)
        elif self.pattern is None and not _INT32[0] <= value <= _INT32[1]:
            violations.report("out_of_range", at, value, *_INT32, "read")  # only the Go type has this limit
        return value
