"""Homes: the path that a schema has for a field that is unknown where it is written.

Reads    an unknown field with its object, and the schema of the object's kind.
Returns  a fix that renames the field or moves it, and the violations that these fixes leave. Imported only if there is
         a violation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_table
from trainc.base.fixes import (
    Addition,
    Applicability,
    Fix,
    Relocation,
    Removal,
    Renaming,
    Replacement,
    Written,
    rename,
    safe_if,
)
from trainc.base.records import NamedTuple
from trainc.base.suggestions import PLAIN_RESOURCES, is_certain, nearest_name
from trainc.base.trainjob_dialects import other_names
from trainc.kubernetes.structural.nodes import Compiler, Faults, resolved
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import REQUIRED, TOO_FEW_PROPERTIES, field_of, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.kubernetes.trees import Path, Tree
    from trainc.kubernetes.violations import Violation

ALIKE: Final = 0.75
"""The minimum similarity at which one field name is suggested for another."""
_GENERAL: Final = frozenset({"kind", "key", "name", "namespace", "type", "value"})
"""The fields whose meaning depends on their parent."""
_MOST_MOVED: Final = 50
"""The most fields that one fix moves."""
_CERTAINTY: Final[tuple[Applicability, ...]] = ("safe", "unsafe", "none")
_DEEP: Final = 4
"""How many levels below the top a misplaced field is searched for."""
_MISSING: Final = frozenset({REQUIRED.id, TOO_FEW_PROPERTIES.id})


class UnknownField(NamedTuple):
    """An unknown field."""

    path: Path
    schema: Tree
    """The schema of its parent."""
    root: Tree
    """The schema of the kind."""
    object: Any
    """The whole object."""

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.path[-1])

    @property
    def parent(self) -> Path:
        """The path of its parent."""
        return self.path[:-1]

    @property
    def value(self) -> Any:
        """Its value."""
        return get(self.object, self.path)

    @property
    def siblings(self) -> Tree:
        """The fields of its parent."""
        found = get(self.object, self.parent)
        return found if isinstance(found, dict) else {}

    @property
    def known(self) -> list[str]:
        """The fields that its parent can have."""
        return list(self.schema.get("properties", {}))


def repaired(unknown: UnknownField) -> Fix | None:
    """Return the fix of an unknown field, or None if the kind has no such field elsewhere."""
    free = [name for name in unknown.known if name not in unknown.siblings]
    near = nearest_name(unknown.name, free, likeness=ALIKE)
    meant = {names[0] for names in _synonyms(unknown.name) if len(names) == 1}
    for name in unknown.known:
        if name not in free and (name in meant or is_certain(unknown.name, name, unknown.known)):
            note = "? It is set already: keep one of them"
            return Fix((Renaming(unknown.path, name),), "did you mean ", name, "name", note, "none")
    if near and is_certain(unknown.name, near, unknown.known):
        return rename(unknown.path, near, applicability="safe")
    if fix := _synonym(unknown, free) or _variable(unknown) or _resource(unknown) or _moved_below(unknown):
        return fix
    near = near or _field_ending_with(unknown.name, free)
    if near and (isinstance(unknown.value, str | int | float | None) or _may_be(unknown, near)):
        return rename(unknown.path, near, applicability="unsafe")
    return _moved_above(unknown)


def _may_be(unknown: UnknownField, name: str) -> bool:
    """Return whether a field can have the list or mapping of an unknown one."""
    return resembles(unknown.value, unknown.schema["properties"][name], unknown.root)


def whole_moves(unknown: Sequence[Violation]) -> tuple[Violation, ...]:
    """Return unknown fields with fixes that move all fields of one mapping that belong to another one together.

    A fix is safe if all moves are.
    """
    groups: dict[tuple[Path, Path], list[Fix]] = {}
    for fix in (violation.fix for violation in unknown if violation.fix is not None):
        if mappings := _mappings(fix):
            groups.setdefault(mappings, []).append(fix)
    wholes: dict[tuple[Path, Path], dict[str, Any]] = {}
    for mappings, fixes in groups.items():
        worst = max((fix.applicability for fix in fixes), key=_CERTAINTY.index)
        changes = tuple(fix.changes[0] for fix in fixes)
        wholes[mappings] = {"changes": changes, "applicability": "none" if len(fixes) > _MOST_MOVED else worst}
    return tuple(
        violation
        if violation.fix is None or not (mappings := _mappings(violation.fix))
        else violation._replace(fix=violation.fix._replace(**wholes[mappings]))
        for violation in unknown
    )


def _mappings(fix: Fix) -> tuple[Path, Path] | None:
    """Return the paths of the mappings between which a fix moves one field."""
    (change,) = fix.changes if len(fix.changes) == 1 else (None,)
    return (change.path[:-1], change.target[:-1]) if isinstance(change, Relocation) else None


def causes(violations: Iterable[Violation], unknown: Iterable[Violation]) -> list[Violation]:
    """Return the violations that no fix of an unknown field removes."""
    supplied = {path for violation in unknown if violation.fix for path in _supplied(violation.fix)}
    return [violation for violation in violations if violation.path not in supplied or violation.rule not in _MISSING]


def _supplied(fix: Fix) -> Iterator[Path]:
    """Yield the paths of the fields that a fix writes, and of the mappings to which it adds them."""
    for change in fix.changes:
        if isinstance(change, Removal | Addition):
            continue
        if isinstance(change, Replacement):
            yield from ((*change.path, key) for key in (change.value if isinstance(change.value, dict) else ()))
            continue
        target = (*change.path[:-1], change.name) if isinstance(change, Renaming) else change.target
        yield from (target[:length] for length in range(1, len(target) + 1))


def names_of(name: str) -> Iterator[Path]:
    """Yield the fields that a name can mean: the field itself, and those of its synonyms."""
    yield (name,)
    yield from _synonyms(name)


def _synonyms(name: str) -> Iterator[tuple[str, ...]]:
    """Yield the fields of the synonyms of a name, in each dialect."""
    if path := data_table("synonyms")["fields"].get(name.lower()):
        first, *below = path
        yield (first, *below)
        for other in other_names(first):
            yield (other, *below)


def _synonym(unknown: UnknownField, free: list[str]) -> Fix | None:
    """Return the fix for a synonym of a field of the same parent."""
    inside = next((step for step in reversed(unknown.parent) if isinstance(step, str)), "")
    word = data_table("synonyms")["references"].get(inside, {}).get(unknown.name)
    if word in free:
        return rename(unknown.path, word, applicability="safe")
    for names in _synonyms(unknown.name):
        value = _wrapped(unknown.value, names[1:])
        if (
            names[0] in unknown.known
            and _is_free(unknown, names)
            and resembles(value, schema_at(unknown.root, (*unknown.parent, names[0])), unknown.root)
        ):
            if len(names) == 1:
                return rename(unknown.path, names[0], applicability="safe")
            return _moved(unknown, (*unknown.parent, *names))
    if unknown.name == "apiVersion" and "apiGroup" in free and isinstance(unknown.value, str):
        group = unknown.value.rpartition("/")[0]
        changes = (Relocation(unknown.path, (*unknown.parent, "apiGroup"), group),)
        return Fix(changes, "use ", {"apiGroup": group}, "fields") if group else None
    return None


def _variable(unknown: UnknownField) -> Fix | None:
    """Return the fix for an item `LR: "0.1"` of a list of named values."""
    fields = unknown.siblings
    if not isinstance(unknown.parent[-1:][0] if unknown.parent else None, int) or {"name", "value"} - {*unknown.known}:
        return None
    if fields.keys() & {*unknown.known} or isinstance(unknown.value, dict | list):
        return None
    item = variable(unknown.name, unknown.value, unknown.path)
    changes = (Replacement(unknown.parent, item),)
    if len(fields) == 1:
        return Fix(changes, "use ", item)
    return Fix(changes, "use an item for each variable: ", item, applicability="none")


def variable(name: str, value: Any, path: Path) -> Tree:
    """Return a named value, as an item of a list; its value must be a string."""
    if value is None:
        return {"name": name}
    return {"name": name, "value": value if isinstance(value, str) else Written(path, value)}


def _resource(unknown: UnknownField) -> Fix | None:
    """Return the fix for a resource beside limits and requests: a device has a limit, an amount is requested.

    An amount beside one of the two may belong to either: no edit is made. A claim, which has only these two, requests
    storage.
    """
    known, siblings = {*unknown.known}, unknown.siblings
    if not {"limits", "requests"} <= known:
        return None
    resource = (
        data_table("synonyms")["resources"].get(unknown.name.lower(), unknown.name)
        if "claims" in known
        else unknown.name
    )
    kind = "limits" if "/" in resource else "requests"
    if not (("/" in resource or resource in PLAIN_RESOURCES) if "claims" in known else resource == "storage"):
        return None
    amounts = siblings.get(kind, {})
    if not isinstance(amounts, dict) or resource in amounts:
        return None
    fix = _moved(unknown, (*unknown.parent, kind, resource))
    is_either = resource in PLAIN_RESOURCES and not siblings.keys().isdisjoint({"limits", "requests"})
    return fix._replace(applicability="none") if is_either else fix


def _moved_below(unknown: UnknownField) -> Fix | None:
    """Return the fix for a field that a field of the same parent has, directly or deeper."""
    return _moved_to(unknown, _homes(unknown, unknown.parent))


def _homes(unknown: UnknownField, top: Path) -> list[Path]:
    """Return the paths of the field below another one: those that admit its value, else those of its type."""
    if _names_below(unknown.root, top).isdisjoint(names[0] for names in names_of(unknown.name)):
        return []
    for accepts in (fits, resembles):
        for homes in _layers(unknown, top, accepts):
            return homes
    return []


def _moved_above(unknown: UnknownField) -> Fix | None:
    """Return the fix for a field that a parent of its parent has, or another field near the top of the kind."""
    for length in range(len(unknown.parent) - 1, -1, -1):
        parent = unknown.path[:length]
        schema = schema_at(unknown.root, parent)
        name = unknown.name
        if name in schema.get("properties", {}) and _is_free(unknown, (name,), parent):
            target: Path = (*parent, name)
            if resembles(unknown.value, schema_at(unknown.root, target), unknown.root):
                return _moved(unknown, target)
    if len(unknown.parent) > 1 or unknown.name in _GENERAL:
        return None  # a field of the same name elsewhere describes something else
    return _moved_to(unknown, _homes(unknown, ()))


def _moved_to(unknown: UnknownField, homes: list[Path]) -> Fix | None:
    """Return the fix that moves the field to its only home; with several ones, the hint names them."""
    if len(homes) < 2:
        return _moved(unknown, homes[0]) if homes else None
    changes = tuple(Relocation(unknown.path, home, unknown.value) for home in homes)
    return Fix(changes, "did you mean ", listed([field_of(home) for home in homes], "or"), "name", "?", "none")


def _layers(unknown: UnknownField, top: Path, accepts: Callable[[Any, Tree, Tree], bool]) -> Iterator[list[Path]]:
    """Yield the paths of a field with that name below another one, outside of lists: those of each level, if any."""
    for below in _levels(unknown.root, top):
        found = [
            (*path, *names)
            for path in below
            for names in names_of(unknown.name)
            if names[0] in schema_at(unknown.root, path).get("properties", {})
            and _is_free(unknown, names, path)
            and accepts(_wrapped(unknown.value, names[1:]), schema_at(unknown.root, (*path, names[0])), unknown.root)
        ]
        if found:
            yield found


def _levels(root: Tree, top: Path) -> Iterator[list[Path]]:
    """Yield the fields below another one that can have fields: those of each level."""
    layer = [top]
    for _ in range(_DEEP):
        below: list[Path] = []
        for path in layer:
            properties = schema_at(root, path).get("properties", {})
            below += [(*path, key) for key in properties if (*path, key) not in (("status",), ("metadata",))]
        yield below
        layer = below


def _names_below(root: Tree, top: Path) -> set[str]:
    """Return the names of all fields below those of a field."""
    names = set[str]()
    layer = [schema_at(root, top)]
    for level in range(_DEEP + 1):
        fields = [schema.get("properties", {}) for schema in layer]
        if level:
            names.update(*fields)
        layer = [resolved(root, below) for properties in fields for below in properties.values()]
    return names


def _is_free(unknown: UnknownField, names: Path, parent: Path | None = None) -> bool:
    """Return whether a field is not set, and can be set: the fields above it are mappings or missing."""
    parent = unknown.parent if parent is None else parent
    node = unknown.object
    for step in (*parent, *names):
        if isinstance(node, dict):
            if step not in node:
                return True
            node = node[step]
        elif isinstance(node, list) and isinstance(step, int) and step < len(node):
            node = node[step]
        else:
            return False
    return False


def _moved(unknown: UnknownField, target: Path) -> Fix:
    """Return the fix that moves the field: unsafe for cpu and memory, because a limit may be meant."""
    changes = (Relocation(unknown.path, target, unknown.value),)
    length = len(unknown.parent)
    is_amount = target[-1] in PLAIN_RESOURCES
    is_field = not is_amount and "limits" not in target[length:]  # a resource is a key of a map
    is_whole = is_field and target[-1] == unknown.name and not any(isinstance(step, int) for step in target)
    if target[:length] != unknown.parent or is_whole:
        return Fix(changes, "did you mean ", field_of(target), "name", "?")
    within = field_of(target[length:-1])
    shown = _wrapped(unknown.value, target[length:])
    return Fix(changes, f"set it in {within}: ", shown, "fields", applicability=safe_if(not is_amount))


def _wrapped(value: Any, names: Path) -> Any:
    for name in reversed(names):
        value = {name: value}
    return value


def _field_ending_with(name: str, known: list[str]) -> str | None:
    """Return the only field that ends with the name as a word: `name` in a secret is its secretName."""
    longer = [field for field in known if field.endswith(name[:1].upper() + name[1:])]
    return longer[0] if name and len(longer) == 1 else None


def schema_at(root: Tree, path: Path) -> Tree:
    """Return the schema of the field at a path, without references; an empty one if the kind has no such field."""
    schema = root
    for step in path:
        schema = resolved(root, schema)
        if isinstance(step, int):
            schema = schema.get("items", {})
        else:
            schema = schema.get("properties", {}).get(step) or schema.get("additionalProperties") or {}
    return resolved(root, schema)


def fits(value: Any, schema: Tree, root: Tree) -> bool:
    """Return whether a schema admits a value without violations and unknown fields."""
    faults = Faults()
    if schema:
        Compiler(root).node(schema).admit(value, None, faults)
    return bool(schema) and not faults.count


def resembles(value: Any, schema: Tree, root: Tree) -> bool:
    """Return whether a value has the type of a schema, and for a mapping, one of its fields."""
    schema = resolved(root, schema)
    if isinstance(value, dict):
        fields = schema.get("properties")
        return schema.get("type") == "object" and (not value or fields is None or bool(value.keys() & fields.keys()))
    if isinstance(value, list):
        return schema.get("type") == "array" and all(resembles(each, schema["items"], root) for each in value[:1])
    return fits(value, schema, root)
