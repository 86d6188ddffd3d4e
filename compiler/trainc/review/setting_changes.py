"""Settings: the differences between the trainc.yaml of the old side and that of the new side.

Reads    both documents as they are written, including fields that trainc does not know.
Returns  an edit for each changed setting, with its line. Each rule in `lint.disable` is a setting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.diagnostics import Place
from trainc.edits.environment import KEYS
from trainc.provenance.tracing import nearest_existing
from trainc.provenance.tracing.correspondence import GONE
from trainc.review.changes import Change, changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Document, ObjectId
    from trainc.kubernetes.trees import Tree

LINT: Final = "lint"
REPORTING: Final = (LINT, "fieldValidation")
"""The sections that decide what is reported; they change no object."""
TRANSFORMATIONS: Final = ("environments", "patches", *KEYS)
"""The sections that change the documents before they are compiled."""
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


def edits(old: Document | None, new: Document | None) -> list[SettingEdit]:
    """Return the changed settings of two documents by rank."""
    trees = _tree(old), _tree(new)
    return sorted((_edit(change, old, new, trees) for change in _changes(*trees)), key=lambda edit: edit.rank)


def _tree(document: Document | None) -> Tree:
    return document.value if document is not None and isinstance(document.value, dict) else {}


def _edit(change: Change, old: Document | None, new: Document | None, trees: tuple[Tree, Tree]) -> SettingEdit:
    gone = new is None or not isinstance(new.value, dict)
    document, path = (old, change.old_path) if gone else (new, change.new_path)
    assert document is not None  # a change is in one of them
    if change.kind == "removed" and not gone:
        path = path[:-1]
    rank = RANKS.get(str(change.path[0]), NO_EFFECT)
    return SettingEdit(change, nearest_existing(Place(document, path)), trees, gone, rank)


def _changes(old: Tree, new: Tree) -> Iterator[Change]:
    """Yield the differences of two documents; `lint.disable` is a set."""
    rules = _rules(old), _rules(new)
    if None in rules:
        yield from changes(old, new)
        return
    yield from changes(_without_rules(old), _without_rules(new))
    before, after = (given or [] for given in rules)
    field = ".".join(RULES)
    for rule in sorted({*before} ^ {*after}):
        if rule in after:
            yield Change("added", field, (*RULES, len(before)), (*RULES, after.index(rule)), new=rule)
        else:
            yield Change("removed", field, (*RULES, before.index(rule)), (*RULES, len(after)), old=rule)


def _rules(tree: Tree) -> list[str] | None:
    """Return the rules that a document turns off; None if the field has the wrong type."""
    lint = tree.get(LINT, {})
    given: Any = lint.get("disable", []) if isinstance(lint, dict) else GONE
    return given if isinstance(given, list) and all(isinstance(rule, str) for rule in given) else None


def _without_rules(tree: Tree) -> Tree:
    """Return a document without `lint.disable` but with a `lint` mapping, so that each of its fields is a change."""
    lint = tree.get(LINT, {})
    return tree | {LINT: {key: value for key, value in lint.items() if key != "disable"}}
