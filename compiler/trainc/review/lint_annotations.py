"""Lint annotations: the changed `trainc.dev/lint-ignore` annotations of TrainJobs and runtimes.

Reads    the plans of both sides. The annotation turns lint rules off and is not written to the output, so no changed
         object reveals it.
Returns  an edit for each rule that a TrainJob or runtime of the new side turns off, or no longer turns off. An added
         TrainJob turns its rules off; an edit of a removed one is not reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import lint_rules
from trainc.diagnostics import ObjectId
from trainc.kubernetes.trees import get
from trainc.pipeline.lint.triggers import IGNORE, listed
from trainc.provenance.tracing import nearest_existing
from trainc.review.changes import Change
from trainc.review.setting_changes import ANNOTATION_RANK, UNKNOWN_RANK, SettingEdit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.diagnostics import Path
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.objects import Runtime, TrainJob
    from trainc.pipeline.plan import Plan

ANNOTATION: Final[Path] = ("metadata", "annotations", IGNORE)
FIELD: Final = f'metadata.annotations["{IGNORE}"]'
NO_OBJECT: Final[Tree] = {}


def edits(old: Sequence[Plan], new: Sequence[Plan]) -> list[SettingEdit]:
    """Return the changed annotations: runtimes, which apply to many TrainJobs, precede TrainJobs."""
    jobs = {(plan.job.namespace, plan.job.name): plan.job.value for plan in old}
    runtimes = {plan.runtime.id: plan.runtime for plan in new if plan.job.own_runtime is None}
    return [
        *(edit for id in sorted(runtimes) for edit in _edits(_runtime(old, id), runtimes[id])),
        *(
            edit
            for job in (plan.job for plan in new)
            for edit in _edits(jobs.get((job.namespace, job.name), NO_OBJECT), job)
        ),
    ]


def _runtime(plans: Sequence[Plan], id: ObjectId) -> Tree:
    """Return a runtime of a side, whether or not a TrainJob of that side uses it."""
    entry = plans[0].library.find(id.kind, id.namespace, id.name) if plans else None
    return entry.document.value if entry is not None else NO_OBJECT


def _edits(old: Tree, new: Runtime | TrainJob) -> Iterator[SettingEdit]:
    """Yield the edits of one annotation, which is a set of rules."""
    before, after = _rules(old), _rules(new.value)
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


def _rules(tree: Tree) -> frozenset[str]:
    """Return the rules that the annotation of an object turns off."""
    text: Any = get(tree, ANNOTATION)
    return frozenset(listed(text)) if isinstance(text, str) else frozenset()
