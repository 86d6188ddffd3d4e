"""The Go structs behind a manifest: their fields, the field types, and the fields' strategic-merge behavior.

Reads    schemas/gotypes.json (scripts/make_gotypes.py), on first use.
Returns  structs by Go type name, such as core/v1.PodSpec.
Source   Kubernetes 1.36 and JobSet 0.12: the fields and tags of their Go types.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Final

from trainc.base.data import data_path
from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.kubernetes.trees import Tree

ROOT: Final = "jobset/v1alpha2.JobSetSpec"

# Go's case folding for name comparison: beyond ASCII, one letter folds to s and one to k.
_FOLD: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ\u017f\u212a", "abcdefghijklmnopqrstuvwxyzsk")


class GoField(NamedTuple):
    """A field of a Go struct. `of` is the element type of a pointer, list or map, or the type of a struct."""

    kind: str
    of: str = ""
    omitempty: bool = False
    strategy: str = ""
    mergeKey: str = ""  # noqa: N815 (the name in the tag)

    @property
    def merges(self) -> bool:
        """Whether a patch's list is merged into the existing list instead of replacing it."""
        return "merge" in self.strategy  # the others are replace and retainKeys


class Struct(NamedTuple):
    """A Go struct: its fields by JSON name, in Go's order."""

    name: str
    fields: dict[str, GoField]
    types: Callable[[str], Struct | None] | None = None
    """Return the struct of a field's type; None for `struct`."""
    values: GoField | None = None
    """The field for every name, if the type is a map of structs; it has no other fields."""

    def inner_struct(self, field: GoField) -> Struct | None:
        """Return the struct of a field, of the items of a list, or of a map of structs; None for any other type."""
        found = (self.types or struct)(field.of)
        if field.kind != "map" or found is None:
            return found
        return Struct(field.of, {}, self.types, GoField("ptr", field.of))

    def find(self, name: str) -> GoField | None:
        """Return the field that Go's JSON reader matches to `name`: the exact one, else the first ignoring case."""
        if self.values is not None:
            return self.values
        if name in self.fields:
            return self.fields[name]
        folded = name.translate(_FOLD)
        return next((field for key, field in self.fields.items() if key.translate(_FOLD) == folded), None)


@cache
def _types() -> dict[str, dict[str, Tree]]:
    with open(data_path("schemas", "gotypes.json"), encoding="utf-8") as file:
        types: dict[str, dict[str, Tree]] = json.load(file)
    return types


@cache
def struct(name: str) -> Struct | None:
    """Return the struct of that name; None for any other type (string, int32 ...)."""
    fields = _types().get(name)
    if fields is None:
        return None
    return Struct(name=name, fields={key: GoField(**field) for key, field in fields.items()})
