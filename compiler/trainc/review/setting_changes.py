"""Settings: the differences between the settings files of the old side and those of the new side.

Reads    the documents as they are written, including fields that trainc does not know: of the trainc.yaml and of each
         file that it extends.
Returns  an edit for each changed setting, with its line. Each rule in `lint.disable`, of a file or an environment, is a
         setting.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.diagnostics import Place
from trainc.edits.environment import KEYS
from trainc.kubernetes.trees import get, put
from trainc.provenance.tracing import nearest_existing
from trainc.provenance.tracing.correspondence import GONE
from trainc.review.changes import Change, changes
from trainc.settings.keys import ENVIRONMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Document, ObjectId, Path
    from trainc.kubernetes.trees import Tree
    from trainc.settings import Settings

LINT: Final = "lint"
REPORTING: Final = ((LINT,), ("fieldValidation",))
"""The sections that decide what is reported; they change no object."""
TRANSFORMATIONS: Final = ("extends", ENVIRONMENTS, "patches", *KEYS)
"""The sections that can change the documents before they are compiled."""
RULES: Final = (LINT, "disable")
RANKS: Final = {LINT: 0, "fieldValidation": 0, "exclude": 0, "accelerators": 2} | dict.fromkeys(TRANSFORMATIONS, 2)
"""The sections that have an effect. They precede other fields, which must not push them out of a shortened list."""
ANNOTATION_RANK: Final = 1
"""Annotations precede accelerators, because only the latter are also shown as the cause of changed objects."""
NO_EFFECT: Final = 3


class SettingEdit(NamedTuple):
    """A changed setting."""

    change: Change
    place: Place
    """Its line; for a removed setting, the field that contained it."""
    trees: tuple[Tree, Tree]
    """Both documents."""
    gone: bool
    """Whether the place is in the old document, because the new side has none."""
    rank: int
    """The position among the changed settings; equal ranks keep their order."""
    owner: ObjectId | None = None
    """The TrainJob or runtime that has the setting as an annotation; None for trainc.yaml."""


def edits(old: Settings, new: Settings) -> list[SettingEdit]:
    """Return the changed settings of two projects by rank."""
    found = (edit for before, after in _pairs(old, new) for edit in _edits(before, after))
    return sorted(found, key=lambda edit: edit.rank)


def _pairs(old: Settings, new: Settings) -> Iterator[tuple[Document | None, Document | None]]:
    """Yield both versions of each settings file, the project's own first; None for a side without the file."""
    before, after = _by_path(old), _by_path(new)
    for path in dict.fromkeys((*after, *before)):
        yield before.get(path), after.get(path)


def _by_path(settings: Settings) -> dict[str, Document]:
    """Return the documents of the settings files by their paths relative to the project's own file."""
    files = settings.settings_files[::-1]
    return {os.path.relpath(file.path, files[0].path): file.document for file in files}


def _edits(old: Document | None, new: Document | None) -> Iterator[SettingEdit]:
    trees = _tree(old), _tree(new)
    return (_edit(change, old, new, trees) for change in _changes(*trees))


def _tree(document: Document | None) -> Tree:
    return document.value if document is not None and isinstance(document.value, dict) else {}


def _edit(change: Change, old: Document | None, new: Document | None, trees: tuple[Tree, Tree]) -> SettingEdit:
    gone = new is None or not isinstance(new.value, dict)
    document, path = (old, change.old_path) if gone else (new, change.new_path)
    assert document is not None  # a change is in one of them
    if change.kind == "removed" and not gone:
        path = path[:-1]
    own = own_path(change.path)
    rank = RANKS.get(str(own[0]), NO_EFFECT) if own else RANKS[ENVIRONMENTS]
    return SettingEdit(change, nearest_existing(Place(document, path)), trees, gone, rank)


def own_path(path: Path) -> Path:
    """Return the path of a setting in its layer, the file or an environment; empty for an environment itself.

    >>> own_path(("environments", "prod", "lint", "strict")), own_path(("output",)), own_path(("environments", "prod"))
    (('lint', 'strict'), ('output',), ())
    """
    return path[2:] if path[:1] == (ENVIRONMENTS,) else path


def _changes(old: Tree, new: Tree) -> Iterator[Change]:
    """Yield the differences of two documents; each `lint.disable` is a set."""
    sets = [at for at in _layers_of_both(old, new) if None not in (_rules(old, at), _rules(new, at))]
    rest = old, new
    for at in sets:
        rest = _without_rules(rest[0], at), _without_rules(rest[1], at)
    yield from changes(*rest)
    for at in sets:
        before, after = (_rules(tree, at) or [] for tree in (old, new))
        path = (*at, *RULES)
        field = ".".join(map(str, path))
        for rule in sorted({*before} ^ {*after}):
            if rule in after:
                yield Change("added", field, (*path, len(before)), (*path, after.index(rule)), new=rule)
            else:
                yield Change("removed", field, (*path, before.index(rule)), (*path, len(after)), old=rule)


def _layers_of_both(old: Tree, new: Tree) -> Iterator[Path]:
    """Yield the paths of the layers that both documents have: the file, and each environment."""
    yield ()
    before, after = (tree.get(ENVIRONMENTS) for tree in (old, new))
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before:
            if all(isinstance(layers.get(name), dict) for layers in (before, after)):
                yield (ENVIRONMENTS, name)


def _rules(tree: Tree, at: Path) -> list[str] | None:
    """Return the rules that a layer turns off; None if the field has the wrong type."""
    lint = get(tree, (*at, LINT), {})
    given: Any = lint.get("disable", []) if isinstance(lint, dict) else GONE
    return given if isinstance(given, list) and all(isinstance(rule, str) for rule in given) else None


def _without_rules(tree: Tree, at: Path) -> Tree:
    """Return a document without a layer's `lint.disable` but with a `lint` mapping: each of its fields is a change."""
    lint = get(tree, (*at, LINT), {})
    without: Tree = put(tree, (*at, LINT), {key: value for key, value in lint.items() if key != "disable"})
    return without
