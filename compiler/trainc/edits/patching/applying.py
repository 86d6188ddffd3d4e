"""Apply patches to one object, without changing the trees that the object shares with others.

Reads    a patch, and a TrainJob, a runtime or a JobSet.
Returns  the patched object, and the edit that knows the source of each of its fields. Raises PatchError if the patch
         cannot be applied, or if the result has another identity: targets, namespaces and names are settings. For a
         field that the object does not have, the error has a fix, if a field beside it, or of its type, is
         similar. `JobSetPatches` are the patches of the JobSet of a plan, before defaults are filled in.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Fix, Renaming, Replacement, safe_if
from trainc.base.records import NamedTuple
from trainc.base.suggestions import is_certain, nearest_name
from trainc.budget import DEFAULT, Budget
from trainc.diagnostics import Diagnostic, Edit, ObjectId, Place, Related
from trainc.edits.patching import merges, operations, types
from trainc.edits.patching.operations import escaped, unescaped
from trainc.edits.patching.patch_faults import PATCH_FAILED, MissingFieldError, PatchError, TooLargeError
from trainc.kubernetes.merge import MergeError, strategic_merge
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.base.fixes import Change
    from trainc.diagnostics import Document
    from trainc.edits.patching.operations import Step
    from trainc.edits.patching.parsed_patches import Patch
    from trainc.kubernetes.trees import Path, Tree

IDENTITY: Final[tuple[Path, ...]] = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))
HINTS: Final = {
    "name": "remove it; to select objects by name, use target.name",
    "namespace": "remove it; to set a namespace, use namespace in trainc.yaml",
}
VALUES: Final = "values of a patch in an object"
"""The unit of the budget for the operations of a JSON patch."""
MAPPINGS: Final[tuple[Path, ...]] = (("metadata",), ("spec",), ("metadata", "labels"), ("metadata", "annotations"))
FIELDS = frozenset({"apiVersion", "kind", "metadata", "spec"})
"""The fields of a JobSet that is applied; the API server drops a status."""


def applied(patch: Patch, value: Tree, *, most: int | None = None) -> tuple[Tree, Edit]:
    """Return an object with a patch applied, and the edit. Raises PatchError, TooLargeError.

    most     the maximum number of values that the operations of a JSON patch process; None without a maximum
    """
    result, edit = _merged(patch, value) if patch.operations is None else _operated(patch, value, most)
    if not isinstance(result, dict):
        raise PatchError("the result is not a mapping", "write a mapping to the root")
    for path in IDENTITY:
        before, after = (get(tree, path, "") for tree in (value, result))
        if before != after:
            raise _identity_error(edit, path, after)
    for path in MAPPINGS:
        found = get(result, path, {})
        if not isinstance(found, dict) and found != get(value, path, {}):
            name = ".".join(map(str, path))
            raise PatchError(f"{name} must be a mapping", "use a mapping of fields", _written(edit, path))
    return result, edit


def _merged(patch: Patch, value: Tree) -> tuple[Any, Edit]:
    into = types.struct_of(value)
    try:
        result = strategic_merge(value, patch.document.value, into)
    except MergeError as error:
        raise PatchError(str(error), _merge_help(str(error)), error.path) from None
    return result, Edit(value, partial(merges.source, value, result, patch.document, into))


def _merge_help(message: str) -> str:
    """Return the hint for a patch that cannot be merged."""
    if " has no " in message and "merged by" in message:
        return f"add {message.rpartition(' ')[2]}, the key by which the list is merged"
    return "use the same fields and types as in the object, or replace the value with $patch: replace"


def _operated(patch: Patch, value: Tree, most: int | None) -> tuple[Any, Edit]:
    try:
        result, steps = operations.apply(value, patch.operations or (), most=most)
    except MissingFieldError as error:
        raise explained(error, value, patch.document.value) from None
    return result, Edit(value, partial(_source, steps, patch.document))


def _source(steps: tuple[Step, ...], patch: Document, path: Path) -> Place | Path:
    """Return the place of the operation that wrote a field, or the field's path before the patch."""
    found = operations.written(steps, path)
    if found and isinstance(found[0], operations.Step):
        step, rest = found
        return Place(patch, operations.value_at(patch.value, step, rest))
    return found


def _written(edit: Edit, path: Path) -> Path:
    """Return the path in a patch of the field that it wrote in an object."""
    found = edit.source(path)
    return found.path if isinstance(found, Place) else ()


def _identity_error(edit: Edit, path: Path, after: Any) -> PatchError:
    name = ".".join(map(str, path))
    # Without the value before: the message is the same for all objects, so that it is reported once.
    message = f'{name} cannot be changed to "{after}"' if after else f"{name} cannot be removed"
    help = HINTS.get(str(path[-1]), "remove it; to select objects, use target")
    return PatchError(message, help, _written(edit, path))


def failure(patch: Patch, error: PatchError, object: Place) -> Diagnostic:
    """Return the diagnostic for a patch that cannot be applied to an object."""
    id = ObjectId.from_source(object.document.value)
    return Diagnostic.declared(
        PATCH_FAILED,
        f"{patch.name} cannot be applied: {error}",
        error.help,
        object=id,
        place=patch.at(error.path, key=error.key, part=error.part),
        related=(Related(f'{id.kind} "{id.name}"', object),),
    )


def too_large(patch: Patch, error: TooLargeError, budget: Budget) -> Diagnostic:
    """Return the diagnostic for operations that process more values than the budget has."""
    over = budget.excess(VALUES, budget.limits[VALUES] + 1)  # without a maximum, there is no such error
    assert over is not None
    help = over.help.replace("pass fewer files or folders", "copy smaller values")
    return over._replace(place=patch.at(error.path), help=help)


class Patched(NamedTuple):
    """A JobSet after one patch."""

    tree: Tree
    edit: Edit


class JobSetPatches(NamedTuple):
    """The patches that match the JobSet of a TrainJob."""

    patches: tuple[Patch, ...]
    labels: Mapping[str, str] = {}
    """The environment's labels, which no patch can change."""
    annotations: Mapping[str, str] = {}
    budget: Budget = DEFAULT
    suspends: Place | None = None
    """The line that suspends the JobSet if it is left out, because the JobSet has a Kueue queue."""

    def apply(self, tree: Tree, object: Place) -> Iterator[Patched | Diagnostic]:
        """Yield the JobSet after each patch, or the diagnostic for a patch that cannot be applied.

        object   the place of the TrainJob, for diagnostics
        """
        for patch in self.patches:
            try:
                result, edit = applied(patch, tree, most=self.budget.limits.get(VALUES))
                if unknown := result.keys() - FIELDS:
                    name = min(unknown)
                    path = edit.source((name,))
                    raise PatchError(
                        f'unknown field "{name}" in a JobSet', "remove it", getattr(path, "path", ()), key=True
                    )
            except PatchError as error:
                yield failure(patch, error, object)
            except TooLargeError as error:
                yield too_large(patch, error, self.budget)
            else:
                tree = result
                yield Patched(result, edit)


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
