"""JSON, for programs: one object, whose fields are stable and documented in docs/review.md.

Reads    a review.
Returns  the text; keys have a fixed order, quantities are strings, and missing values are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trainc.base.texts import escape_json
from trainc.provenance.tracing.correspondence import GONE, pointer
from trainc.review import queue_figures
from trainc.review.formats import figures, losses, numbers_of, remarks, setting_name
from trainc.review.job_entries import entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.diagnostics import Location, ObjectId
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation
    from trainc.pods.footprint import Footprint
    from trainc.review.changes import Change
    from trainc.review.formats import PodFigure
    from trainc.review.job_entries import Entry, Variant
    from trainc.review.reviewed import Cause, CauseGroup, ChangedSetting, Counts, Line, Review, Reviewed
    from trainc.review.sides.moves import FolderMove
    from trainc.review.sides.parameter_files import ChangedParameter
    from trainc.review.sides.side_files import NotCompared


def render(review: Review, *, color: bool = False) -> str:
    """Return the review."""
    try:
        found = "".join(_parts(review, ascii=False))
        found.encode()
    except UnicodeEncodeError:  # file names may be invalid UTF-8, JSON must be valid
        return "".join(_parts(review, ascii=True))
    return found


def _parts(review: Review, *, ascii: bool) -> Iterator[str]:
    """Yield the text field by field, and lists item by item: an encoder needs ten times the memory of its text."""

    def encoded(value: Any, indent: str) -> str:
        text = json.dumps(value, indent=2, ensure_ascii=ascii)
        return escape_json(text.replace("\n", f"\n{indent}"))

    start = "{"
    for key, value in _content(review).items():
        yield f'{start}\n  "{key}": '
        start = ","
        if isinstance(value, Iterator):
            before = "["
            for item in value:
                yield f"{before}\n    {encoded(item, '    ')}"
                before = ","
            yield "[]" if before == "[" else "\n  ]"
        else:
            yield encoded(value, "  ")
    yield "\n}\n"


def _content(review: Review) -> Tree:
    """Return the fields; lists that grow with the number of changes are iterators."""
    return {
        "old": review.old,
        "new": review.new,
        "summary": {
            "text": numbers_of(review),
            **_counts(review.counts),
            "unchanged": review.unchanged,
            "settings": len(review.settings),
            "notCompared": len(review.not_compared),
            "losses": [loss.text for loss in losses(review)],
            "environments": [{"name": each.environment} | _counts(each) for each in review.counts_of_environments],
        },
        "settings": map(_setting, review.settings),
        "causes": map(_group, review.groups()),
        "jobs": map(_entry, entries(review)),
        "objects": _objects(review.objects),
        **({"moves": map(_move, review.moves)} if review.moves else {}),
        "notCompared": map(_not_compared, review.not_compared),
        "pods": [_pods(figure) for figure in figures(review)],
        **queue_figures.as_json(review),
        **({"notes": notes} if (notes := remarks(review)) else {}),
    }


def _counts(counts: Counts) -> Tree:
    numbers = counts._asdict()
    del numbers["environment"]
    return numbers


def _entry(entry: Entry) -> Tree:
    """Return a source with its objects, by the environments in which they change alike."""
    found: Tree = {"kind": entry.source.kind or "job", "name": entry.source.name, "file": entry.source.file}
    if entry.environments:
        found["environments"] = list(entry.environments)
    return found | {"status": entry.status, "changes": [_variant(variant) for variant in entry.variants]}


def _variant(variant: Variant) -> Tree:
    environments = {"environments": list(variant.subject.environments)} if variant.subject.environments else {}
    objects = [
        _id(each.id) | {"status": each.status} | ({"effect": each.effect} if each.status == "changed" else {})
        for each in variant.objects
    ]
    return environments | {"objects": objects}


def _setting(setting: ChangedSetting) -> Tree:
    """Return a changed setting, with the names of the objects that it changes."""
    found = _location(setting.at) | _change(setting.change) | ({"side": "old"} if setting.gone else {})
    if setting.owner is not None:
        found["owner"] = _id(setting.owner)
    return found | _environments(setting.objects) | {"objects": _named_objects(setting.objects)}


def _not_compared(row: NotCompared) -> Tree:
    """Return a difference that is not compared."""
    found: Tree = {"file": row.file, "change": row.status, "reason": row.reason}
    found |= {"changes": [_parameter(change) for change in row.changes]} if row.changes else {}
    found |= {"losesData": True} if row.loses_data else {}
    return found | ({"object": _id(row.object)} if row.object is not None else {})


def _parameter(given: ChangedParameter) -> Tree:
    """Return a changed parameter of Argo CD, which has no path."""
    values = {"old": given.old, "new": given.new}
    return {"field": given.field, "change": given.status} | {
        key: value for key, value in values.items() if value is not GONE
    }


def _move(move: FolderMove) -> Tree:
    """Return the objects that move to another folder, and the Applications that prune and deploy them."""
    found: Tree = {"from": move.old, "to": move.new, "objects": [_id(id) for id in move.objects]}
    found |= {"prunedBy": list(move.pruned_by), "deployedBy": list(move.deployed_by)}
    return found | ({"applicationSets": list(move.sets)} if move.sets else {})


def _group(group: CauseGroup) -> Tree:
    """Return a cause, with the fields and objects that it changes."""
    return {
        "cause": _cause(group.cause, whole=group.cause.own) if group.cause else None,
        **({"setting": group.setting.change.field} if group.setting else {}),
        **({"settings": [setting_name(each) for each in group.settings]} if group.settings else {}),
        "effect": group.effect,
        "fields": [line.change.field for line, _ in group.lines],
        **_environments(group.objects),
        "objects": _named_objects(group.objects),
    }


def _named_objects(objects: Sequence[Reviewed]) -> list[Tree]:
    """Return the identities of objects, each once, with the environments that have it."""
    return [_id(group[0].id) | _environments(group) for group in _by_identity(objects)]


def _by_identity(objects: Iterable[Reviewed]) -> list[list[Reviewed]]:
    """Return objects in groups with one identity, which can differ between environments."""
    found: dict[ObjectId, list[Reviewed]] = {}
    for reviewed in objects:
        found.setdefault(reviewed.id, []).append(reviewed)
    return list(found.values())


def _environments(objects: Sequence[Reviewed]) -> Tree:
    """Return the environments of some objects; nothing for a project without environments."""
    names = list(dict.fromkeys(name for reviewed in objects for name in reviewed.environments))
    return {"environments": names} if names else {}


def _objects(objects: Sequence[Reviewed]) -> Iterator[Tree]:
    """Yield the objects; one that is added or removed in several environments is one, with the first location."""
    one_sided = [[each for each in objects if each.status == status] for status in ("added", "removed")]
    groups = {id(group[0]): group for found in one_sided for group in _by_identity(found)}
    for reviewed in objects:
        if reviewed.status == "changed":
            yield _object(reviewed, [reviewed])
        elif id(reviewed) in groups:
            yield _object(reviewed, groups[id(reviewed)])


def _object(reviewed: Reviewed, group: Sequence[Reviewed]) -> Tree:
    """Return an object; `group` has it in all environments."""
    found: Tree = _id(reviewed.id) | _environments(group) | {"status": reviewed.status}
    if reviewed.at is not None:
        found["at"] = _location(reviewed.at)
    if reviewed.cause is not None:
        found["cause"] = _cause(reviewed.cause)
    if reviewed.renamed:
        found["renamedFrom"] = _id(reviewed.renamed)
    if reviewed.running is not None:
        found["running"] = reviewed.running
    if reviewed.status != "changed":
        return found | ({"losesData": True} if any(each.loses_data for each in group) else {})
    found["effect"] = reviewed.effect
    if reviewed.known:
        found["allowed"] = not reviewed.refused
        found["refused"] = [_refused(violation) for violation in reviewed.errors]
    if reviewed.new_name:
        found["newName"] = reviewed.new_name
    found["changes"] = [_line(line, reviewed.id.kind, reviewed.new_name) for line in reviewed.lines]
    return found


def _refused(violation: Violation) -> Tree:
    """Return an error of the API server: the field as named in the error, and its path."""
    names = {"field": violation.field, "path": pointer(violation.path)}
    return names | {"rule": violation.rule, "message": violation.message}


def _line(line: Line, kind: str, new_name: str) -> Tree:
    consequence = line.consequence
    found = _change(line.change) | {"effect": consequence.effect, "meaning": consequence.sentence(kind, new_name)}
    if consequence.why:
        found["why"] = consequence.why
    if line.cause is not None:
        found["cause"] = _cause(line.cause)
    if line.managers:
        found["managers"] = [manager._asdict() for manager in line.managers]
    return found


def _change(change: Change) -> Tree:
    found: Tree = {"field": change.field, "change": change.kind, "path": pointer(change.path)}
    values: list[tuple[str, Any]] = [("old", change.old), ("new", change.new)]
    return found | {name: value for name, value in values if value is not GONE}


def _cause(cause: Cause, *, whole: bool = False) -> Tree:
    """Return a cause; `whole` leaves out the edit, which is one of several of a document."""
    found = {"by": cause.by, **_location(cause.at)} | ({} if whole else _change(cause.edit))
    return found | ({"side": "old"} if cause.gone else {})


def _location(at: Location) -> Tree:
    return {"file": at.file} | ({"line": at.line, "column": at.column} if at.line else {})


def _id(id: ObjectId) -> Tree:
    names = {"apiVersion": id.apiVersion, "kind": id.kind, "namespace": id.namespace, "name": id.name}
    return {key: value for key, value in names.items() if value}


def _pods(figure: PodFigure) -> Tree:
    """Return the nodes, pods and resources of some environments: the total, or those of a queue."""
    found: Tree = {} if figure.queue is None else {"queue": figure.queue}
    found |= {"environments": list(figure.environments)} if figure.environments else {}
    found |= {} if figure.cluster is None else {"sumOfCluster": figure.cluster}
    return found | {"before": _footprint(figure.before), "after": _footprint(figure.after)}


def _footprint(footprint: Footprint) -> Tree:
    resources = {name: str(quantity) for name, quantity in footprint.resources.items()}
    return {"nodes": footprint.nodes, "pods": footprint.pods, "gpus": footprint.gpus, "resources": resources}
