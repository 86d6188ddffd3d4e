"""Apply one patch to one object, without changing the trees that the object shares with others.

Reads    a patch, and a TrainJob, a runtime or a JobSet.
Returns  the patched object, and the edit that knows the source of each of its fields. Raises PatchError if the patch
         cannot be applied, or if the result has another identity: targets, namespaces and names are settings.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trainc.diagnostics import Diagnostic, Edit, ObjectId, Place, Related
from trainc.edits.patching import merges, operations, types
from trainc.edits.patching.patch_faults import PATCH_FAILED, MissingFieldError, PatchError, TooLargeError
from trainc.kubernetes.merge import MergeError, strategic_merge
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from trainc.budget import Budget
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
            raise _identity_error(patch, edit, path, after)
    for path in MAPPINGS:
        found = get(result, path, {})
        if not isinstance(found, dict) and found != get(value, path, {}):
            name = ".".join(map(str, path))
            raise PatchError(f"{name} must be a mapping", "use a mapping of fields", _written(patch, edit, path))
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
        from trainc.edits.patching.missing_fields import explained

        raise explained(error, value, patch.document.value) from None
    return result, Edit(value, partial(_source, steps, patch.document))


def _source(steps: tuple[Step, ...], patch: Document, path: Path) -> Place | Path:
    """Return the place of the operation that wrote a field, or the field's path before the patch."""
    found = operations.written(steps, path)
    if found and isinstance(found[0], operations.Step):
        step, rest = found
        return Place(patch, operations.value_at(patch.value, step, rest))
    return found


def _written(patch: Patch, edit: Edit, path: Path) -> Path:
    """Return the path in a patch of the field that it wrote in an object."""
    found = edit.source(path)
    return found.path if isinstance(found, Place) else ()


def _identity_error(patch: Patch, edit: Edit, path: Path, after: Any) -> PatchError:
    name = ".".join(map(str, path))
    # Without the value before: the message is the same for all objects, so that it is reported once.
    message = f'{name} cannot be changed to "{after}"' if after else f"{name} cannot be removed"
    help = HINTS.get(str(path[-1]), "remove it; to select objects, use target")
    return PatchError(message, help, _written(patch, edit, path))


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
