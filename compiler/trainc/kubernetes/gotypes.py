"""Go types: the structs behind a manifest, and values after a round trip through one.

A component written in Go reads a manifest into structs and writes it back. Unknown fields are dropped, empty fields
marked omitempty are dropped, and fields whose type has no "unset" value are written even if the manifest lacks them.
`as_go_type` does the same. `as_patch` is for a value that is merged afterwards, where an empty list or a null has an
effect. `compared` is for a comparison.

Reads    schemas/gotypes.json (scripts/make_gotypes.py), on first use: the fields of each struct, by the name of its Go
         type such as core/v1.PodSpec, with their types and their behavior in a strategic merge.
Returns  trees that share every unchanged subtree with the argument; the argument is not modified.
Source   Go's encoding/json on the types of Kubernetes 1.36 and JobSet 0.12, and client-go's apply configurations, in
         which every field is omitempty.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_path
from trainc.base.records import NamedTuple
from trainc.kubernetes.trees import Memory

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path, Tree

Convert = Callable[[Any], Any]
_GONE: Final[Any] = object()  # the result of a conversion for a field that is not written
_ZEROS: Final[dict[str, Any]] = {"string": "", "bool": False, "int": 0, "int32": 0, "int64": 0}
_ACCEPTED: Final[dict[str, tuple[type, ...]]] = {"string": (str,), "bool": (bool,)}
_NUMBERS: Final = (int, float)
_KEPT: Final[dict[str, type]] = {"string": str, "bool": bool, "int": int, "int32": int, "int64": int}
"""The type whose non-zero values stay unchanged."""
_OPAQUE: Final = frozenset({"meta/v1.Time", "meta/v1.FieldsV1"})  # kept as read: the schemas have no such fields
ROOT: Final = "jobset/v1alpha2.JobSetSpec"
# Go's case folding for name comparison: beyond ASCII, one letter folds to s and one to k.
_FOLD: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ\u017f\u212a", "abcdefghijklmnopqrstuvwxyzsk")


class WrongTypeError(TypeError):
    """A value that does not fit its Go type, which the schema should have rejected. `path` is its path."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__(f"expected {expected}, found {value if isinstance(value, str) else type(value).__name__}")
        self.path: Path = ()

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {self.args[0]}"


def as_go_type(value: Tree, type_name: str = ROOT) -> Tree:
    """Return `value` as a Go component applies it after reading it into the type.

    Nulls, empty lists and empty maps are dropped from every field, because they have no effect when applied. Raises
    WrongTypeError, a TypeError with a path.

    >>> as_go_type({"suspend": False, "network": {}, "replicatedJobs": [], "color": "red"})
    {'suspend': False, 'network': {}}
    """
    result: Tree = _APPLIED(type_name)(value)
    return result


def stored(value: Tree) -> Tree:
    """Return `as_go_type` of a JobSetSpec without the empty `metadata` and `resources` that a Go type prints.

    >>> stored({"replicatedJobs": [{"template": {"metadata": {}}}]})
    {'replicatedJobs': [{'name': '', 'template': {}}]}
    """
    result: Tree = _STORED(ROOT)(value)
    return result


def as_patch(value: Tree, type_name: str = ROOT, *, sparse: frozenset[str] = frozenset()) -> Tree:
    """Return `value` as a Go component that has read it into the type passes it to a strategic merge.

    A list or pointer without omitempty is written even if it is unset: as null, which deletes the merged value. Each
    type in `sparse` represents a variant in which every field is optional: nothing is added to it, and empty text,
    false and zero stay. Raises WrongTypeError.

    >>> as_patch({"rules": []}, "batch/v1.PodFailurePolicy"), as_patch({}, "core/v1.ProjectedVolumeSource")
    ({'rules': []}, {'sources': None})
    """
    result: Tree = _merged(sparse)(type_name)(value)
    return result


def compared(value: Tree, type_name: str = ROOT) -> Tree:
    """Return `value` in a form whose equality is Go's semantic equality.

    Quantities become amounts, and an empty struct counts as unset. Raises WrongTypeError.

    >>> limits = compared({"limits": {"cpu": "1000m"}, "requests": {}}, "core/v1.ResourceRequirements")
    >>> limits == compared({"limits": {"cpu": 1}}, "core/v1.ResourceRequirements")
    True
    """
    result: Tree = _COMPARED(type_name)(value)
    return result


class _Writing:
    """One way of writing Go values, with a cache of its conversions."""

    def __init__(
        self,
        *,
        patch: bool,
        sparse: frozenset[str] = frozenset(),
        compares: bool = False,
        left_out: frozenset[str] = frozenset(),
    ) -> None:
        self.patch = patch
        self.left_out = left_out
        self.compares = compares
        self.special = _SPECIAL | {"resource.Quantity": _amount} if compares else _SPECIAL
        self.sparse = sparse
        self.structs: dict[str, Convert] = {}

    def __call__(self, type_name: str) -> Convert:
        """Return the conversion to a type, created on first use."""
        if type_name in _ZEROS:
            return _scalar(type_name)
        if type_name in self.special:
            return self.special[type_name]
        if type_name in _OPAQUE:
            return _unconverted
        if type_name not in self.structs:
            self.structs[type_name] = _Struct(self, type_name).convert
        return self.structs[type_name]

    def convert(self, field: GoField, *, sparse: bool) -> Convert:
        """Return the conversion of one field's value."""
        omitempty = field.omitempty or sparse
        if field.kind in _ZEROS:
            scalar = _scalar(field.kind)
            if sparse:
                return _optional_conversion(scalar, _GONE)
            return _unless_empty(scalar) if omitempty else scalar
        inner = self(field.of)
        if field.kind == "struct":
            return _unless_empty(inner) if self.compares and field.of not in self.special else inner
        missing = None if self.patch and not omitempty else _GONE
        if field.kind == "ptr":
            return _optional_conversion(inner, missing)
        keeps_empty = self.patch and not omitempty
        return _optional_conversion(_list(inner, keeps_empty) if field.kind == "slice" else _map(inner), missing)

    def zero_value(self, field: GoField) -> Any:
        """Return the value to write for a field that the input lacks.

        Structs are not added: in an applied or merged value, an empty struct has no effect.
        """
        if field.kind in _ZEROS and not field.omitempty:
            return _ZEROS[field.kind]
        if field.kind == "struct" and field.of in self.special:
            return self.special[field.of](None)
        if self.patch and field.kind in {"slice", "ptr"} and not field.omitempty:
            return None
        return _GONE


class _Struct:
    """The conversion to one Go struct."""

    __slots__ = ("_added", "_fields", "_known", "_name", "_plain", "_writing")

    def __init__(self, writing: _Writing, name: str) -> None:
        self._writing = writing
        self._name = name
        self._fields: dict[str, Convert] = {}
        self._plain: dict[str, type] = {}
        """The fields that keep every non-zero value of that type."""
        self._added: dict[str, Any] = {}
        self._known = Memory()

    def _declare(self) -> None:
        """Look the fields up on first use, as most types occur in none of the given manifests."""
        declared = struct(self._name)
        if declared is None:
            raise KeyError(self._name)
        fields, sparse = declared.fields, self._name in self._writing.sparse
        if not sparse:
            zeros = {name: self._writing.zero_value(field) for name, field in fields.items()}
            self._added = {name: zero for name, zero in zeros.items() if zero is not _GONE}
        self._fields = {name: self._writing.convert(field, sparse=sparse) for name, field in fields.items()}
        for name in self._writing.left_out & fields.keys():
            self._fields[name] = _unless_empty(self._fields[name])
        self._plain = {name: _KEPT[field.kind] for name, field in fields.items() if field.kind in _KEPT}

    def convert(self, value: Any) -> Any:
        """Return the value as the struct is written."""
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        if value is None:
            value = {}
        if type(value) is not dict:
            raise WrongTypeError("a mapping", value)
        if not self._fields:
            self._declare()
        fields, plain = self._fields, self._plain
        result, name = value, ""
        try:
            for name, item in value.items():
                # Most fields are plain; skipping their call saves two thirds of the time.
                if item and type(item) is plain.get(name):
                    continue
                convert = fields.get(name)
                new = _GONE if convert is None else convert(item)
                if new is not item:
                    result = _changed(value, result, name, new)
        except WrongTypeError as error:
            error.path = (name, *error.path)
            raise
        added = self._added
        if added and not added.keys() <= value.keys():
            result = added | result
        self._known.keep(id(value), (value, result))
        return result


def _changed(value: Tree, result: Tree, name: str, new: Any) -> Tree:
    """Return the result with a field changed or removed; the value itself is not modified."""
    if result is value:
        result = dict(value)
    if new is _GONE:
        del result[name]
    else:
        result[name] = new
    return result


@cache  # one value for each Go type
def _scalar(kind: str) -> Convert:
    """Convert text, booleans and numbers; null becomes the type's zero. Go prints whole floats without a point."""
    accepted, zero = _ACCEPTED.get(kind, _NUMBERS), _ZEROS[kind]

    def convert(value: Any) -> Any:
        if value is None:
            return zero
        if type(value) not in accepted:
            raise WrongTypeError(kind, value)
        return int(value) if type(value) is float and value.is_integer() else value

    return convert


def _unless_empty(convert: Convert) -> Convert:
    return lambda value: convert(value) or _GONE


def _optional_conversion(convert: Convert, missing: Any) -> Convert:
    return lambda value: missing if value is None else convert(value)


def _list(convert: Convert, keeps_empty: bool) -> Convert:
    known = Memory()

    def convert_all(value: Any) -> Any:
        if id(value) in known:
            return value
        if type(value) is not list:
            raise WrongTypeError("a list", value)
        if not value:
            return value if keeps_empty else _GONE
        index, changed = 0, None
        try:
            for index, item in enumerate(value):
                new = convert(item)
                if new is item:
                    continue
                if changed is None:
                    changed = list(value)
                changed[index] = new
        except WrongTypeError as error:
            error.path = (index, *error.path)
            raise
        return known.keep(id(value), value) if changed is None else changed

    return convert_all


def _map(convert: Convert) -> Convert:
    def convert_all(value: Any) -> Any:
        if type(value) is not dict:
            raise WrongTypeError("a mapping", value)
        result, name = value, ""
        try:
            for name, item in value.items():
                new = convert(item)
                if new is not item:
                    result = _changed(value, result, name, new)
        except WrongTypeError as error:
            error.path = (name, *error.path)
            raise
        return result or _GONE

    return convert_all


def _quantity(value: Any) -> Any:
    from trainc.kubernetes.quantity import canonical

    if value is None:
        return "0"
    try:
        text = canonical(value)
    except ValueError as error:
        raise WrongTypeError("a quantity", str(error)) from None
    return value if text == value else text


def _amount(value: Any) -> Any:
    from fractions import Fraction

    from trainc.kubernetes.quantity import Quantity

    try:
        quantity = Quantity.from_json(value)
        return str(Fraction(10) ** quantity.exponent * quantity.mantissa)
    except ValueError as error:
        raise WrongTypeError("a quantity", str(error)) from None


def _int_or_string(value: Any) -> Any:
    return value if type(value) is str else _scalar("int32")(value)


def _unconverted(value: Any) -> Any:
    return _GONE if value is None else value


_SPECIAL: Final[dict[str, Convert]] = {"resource.Quantity": _quantity, "intstr.IntOrString": _int_or_string}


_APPLIED: Final = _Writing(patch=False)


_STORED: Final = _Writing(patch=False, left_out=frozenset({"metadata", "resources"}))


_COMPARED: Final = _Writing(patch=False, compares=True)


@cache  # one value for each set of fields in the code
def _merged(sparse: frozenset[str]) -> _Writing:
    return _Writing(patch=True, sparse=sparse)


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


@cache  # one value
def _types() -> dict[str, dict[str, Tree]]:
    with open(data_path("schemas", "gotypes.json"), encoding="utf-8") as file:
        types: dict[str, dict[str, Tree]] = json.load(file)
    return types


@cache  # one value for each Go struct
def struct(name: str) -> Struct | None:
    """Return the struct of that name; None for any other type (string, int32 ...)."""
    fields = _types().get(name)
    if fields is None:
        return None
    return Struct(name=name, fields={key: GoField(**field) for key, field in fields.items()})
