"""The hints for fields in a patch that the object does not have: the fields that are meant.

Reads    the error for a JSON pointer and the object before the patch; or the place of a field that a patch has written.
Returns  the error with a fix, if a field that is set beside it, or that its type has, is similar; or the place of the
         field's name with a fix. Imported only for such a field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.base.fixes import Fix, Renaming, Replacement, safe_if
from trainc.base.suggestions import is_certain, nearest_name
from trainc.diagnostics import Place
from trainc.edits.patching import types
from trainc.edits.patching.operations import escaped, unescaped
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from trainc.base.fixes import Change
    from trainc.edits.patching.patch_faults import MissingFieldError
    from trainc.kubernetes.trees import Tree


def explained(error: MissingFieldError, value: Tree, patch: Any) -> MissingFieldError:
    """Return the error for a missing field, with the field that is meant as its hint.

    patch   the operations of the patch
    """
    parts, number, present = error.missing
    name = unescaped(parts[number])
    if near := nearest_name(name, present):
        changes: tuple[Change, ...] = (_renamed(error, near),)
        note, certain = "?", is_certain(name, near, present)
    else:
        op = get(patch, (*error.path[:1], "op"))
        known = _fields(value, parts[1:number]) if op == "replace" and number == len(parts) - 1 else []
        near = nearest_name(name, known)
        if near is None or near == name:
            return error
        changes = (_renamed(error, near), Replacement((*error.path[:1], "op"), "add"))
        note, certain = "? Use op: add to create it", is_certain(name, near, known)
    fix = Fix(changes, "did you mean ", near, "name", note, safe_if(certain))
    return type(error)(str(error), fix, error.path, error.part or (0, 0), error.missing)


def _renamed(error: MissingFieldError, near: str) -> Replacement:
    """Return the change that writes another part to the pointer."""
    parts, number, _ = error.missing
    return Replacement(error.path, "/".join([*parts[:number], escaped(near), *parts[number + 1 :]]))


def named_in(place: Place, fix: Fix | None) -> tuple[Place, Fix | None]:
    """Return the place of the name of an unknown field in the patch that has set it, and its fix in the patch.

    place   the place of its value
    fix     its fix in the patched object
    """
    operations, path = place.document.value, place.path
    change = fix.changes[0] if fix is not None and len(fix.changes) == 1 else None
    name = change.name if isinstance(change, Renaming) else None
    if not isinstance(operations, list) or path[1:] != ("value",):
        at = place._replace(key=True)
        return at, fix._replace(changes=(Renaming(path, name),)) if fix is not None and name else None
    pointer = get(operations, (path[0], "path"), "")
    begin = pointer.rfind("/") + 1
    at = Place(place.document, (path[0], "path"), part=(begin, len(pointer)))
    renamed = pointer[:begin] + escaped(name or "")
    return at, fix._replace(changes=(Replacement(at.path, renamed),)) if fix is not None and name else None


def _fields(value: Tree, steps: list[str]) -> list[str]:
    """Return the fields that the object's type has at a path."""
    struct = types.struct_of(value)
    for step in steps:
        if step.isdecimal():
            continue  # an item has the struct of its list
        field = struct.find(unescaped(step))
        found = None if field is None else struct.inner_struct(field)
        if found is None:
            return []
        struct = found
    return list(struct.fields)
