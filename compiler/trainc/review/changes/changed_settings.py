"""Settings: the differences between the settings of the old side and those of the new side.

Reads    the documents as they are written, including fields that trainc does not know: of the trainc.yaml and of each
         file that it extends; and the plans of both sides, for the annotation `trainc.dev/lint-ignore` of TrainJobs and
         runtimes. It turns lint rules off and is not written to the output, so no changed object reveals it.
Returns  an edit for each changed setting, with its line. Each rule in `lint.disable`, of a file or an environment, is a
         setting. The rules of an environment that only one side has are settings, too, beside the environment itself.
         Each rule of an annotation that the new side turns off, or no longer turns off, is a setting. An added TrainJob
         turns its rules off; an edit of a removed one is not reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.base.data import lint_rules
from trainc.diagnostics import ObjectId, Place
from trainc.kubernetes.trees import get, put
from trainc.pipeline.lint.triggers import IGNORE, listed
from trainc.provenance.tracing import nearest_existing
from trainc.provenance.tracing.correspondence import GONE
from trainc.review.changes import Change, changes
from trainc.settings.keys import ENVIRONMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.diagnostics import Document, Path
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.objects import Runtime, TrainJob
    from trainc.pipeline.plan import Plan
    from trainc.settings import Settings


LINT: Final = "lint"
FIELD_VALIDATION: Final = "fieldValidation"
REPORTING: Final = ((LINT,), (FIELD_VALIDATION,))
"""The sections that decide what is reported."""
RULES: Final = (LINT, "disable")

RULE_RANK, ANNOTATION_RANK, OBJECT_RANK, UNKNOWN_RANK = range(4)
"""The positions among the changed settings: of those that decide what is reported, of annotations, of those that change
objects, and of annotations with unknown rules."""
ANNOTATION: Final[Path] = ("metadata", "annotations", IGNORE)
FIELD: Final = f'metadata.annotations["{IGNORE}"]'
NO_OBJECT: Final[Tree] = {}


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


def annotation_edits(old: Sequence[Plan], new: Sequence[Plan]) -> list[SettingEdit]:
    """Return the changed annotations: runtimes, which apply to many TrainJobs, precede TrainJobs."""
    jobs = {(plan.job.namespace, plan.job.name): plan.job.value for plan in old}
    runtimes = {plan.runtime.id: plan.runtime for plan in new if plan.job.own_runtime is None}
    return [
        *(edit for id in sorted(runtimes) for edit in _annotation_edits(_runtime_of(old, id), runtimes[id])),
        *(
            edit
            for job in (plan.job for plan in new)
            for edit in _annotation_edits(jobs.get((job.namespace, job.name), NO_OBJECT), job)
        ),
    ]


def _runtime_of(plans: Sequence[Plan], id: ObjectId) -> Tree:
    """Return a runtime of a side, whether or not a TrainJob of that side uses it."""
    entry = plans[0].library.find(id.kind, id.namespace, id.name) if plans else None
    return entry.document.value if entry is not None else NO_OBJECT


def _annotation_edits(old: Tree, new: Runtime | TrainJob) -> Iterator[SettingEdit]:
    """Yield the annotation_edits of one annotation, which is a set of rules."""
    before, after = _ignored_rules(old), _ignored_rules(new.value)
    if before == after:
        return
    place = nearest_existing(new.at(*ANNOTATION))
    for rule in sorted(before ^ after):
        if rule in after:
            change = Change("added", FIELD, ANNOTATION, ANNOTATION, new=rule)
        else:
            change = Change("removed", FIELD, ANNOTATION, ANNOTATION, old=rule)
        rank = ANNOTATION_RANK if rule in lint_rules() else UNKNOWN_RANK
        owner = ObjectId.from_source(new.document.unedited)
        yield SettingEdit(change, place, (old, new.value), gone=False, rank=rank, owner=owner)


def _ignored_rules(tree: Tree) -> frozenset[str]:
    """Return the rules that the annotation of an object turns off."""
    text: Any = get(tree, ANNOTATION)
    return frozenset(listed(text)) if isinstance(text, str) else frozenset()
