"""Settings: the differences between the trainc.yaml of the old side and that of the new side.

Reads    both documents as they are written, fields that trainc does not know included.
Returns  a change for each setting, with its line. A rule in `lint.disable` is a setting of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.diagnostics import Place
from trainc.review.changes import Change, changes
from trainc.tracing import standing
from trainc.tracing.correspondence import GONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Path, Tree

LINT: Final = "lint"
REPORTING: Final = (LINT, "fieldValidation")
"""The sections that decide what is reported, and change no object."""
RULES: Final = (LINT, "disable")
ORDER: Final = (*REPORTING, "accelerators")
"""The sections that come first: other fields have no effect, and must not push these out of sight."""


class Edit(NamedTuple):
    """A changed setting."""

    change: Change
    place: Place
    """Its line; of a removed one, the field that it was in."""
    trees: tuple[Tree, Tree]
    """Both documents."""
    gone: bool
    """Whether the place is in the old document: the new side has none."""


def edits(old: Document | None, new: Document | None) -> list[Edit]:
    """Return the changed settings, those that have an effect first."""
    trees = _tree(old), _tree(new)
    found = [_edit(change, old, new, trees) for change in _changes(*trees)]
    return sorted(found, key=lambda edit: _rank(edit.change.path))


def _rank(path: Path) -> int:
    return ORDER.index(str(path[0])) if path[0] in ORDER else len(ORDER)


def _tree(document: Document | None) -> Tree:
    return document.value if document is not None and isinstance(document.value, dict) else {}


def _edit(change: Change, old: Document | None, new: Document | None, trees: tuple[Tree, Tree]) -> Edit:
    gone = new is None or not isinstance(new.value, dict)
    document, path = (old, change.old_path) if gone else (new, change.new_path)
    assert document is not None  # a change is in one of them
    if change.kind == "removed" and not gone:
        path = path[:-1]
    return Edit(change, standing(Place(document, path)), trees, gone)


def _changes(old: Tree, new: Tree) -> Iterator[Change]:
    """Return the differences of two documents; `lint.disable` is a set."""
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
    """Return the rules that a document turns off; None where the field does not have its type."""
    lint = tree.get(LINT, {})
    given: Any = lint.get("disable", []) if isinstance(lint, dict) else GONE
    return given if isinstance(given, list) and all(isinstance(rule, str) for rule in given) else None


def _without_rules(tree: Tree) -> Tree:
    """Return a document without `lint.disable`, and with a `lint`: so each of its fields is a change of its own."""
    lint = tree.get(LINT, {})
    return tree | {LINT: {key: value for key, value in lint.items() if key != "disable"}}
