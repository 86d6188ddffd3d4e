"""Settings: the differences between the settings files of the old side and those of the new side.

Reads    the documents as they are written, including fields that trainc does not know: of the trainc.yaml and of each
         file that it extends.
Returns  an edit for each changed setting, with its line. Each rule in `lint.disable`, of a file or an environment, is a
         setting. The rules of an environment that only one side has are settings, too, beside the environment itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.diagnostics import Place
from trainc.kubernetes.trees import get, put
from trainc.provenance.tracing import nearest_existing
from trainc.provenance.tracing.correspondence import GONE
from trainc.review.changes import Change, changes
from trainc.settings.keys import ENVIRONMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.diagnostics import Document, ObjectId, Path
    from trainc.kubernetes.trees import Tree
    from trainc.settings import Settings

LINT: Final = "lint"
FIELD_VALIDATION: Final = "fieldValidation"
REPORTING: Final = ((LINT,), (FIELD_VALIDATION,))
"""The sections that decide what is reported."""
RULES: Final = (LINT, "disable")

RULE_RANK, ANNOTATION_RANK, OBJECT_RANK, UNKNOWN_RANK = range(4)
"""The positions among the changed settings: of those that decide what is reported, of annotations, of those that change
objects, and of annotations with unknown rules."""


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
    """The position among the changed settings."""
    owner: ObjectId | None = None
    """The TrainJob or runtime that has the setting as an annotation; None for trainc.yaml."""


def edits(old: Settings, new: Settings, path_of: Callable[[str], str]) -> list[SettingEdit]:
    """Return the changed settings of two projects by rank; `path_of` returns the path of the new side for an old one.

    Each file is compared with the one of its path. The file in force is compared with that of the other side, if
    neither extends the other one.
    """
    before = {path_of(file.path): file.document for file in reversed(old.settings_files)}
    after = {file.path: file.document for file in reversed(new.settings_files)}
    for own, other in zip([*before][:1], [*after][:1], strict=False):
        if own not in after and other not in before:
            before[other] = before.pop(own)
    found = (
        edit for path in dict.fromkeys((*after, *before)) for edit in edits_of_file(before.get(path), after.get(path))
    )
    return sorted(found, key=lambda edit: edit.rank)


def edits_of_file(old: Document | None, new: Document | None) -> Iterator[SettingEdit]:
    """Yield the changed settings of both versions of a file; None for a side without it."""
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
    rank = RULE_RANK if own[:1] in REPORTING else OBJECT_RANK
    return SettingEdit(change, nearest_existing(Place(document, path)), trees, gone, rank)


def own_path(path: Path) -> Path:
    """Return the path of a setting in its layer, the file or an environment; empty for an environment itself.

    >>> own_path(("environments", "prod", "lint", "strict")), own_path(("output",)), own_path(("environments", "prod"))
    (('lint', 'strict'), ('output',), ())
    """
    return path[2:] if path[:1] == (ENVIRONMENTS,) else path


def environment_of(path: Path) -> str:
    """Return the environment that has a setting; empty for one of the file.

    >>> environment_of(("environments", "prod", "lint", "strict")), environment_of(("output",))
    ('prod', '')
    """
    return str(path[1]) if path[:1] == (ENVIRONMENTS,) and len(path) > 1 else ""


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
    for name, before_only, layer in _layers_of_one(old, new):
        yield from _rules_of_layer(name, before_only, layer)


def _layers_of_both(old: Tree, new: Tree) -> Iterator[Path]:
    """Yield the paths of the layers that both documents have: the file, and each environment."""
    yield ()
    before, after = (tree.get(ENVIRONMENTS) for tree in (old, new))
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before:
            if all(isinstance(layers.get(name), dict) for layers in (before, after)):
                yield (ENVIRONMENTS, name)


def _layers_of_one(old: Tree, new: Tree) -> Iterator[tuple[str, bool, Tree]]:
    """Yield the environments that one document has: the name, whether it is the old document, and the layer."""
    mappings = [tree.get(ENVIRONMENTS) for tree in (old, new)]
    before, after = (mapping if isinstance(mapping, dict) else {} for mapping in mappings)
    for side, other in ((after, before), (before, after)):
        for name, layer in side.items():
            if name not in other and isinstance(layer, dict):
                yield name, side is before, layer


def _rules_of_layer(name: str, is_old: bool, layer: Tree) -> Iterator[Change]:
    """Yield the changed rules of an environment that one document has."""
    own = {key: layer[key] for key in (LINT, FIELD_VALIDATION) if key in layer}
    whole: Tree = {ENVIRONMENTS: {name: own}}
    nothing: Tree = {ENVIRONMENTS: {name: {}}}
    yield from _changes(*((whole, nothing) if is_old else (nothing, whole)))


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
