"""The single values of structural schemas: strings, numbers, metadata, and how faults are collected.

Reads    a subschema, and the values that stand there.
Returns  nodes, whose `admit` gives the value as it would be stored; `structural` builds mappings and lists of them.
Source   kube-openapi v0.36 (validation of types, formats and ranges), and the Go types behind int-or-string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes import formats
from trainc.kubernetes.trees import path_of

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Step, Tree
    from trainc.kubernetes.violations import Violation

METADATA: Final = {
    # The fields of ObjectMeta and their types. Those of the names are read without the Go type, so a wrong one is a
    # fault of the schema.
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
"""As much of a schema as it takes to speak of an unknown field."""
_MANY: Final = 500
"""So many unknown fields of an object are no slips of the pen."""
_INT32: Final = (-(2**31), 2**31 - 1)
_INT64: Final = (-(2**63), 2**63 - 1)
_GREATEST_WHOLE_FLOAT: Final = 2.0**53 - 1  # beyond, the server does not believe that a float is whole


class Findings:
    """What was found on the way through one object."""

    __slots__ = ("root", "said", "unknown", "violations")

    def __init__(self, root: Tree) -> None:
        self.root = root
        self.said = 0
        """How many of both there are."""
        self.violations: list[Violation] = []
        self.unknown: list[Violation] = []

    def complain(self, complaint: str, at: At, *facts: Any) -> None:
        """Add the violation that `complaints.<complaint>` makes of the facts."""
        from trainc.kubernetes.structural import complaints

        self.said += 1
        self.violations.append(getattr(complaints, complaint)(path_of(at), *facts))

    def drop(self, at: Step, schema: Tree) -> None:
        """Add a field that the kind does not have."""
        from trainc.kubernetes.structural import complaints

        self.said += 1
        searched = len(self.unknown) < _MANY
        self.unknown.append(complaints.unknown_field(path_of(at), schema, self.root, searched=searched))


class Node:
    """A compiled subschema."""

    __slots__ = ("plain", "schema")

    def __init__(self, schema: Tree, plain: type | None = None) -> None:
        self.schema = schema
        self.plain = plain
        """A value of exactly this type is right, whatever it is, and its parent need not ask the node."""

    def admit(self, value: Any, at: At, found: Findings) -> Any:
        """The value as it would be stored."""
        if type(value) is not self.plain:
            found.complain("wrong_type", at, value, self.schema)
        return value


def stored_metadata(metadata: Any) -> Any:
    """The metadata without nulls and without what ObjectMeta does not have; a label or annotation of null is ''."""
    if not isinstance(metadata, dict):
        return metadata
    made = {key: value for key, value in metadata.items() if value is not None and key in METADATA}
    for key in ("labels", "annotations"):
        values = made.get(key)
        if isinstance(values, dict) and None in values.values():
            made[key] = {name: "" if value is None else value for name, value in values.items()}
            metadata = None  # changed, however many fields there are
    return metadata if metadata is not None and len(made) == len(metadata) else made


class Metadata(Node):
    """The metadata of the object itself: it goes through a Go type of its own, ObjectMeta."""

    __slots__ = ()

    def admit(self, value: Any, at: At, found: Findings) -> Any:
        """Drop what the type does not have; `objectmeta.check` says what is wrong with the rest."""
        admitted = stored_metadata(value)
        if admitted is not value:
            for key in value.keys() - METADATA.keys():
                found.drop((at, key), METADATA_SCHEMA)
        return admitted


class String(Node):
    """A string with a length, a pattern, allowed values or a format."""

    __slots__ = ("enum", "is_time", "longest", "pattern", "shortest")

    def __init__(self, schema: Tree) -> None:
        super().__init__(schema)
        self.shortest: int = schema.get("minLength", 0)
        self.longest: int | None = schema.get("maxLength")
        self.enum: list[str] | None = schema.get("enum")
        self.pattern = formats.go_pattern(schema["pattern"]) if "pattern" in schema else None
        self.is_time = "format" in schema
        if schema.get("format", "date-time") != "date-time":
            raise ValueError(f"format {schema['format']} of a string is not implemented")

    def admit(self, value: Any, at: At, found: Findings) -> Any:
        """Refuse what is too short or long, not allowed, or of another form: the first of these that applies."""
        if type(value) is not str:
            # The schema lets a list pass for a time; the decoder does not.
            stage = "read" if self.is_time and isinstance(value, list) else "schema"
            found.complain("wrong_type", at, value, self.schema, stage)
            return value
        if len(value) < self.shortest:
            found.complain("too_short", at, value, self.shortest)
        elif self.longest is not None and len(value) > self.longest:
            found.complain("too_long", at, value, self.longest)
        elif self.enum is not None and value not in self.enum:
            found.complain("not_allowed", at, value, self.enum)
        elif self.pattern is not None and not self.pattern.search(value):
            found.complain("no_match", at, value, self.schema["pattern"])
        elif self.is_time and (refusal := formats.date_time(value)):
            found.complain("no_time", at, value, refusal)
        return value


class Integer(Node):
    """A whole number: int32, or int64 where the schema does not say."""

    __slots__ = ("greatest", "least")

    def __init__(self, schema: Tree) -> None:
        super().__init__(schema)
        low, high = {"int32": _INT32, "int64": _INT64}[schema.get("format", "int64")]
        self.least: int = max(schema.get("minimum", low), low)
        self.greatest: int = min(schema.get("maximum", high), high)

    def admit(self, value: Any, at: At, found: Findings) -> Any:
        """Refuse fractions, and numbers out of range."""
        if type(value) is float and value.is_integer() and abs(value) <= _GREATEST_WHOLE_FLOAT:
            value = int(value)
        if type(value) is not int:
            found.complain("wrong_type", at, value, self.schema)
        elif not self.least <= value <= self.greatest:
            found.complain("out_of_range", at, value, self.least, self.greatest)
        return value


class IntOrString(Node):
    """A number or a string: a quantity where it has a pattern; else a port, or a share of a whole."""

    __slots__ = ("pattern",)

    def __init__(self, schema: Tree) -> None:
        super().__init__(schema)
        self.pattern = formats.go_pattern(schema["pattern"]) if "pattern" in schema else None
        if schema.get("pattern", formats.QUANTITY) != formats.QUANTITY:
            raise ValueError(f"the pattern {schema['pattern']} of an int-or-string is not implemented")

    def admit(self, value: Any, at: At, found: Findings) -> Any:
        """Refuse what cannot be read as a quantity (a port)."""
        if type(value) is str:
            if self.pattern is None:
                return value
            if not self.pattern.search(value):
                found.complain("no_quantity", at, value, "schema")
            elif stage := formats.quantity(value):
                found.complain("no_quantity", at, value, stage)
            return value
        if type(value) is float and value.is_integer() and abs(value) <= _GREATEST_WHOLE_FLOAT:
            value = int(value)
        if type(value) is not int or not _INT64[0] <= value <= _INT64[1]:
            found.complain("wrong_type", at, value, self.schema)
        elif self.pattern is None and not _INT32[0] <= value <= _INT32[1]:
            found.complain("out_of_range", at, value, *_INT32, "read")  # the schema has no limit, the Go type has
        return value
