"""The changes of labels and annotations of an existing JobSet that Kueue's webhook rejects.

Reads    the JobSet before and after a change, as they are stored. A missing `suspend` is that of a running JobSet.
Returns  each rejected change, and whether Kueue accepts it while the JobSet is suspended.
Source   Kueue v0.19.2: ValidateJobOnUpdate in pkg/controller/jobframework/validation.go, and pkg/util/webhook. The rule
         for namespaces with a LocalQueue `default` depends on the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import Violation, field_of
from trainc.pipeline.checks.jobset import update
from trainc.pipeline.checks.kueue_webhook.jobset_keys import ELASTIC, GATES, MAX_EXEC, PREBUILT, gates_of
from trainc.pipeline.objects import QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree

PRIORITY: Final = "kueue.x-k8s.io/priority-class"
LABELS: Final = ("metadata", "labels")
ANNOTATIONS: Final = ("metadata", "annotations")
NOT_RUNNING: Final = "Kueue rejects it for a running JobSet"
NOT_EXISTING: Final = "Kueue rejects it for every existing JobSet"


class KueueChange(NamedTuple):
    """A change of a key that has a rule."""

    path: Path
    accepted: bool
    """Whether the webhook accepts it with the values of `suspend` before and after."""
    while_suspended: bool = True
    """Whether the webhook accepts it while the JobSet is suspended."""

    def violation(self) -> Violation:
        """Return the change as one that the webhook rejects."""
        reason = NOT_RUNNING if self.while_suspended else NOT_EXISTING
        verb = "suspend" if self.while_suspended else "delete"
        return Violation(
            self.path, field_of(self.path), update.RULE, reason, f"{verb} the JobSet before you apply the change"
        )


def kueue_changes(old: Tree, new: Tree) -> list[KueueChange]:
    """Return the changes of keys that have a rule, whether Kueue's webhook accepts them or not."""
    return [*_queue(old, new), *_prebuilt(old, new), *_seconds(old, new), *_priority(old, new), *_annotations(old, new)]


def _suspended(jobset: Tree) -> bool:
    return bool(get(jobset, ("spec", "suspend"), False))


def _label(jobset: Tree, key: str) -> str:
    """Return the value of a label. An empty one counts as a missing one."""
    return str(get(jobset, (*LABELS, key), ""))


def _annotation(jobset: Tree, key: str) -> str:
    return str(get(jobset, (*ANNOTATIONS, key), ""))


def _is_elastic(jobset: Tree) -> bool:
    return _annotation(jobset, ELASTIC) == "true"


def _queue(old: Tree, new: Tree) -> Iterator[KueueChange]:
    """Accept another queue while the new JobSet is suspended."""
    if _label(old, QUEUE) != _label(new, QUEUE):
        yield KueueChange((*LABELS, QUEUE), _suspended(new))


def _prebuilt(old: Tree, new: Tree) -> Iterator[KueueChange]:
    """Accept another prebuilt workload while the new JobSet is suspended, or if the old one was an elastic job."""
    before, after = (_annotation(tree, PREBUILT) or _label(tree, PREBUILT) for tree in (old, new))
    if before == after:
        return
    accepted = _suspended(new) or _is_elastic(old)
    for parent in (LABELS, ANNOTATIONS):
        path = (*parent, PREBUILT)
        if get(old, path, "") != get(new, path, ""):
            yield KueueChange(path, accepted)


def _seconds(old: Tree, new: Tree) -> Iterator[KueueChange]:
    """Accept another maximum execution time while the JobSet is suspended before and after."""
    if _label(old, MAX_EXEC) != _label(new, MAX_EXEC):
        yield KueueChange((*LABELS, MAX_EXEC), _suspended(old) and _suspended(new))


def _priority(old: Tree, new: Tree) -> Iterator[KueueChange]:
    """Accept another priority class at any time, a first one while the new JobSet is suspended, and no removal."""
    before, after = _label(old, PRIORITY), _label(new, PRIORITY)
    if after and not before:
        yield KueueChange((*LABELS, PRIORITY), _suspended(new))
    elif before and not after:
        yield KueueChange((*LABELS, PRIORITY), accepted=False, while_suspended=False)


def _annotations(old: Tree, new: Tree) -> Iterator[KueueChange]:
    """Reject each change of the elastic annotation, and new admission gates."""
    if _is_elastic(old) != _is_elastic(new):
        yield KueueChange((*ANNOTATIONS, ELASTIC), accepted=False, while_suspended=False)
    before, after = (gates_of(_annotation(tree, GATES)) for tree in (old, new))
    if not {*after} <= {*before}:
        yield KueueChange((*ANNOTATIONS, GATES), accepted=False, while_suspended=False)
