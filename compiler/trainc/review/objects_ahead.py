"""Objects that change before their JobSet: the API server accepts the change of a ConfigMap or a PodGroup, but not
that of the JobSet whose pods read it.

Reads    the reviewed objects of one environment.
Returns  the same objects, in which such changes have the effect `ahead`, and a warning for each of these objects. If
         the JobSet gets another name with a hash, the other objects get one, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import JOBS_OF_JOBSET, JOBSET
from trainc.diagnostics import Diagnostic
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import listed
from trainc.review.consequences import NEW_NAME, PODS, Consequence

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from trainc.review.reviewed import Line, Reviewed

AHEAD_OF_JOBSET: Final = Declaration(
    "ahead-of-jobset", ("job",), "Change applies before its JobSet is recreated", "warning", trainc_only=True
)
UNCHANGED: Final = frozenset({"new-object", "while-suspended", "refused"})
"""The effects with which a running JobSet stays as it is."""
READ: Final = frozenset({"data", "binaryData", "spec"})
"""The fields of other objects that the pods, or their scheduler, read."""


def with_objects_ahead(objects: Sequence[Reviewed]) -> tuple[tuple[Reviewed, ...], tuple[Diagnostic, ...]]:
    """Return the objects with the effects of changes that apply before their JobSet, and the warnings."""
    wanted = {_key(each) for each in objects if each.id.kind != JOBSET.kind and any(map(_is_ahead, each.lines))}
    jobsets = _readers(objects, wanted) if wanted else {}
    if not jobsets:
        return tuple(objects), ()
    found, warnings = [], []
    for reviewed in objects:
        jobset = jobsets.get(_key(reviewed)) if reviewed.id.kind != JOBSET.kind else None
        ahead = [line for line in reviewed.lines if _is_ahead(line)]
        if jobset is None or not ahead:
            found.append(reviewed)
            continue
        if jobset.new_name:
            effect, changed = Consequence("new-object", NEW_NAME), [*reviewed.lines]
        else:
            effect, changed = Consequence("ahead", PODS), ahead
            warnings.append(_warning(reviewed, ahead, jobset))
        lines = (line._replace(consequence=effect) if line in changed else line for line in reviewed.lines)
        found.append(reviewed._replace(lines=tuple(lines)))
    return tuple(found), tuple(warnings)


def _key(reviewed: Reviewed) -> tuple[str, str]:
    return reviewed.id.namespace, reviewed.id.name


def _readers(objects: Iterable[Reviewed], wanted: Container[tuple[str, str]]) -> dict[tuple[str, str], Reviewed]:
    """Return the first JobSet that stays as it is and whose pods name an object of their namespace, by that object."""
    found: dict[tuple[str, str], Reviewed] = {}
    for each in objects:
        if _is_behind(each):
            for name in _strings(get(each.before, JOBS_OF_JOBSET)):
                if (key := (each.id.namespace, name)) in wanted:
                    found.setdefault(key, each)
    return found


def _is_behind(reviewed: Reviewed) -> bool:
    is_changed = reviewed.id.kind == JOBSET.kind and reviewed.status == "changed"
    return is_changed and reviewed.effect in UNCHANGED


def _is_ahead(line: Line) -> bool:
    return line.consequence.effect == "in-place" and line.change.path[0] in READ


def _strings(tree: Any) -> Iterator[str]:
    """Yield the strings of a tree."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list):
        for value in tree.values() if isinstance(tree, dict) else tree:
            yield from _strings(value)


def _warning(reviewed: Reviewed, lines: Sequence[Line], jobset: Reviewed) -> Diagnostic:
    fields, name = listed(line.change.field for line in lines), f'{reviewed.id.kind} "{reviewed.id.name}"'
    return Diagnostic.declared(
        AHEAD_OF_JOBSET,
        f'{fields} of {name} would change while JobSet "{jobset.id.name}" keeps its pods',
        f'delete JobSet "{jobset.id.name}" before you apply the change, or use --name-suffix-hash',
        object=reviewed.id,
        place=reviewed.at,
    )
