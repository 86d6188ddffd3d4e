"""Pod checks beside schema errors: the violations in the pods of a TrainJob whose fields partly break the schema.

Reads    a plan that stopped because the schema rejects some of its fields.
Returns  diagnostics of its Jobs and pods that do not depend on those fields. The stages run again without the fields
         and, for a field of a list item, without the list. This module is imported only if there is such an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Place
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import UNKNOWN_FIELD
from trainc.pipeline.passes.conform import conform, drop_field
from trainc.pipeline.passes.resolve import resolve
from trainc.pipeline.stages import STAGES
from trainc.provenance.placing.refused import diagnose
from trainc.provenance.tracing.correspondence import GONE, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Diagnostic, Path
    from trainc.pipeline.plan import Plan

REMAINING: Final = tuple(stage for stage in STAGES if stage not in (conform, resolve))
SCHEMA: Final = ("read", "schema")
"""The admission phases of the schema's errors."""
MISSING: Final = frozenset({"block-device", "env-file", "resource-claim-missing", "volume-missing"})
"""The rules that require another field: the schema may have rejected that one."""
SCOPE: Final = 3
"""The length of a path such as spec.trainer.resourcesPerNode, whose fields depend on each other."""


def unaffected_errors(plan: Plan) -> Iterator[Diagnostic]:
    """Yield the errors in Jobs and pods that are independent of the TrainJob's schema errors."""
    errors = [found for found in plan.diagnostics if found.severity == "error"]
    paths = {found.place.path: found.id for found in errors if isinstance(found.place, Place)}
    if plan.stopped or any(found.stage not in SCHEMA for found in errors) or not all(map(_in_spec, paths)):
        return
    value = plan.job.value
    for path, id in paths.items():
        whole = _innermost_list(path)
        if id != UNKNOWN_FIELD.id and value_at(value, whole) is not GONE:
            value = drop_field(value, whole)
    again = plan._replace(job=plan.job._replace(value=value), diagnostics=())
    for stage in REMAINING:
        again = stage(again)
        if again.failed:
            break
    refused = tuple(found for found in again.refused if found.stage == "job")
    if refused and again.objects:
        yield from (found for found in diagnose(again._replace(refused=refused)) if _is_independent(plan, paths, found))


def _in_spec(path: Path) -> bool:
    """Return whether a path leads to a field of spec; without another field, no pod is like the TrainJob's."""
    return path[:1] == ("spec",) and len(path) > 1 and path[1] != "runtimeRef"


def _innermost_list(path: Path) -> Path:
    """Return the path of the innermost list that a path leads into, or the path itself."""
    return next((path[: depth + 1] for depth in reversed(range(len(path))) if isinstance(path[depth], int)), path)


def _is_independent(plan: Plan, removed: Iterable[Path], diagnostic: Diagnostic) -> bool:
    """Return whether an error would stay if the removed fields were valid."""
    place = diagnostic.place
    if not isinstance(place, Place) or place.document.identity != plan.job.document.identity or diagnostic.related:
        return False
    path = _in_document(plan, place)
    if not _in_spec(path) or value_at(plan.job.document.value, path) is GONE:
        return False
    if diagnostic.id in MISSING and any(_is_collection(plan, path) for path in removed):
        return False
    return not any(_are_close(other, path) for other in removed)


def _in_document(plan: Plan, place: Place) -> Path:
    """Return the path of a place in the value that the schema has rejected: a TrainJob in an older form has others."""
    if plan.job.form is None:
        return place.path
    path = plan.job.form.edits[-1].source(place.path)
    assert not isinstance(path, Place), "a dialect has a field for each field of the form"
    return path


def _is_collection(plan: Plan, path: Path) -> bool:
    """Return whether a removed field may have had another one's volume or claim."""
    in_a_list = any(isinstance(step, int) for step in path)
    return in_a_list or isinstance(get(plan.job.document.value, path), dict | list)


def _are_close(path: Path, other: Path) -> bool:
    """Return whether two fields are in the same list item, or in the same field of the TrainJob outside of lists."""
    items = [depth + 1 for depth, step in enumerate(other) if isinstance(step, int)]
    shared = next((depth for depth, pair in enumerate(zip(path, other, strict=False)) if pair[0] != pair[1]), None)
    return shared is None or shared >= max(items[-1] if items else 0, SCOPE)
