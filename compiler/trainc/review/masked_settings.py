"""Masked settings: changes of trainc.yaml without secrets.

Reads    a changed setting, and the objects of both sides.
Returns  the change. The value of an operation of a patch can have its name in the patched object, such as that of a
         variable: it is shown as it is in the objects that have it at the operation's pointer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import get, put
from trainc.provenance.tracing.correspondence import GONE, value_at
from trainc.review.consequences import touches
from trainc.review.masked_changes import shown
from trainc.settings.keys import ENVIRONMENTS
from trainc.source.masking import masked_at
from trainc.source.secrecy import pointer_secrecy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.diagnostics import Path
    from trainc.kubernetes.trees import Tree
    from trainc.review.changes import Change
    from trainc.review.changes.changed_settings import SettingEdit

PATCHES: Final = "patches"


def shown_setting(edit: SettingEdit, old: Sequence[Tree], new: Sequence[Tree]) -> Change:
    """Return a change of a settings file without secrets.

    Args:
        edit: the change, with both files.
        old: the TrainJobs, runtimes and JobSets of the old side, with all patches applied.
        new: those of the new side.
    """
    change = shown(edit.change, *edit.trees)
    if change.kind == "moved" or edit.owner is not None:
        return change
    before = _with_names(change.old, edit.change.old_path, edit.trees[0], old)
    return change._replace(old=before, new=_with_names(change.new, edit.change.new_path, edit.trees[1], new))


def _with_names(value: Any, path: Path, tree: Tree, objects: Sequence[Tree]) -> Any:
    """Return a masked value of a settings file with the values of its operations as they are in the objects."""
    for at, operation in _operations(tree) if value is not GONE else ():
        written = (*at, "value")
        if not touches(written, path) or (found := _shown_in_objects(operation, objects)) is GONE:
            continue
        if len(path) > len(written):
            value = value_at(found, path[len(written) :])
        else:
            value = put(value, written[len(path) :], found)
    return value


def _operations(tree: Tree) -> Iterator[tuple[Path, Tree]]:
    """Yield the operations of the patches of a settings file whose values have their names in the objects."""
    environments = tree.get(ENVIRONMENTS)
    names = environments if isinstance(environments, dict) else ()
    layers: list[Path] = [(), *((ENVIRONMENTS, name) for name in names)]
    for layer in layers:
        items = get(tree, (*layer, PATCHES))
        for number in range(len(items) if isinstance(items, list) else 0):
            patch = get(items, (number, "patch"))
            for index, operation in enumerate(patch if isinstance(patch, list) else ()):
                pointer = get(operation, ("path",))
                known = not isinstance(pointer, str) or pointer_secrecy(pointer) not in ("variable", "item")
                if not known and "value" in operation:
                    yield (*layer, PATCHES, number, "patch", index), operation


def _shown_in_objects(operation: Tree, objects: Sequence[Tree]) -> Any:
    """Return the value of an operation as the objects show it that have it; GONE without any."""
    found = GONE
    for tree in objects:
        path = _path(tree, operation["path"])
        if value_at(tree, path) == operation["value"] and found in (GONE, operation["value"]):
            found = masked_at(tree, path)
    return found


def _path(tree: Any, pointer: str) -> Path:
    """Return the path of a JSON pointer in an object."""
    path: Path = ()
    for part in pointer.split("/")[1:]:
        step: str | int = part.replace("~1", "/").replace("~0", "~")
        if isinstance(tree, list):
            step = len(tree) - 1 if part == "-" else int(part) if part.isdecimal() and len(part) < 10 else -1
        path, tree = (*path, step), value_at(tree, (step,))
    return path
