"""Consequences: what a change of an object means in a cluster that holds the old one.

Reads    an object before and after, and in what they differ.
Returns  a word and a reason for each difference, and what the API server would refuse. For a JobSet both follow
         `checks.jobset.update`, the server's own rules; a ConfigMap may forbid changes itself; for a PodGroup its
         scheduler takes them. Of other kinds nothing is known here.
Source   JobSet v0.12.0, Kubernetes 1.36; `Force=true,Replace=true` of Argo CD 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from trainc.checks.jobset import RELEASE, update
from trainc.kubernetes.gotypes import WrongTypeError, compared
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import REQUIRED, Violation
from trainc.passes.deliver import REPLACE, SYNC_OPTIONS
from trainc.review.masking import unsaid
from trainc.tracing.counterparts import GONE, at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.kubernetes.trees import Path, Tree
    from trainc.review.changes import Change

Effect = Literal["in-place", "starts", "stops", "while-suspended", "restarts", "new-object", "refused", "unknown"]

WORDS: Final[dict[Effect, str]] = {
    "unknown": "trainc does not know what the cluster makes of it",
    "in-place": "applies in place",
    "starts": "starts the job",
    "stops": "stops the job: its pods are deleted",
    "while-suspended": "applies only while the JobSet is suspended",
    "restarts": "restarts the job",
    "new-object": "needs a new object",
    "refused": "is refused",
}
"""What each means, from what matters least to what matters most."""
RANK: Final = {effect: rank for rank, effect in enumerate(WORDS)}

IMMUTABLE: Final = "the API server does not let this field change"
SAME: Final = "it says the same as before"
REPLACED: Final = "Argo CD deletes the JobSet and makes it anew (sync-options Force=true,Replace=true)"


class Consequence(NamedTuple):
    """What one change means."""

    effect: Effect
    why: str = ""
    """What is behind it; empty where the effect says all."""


class Judgement(NamedTuple):
    """What all changes of an object mean."""

    consequences: tuple[Consequence, ...]
    """One for each change, in their order."""
    refused: tuple[Violation, ...] = ()
    """What the API server would refuse; empty where it would store the new object."""
    known: bool = True
    """Whether trainc knows what the server would say."""


def judge(kind: str, old: Tree, new: Tree, changes: Sequence[Change]) -> Judgement:
    """What the changes of an object of that kind mean."""
    if kind == "JobSet":
        return _jobset(old, new, changes)
    if kind in {"ConfigMap", "Secret"}:
        return _data(old, changes)
    if kind == "PodGroup":
        return Judgement(tuple(Consequence("in-place", "its scheduler reads it anew") for _ in changes))
    return Judgement(tuple(Consequence("unknown") for _ in changes), known=False)


def worst(consequences: Sequence[Consequence]) -> Effect:
    """The effect that matters most."""
    return max((consequence.effect for consequence in consequences), key=RANK.__getitem__, default="in-place")


def _data(old: Tree, changes: Sequence[Change]) -> Judgement:
    """A ConfigMap, whose pods have its data since they started."""
    fixed = old.get("immutable") is True
    found, refused = [], []
    for change in changes:
        if change.path[:1] not in {("data",), ("binaryData",), ("stringData",), ("immutable",)}:
            found.append(Consequence("in-place"))
        elif fixed:
            found.append(Consequence("new-object", "it says immutable: true"))
            refused.append(Violation(change.path, change.field, update.RULE, "it says immutable: true"))
        else:
            found.append(Consequence("in-place", "pods read it when they start"))
    return Judgement(tuple(found), tuple(refused))


def _jobset(old: Tree, new: Tree, changes: Sequence[Change]) -> Judgement:
    if not _whole(old):
        return Judgement(tuple(Consequence("unknown", "the old JobSet is not valid") for _ in changes), known=False)
    if not isinstance(new.get("metadata"), dict):
        fault = Violation.at(("metadata",), REQUIRED, "a JobSet without metadata")
        return Judgement(tuple(Consequence("refused") for _ in changes), (fault,))
    stored = _stored(old)
    refused = tuple(unsaid(violation, old, new) for violation in update.refused(stored, new))
    wrong = [violation for violation in refused if violation.rule != update.RULE]
    rules = _Rules(stored, _stored(new)) if _whole(new) else None
    found = []
    for change in changes:
        hit = [violation.message for violation in wrong if touches(violation.path, change.path)]
        if hit or rules is None:
            found.append(Consequence("refused", hit[0] if hit else "the new JobSet is not valid"))
        else:
            found.append(rules.consequence(change))
    return Judgement(tuple(found), refused)


def _whole(tree: Tree) -> bool:
    """Whether a JobSet has the form that its schema asks for, and a spec, without which it is of no use."""
    parts = (tree.get("metadata"), tree.get("spec"))
    return all(isinstance(part, dict) for part in parts) and not load("JobSet", RELEASE).admit(tree).violations


def _stored(tree: Tree) -> Tree:
    """A JobSet as the API server stores it: with the defaults of its schema, without what that does not know."""
    stored: Tree = load("JobSet", RELEASE).admit(tree).value
    return stored


def touches(one: Path, other: Path) -> bool:
    """Whether one of two paths is in the other, or the same."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


class _Rules:
    """What may change in one JobSet; both as they are stored."""

    def __init__(self, old: Tree, new: Tree) -> None:
        self.old = old
        self.new = new
        self.suspended = bool(old["spec"].get("suspend") or new["spec"].get("suspend"))
        self.replaced = {*REPLACE} <= _sync_options(new)
        specs = old["spec"], new["spec"]
        self.as_values = [_compared(spec.get(update.JOBS)) for spec in specs]
        self.without_queueing = [_compared(update.without_queueing(spec)) for spec in specs]

    def consequence(self, change: Change) -> Consequence:
        """What one change means."""
        top, *rest = change.path
        if top == "metadata" and rest and rest[0] in update.NAMES:
            return Consequence("new-object", "a name is for good")
        if top != "spec" or not rest:
            return Consequence("in-place")
        if rest[0] == update.JOBS:
            return self._job(change)
        if _same(change, self.old, self.new):
            return Consequence("in-place", SAME)
        if rest[0] == "suspend":
            return Consequence("stops" if self.new["spec"].get("suspend") else "starts")
        in_both = rest[0] in self.old["spec"] and rest[0] in self.new["spec"]
        if rest[0] == "managedBy" or (rest[0] in update.POLICIES and in_both):
            return self._fixed()
        return Consequence("in-place")

    def _job(self, change: Change) -> Consequence:
        """What a change of a replicated job means: the webhook compares the jobs as Go values."""
        if _same(change, *self.as_values):
            return Consequence("in-place", SAME)
        if not _same(change, *self.without_queueing):
            return self._fixed()
        if self.suspended:
            return Consequence("in-place", "the JobSet is suspended")
        return Consequence("restarts", REPLACED) if self.replaced else Consequence("while-suspended")

    def _fixed(self) -> Consequence:
        return Consequence("restarts", REPLACED) if self.replaced else Consequence("new-object", IMMUTABLE)


def _compared(jobs: Any) -> Tree:
    """Replicated jobs as the webhook compares them."""
    try:
        return {"spec": compared({update.JOBS: jobs})}
    except WrongTypeError:
        return {}


def _same(change: Change, old: Tree, new: Tree) -> bool:
    """Whether two forms of the objects are the same where they have changed; an item of a list is none or all of it."""
    before, after = at(old, change.old_path), at(new, change.new_path)
    if change.kind == "added":
        return after is GONE or (after == before and not isinstance(change.new_path[-1], int))
    if change.kind == "removed":
        return before is GONE or (after == before and not isinstance(change.old_path[-1], int))
    return bool(before == after)


def _sync_options(tree: Tree) -> set[str]:
    """What a JobSet asks of Argo CD."""
    asked = get(tree, ("metadata", "annotations", SYNC_OPTIONS), "")
    return {option.strip() for option in str(asked).split(",")}
