"""Consequences: the effect of a change of an object in a cluster that holds the old object.

Reads    an object before and after, and its changes.
Returns  an effect and a reason for each change, and the changes that the API server would reject. For a JobSet both
         follow `checks.jobset.update`, the server's rules. A ConfigMap or Secret may be immutable. For a PodGroup, the
         scheduler accepts all changes. For other kinds the effect is unknown.
Source   JobSet v0.12.0, Kubernetes 1.36; `Force=true,Replace=true` of Argo CD 3.2.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from trainc.base.kinds import JOBSET, POD_TEMPLATE
from trainc.kubernetes.gotypes import WrongTypeError
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import REQUIRED, Violation, listed
from trainc.masking.masked_messages import masked_violation
from trainc.pipeline.checks import kueue_webhook
from trainc.pipeline.checks.jobset import update
from trainc.pipeline.checks.kueue_webhook.kueue_changes import NOT_EXISTING, NOT_RUNNING, kueue_changes
from trainc.pipeline.passes.deliver import REPLACE, SYNC_OPTIONS
from trainc.provenance.tracing.correspondence import GONE, value_at
from trainc.review.changes import touches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.base.releases import TrainerRelease
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.checks.kueue_webhook.kueue_changes import KueueChange
    from trainc.review.changes import Change

Effect = Literal[
    "differs",
    "in-place",
    "new-jobs",
    "starts",
    "stops",
    "ahead",
    "withheld",
    "while-suspended",
    "new-name",
    "restarts",
    "new-object",
    "refused",
    "unknown",
]

SHORT: Final[dict[Effect, str]] = {
    "differs": "differs",
    "unknown": "effect unknown",
    "in-place": "applied in place",
    "new-jobs": "new jobs only",
    "starts": "starts",
    "stops": "stops",
    "ahead": "ahead of the JobSet",
    "withheld": "not applied",
    "while-suspended": "only while suspended",
    "new-name": "new name",
    "restarts": "recreated by Argo CD",
    "new-object": "recreate",
    "refused": "rejected",
}
"""The label of each effect, from the least to the most severe."""
RANK: Final = {effect: rank for rank, effect in enumerate(SHORT)}
_SENTENCES: Final[dict[Effect, str]] = {
    "differs": "differs between the environments",
    "unknown": "the cluster's rules for this kind are not known",
    "in-place": "applied in place",
    "new-jobs": "applies to new jobs",
    "starts": "starts the job",
    "stops": "stops the job: its pods are deleted",
    "ahead": "applied, although the JobSet is not: running pods may read the new value",
    "withheld": "not applied: the cluster rejects the {kind} because of another change",
    "while-suspended": "the cluster accepts this change only while the JobSet is suspended",
    "new-name": "created under the new name; pruning deletes the old {kind}",
    "restarts": "Argo CD deletes and recreates the JobSet: a running one loses its training",
    "new-object": "the cluster rejects this change: delete the {kind} first, or give it another name",
    "refused": "the cluster rejects the new {kind}",
}
_RECREATED: Final = (
    "the cluster rejects this change: delete the JobSet first (a running one loses its training), "
    "or use --name-suffix-hash"
)
_NEW_JOBSET: Final = "starts a new JobSet{name}; pruning stops the old one"
_OF_APPLIED: Final[dict[Effect, str]] = {
    "while-suspended": "the cluster accepts this change only while the {applied} is suspended",
    "withheld": "an existing job does not get this change, because of another one",
    "new-object": "an existing job does not get this change: delete the {applied} first (a running one loses its "
    "training)",
}
"""The sentences for an object that trainc does not render."""

IMMUTABLE_DATA: Final = "the object sets immutable: true"
SAME: Final = "the new value is equivalent"
SUSPENDED: Final = "the JobSet is suspended"
AT_ONCE: Final = "the API server rejects the change of a running JobSet as a whole"
AGAIN: Final = "the upgraded controller applies it again"
RUNNING: Final = "running jobs keep the old value"
STUCK: Final = "running jobs keep the old value, and suspended ones do not resume: JobSet rejects the change"


class Consequence(NamedTuple):
    """The effect of one change."""

    effect: Effect
    why: str = ""
    """The reason; empty if the effect is self-explanatory."""
    applied: str = ""
    """The kind of the document that the user applies, if trainc does not render the object, such as TrainJob. Its
    controller makes the object, and makes a deleted one again."""

    def sentence(self, kind: str, new_name: str = "") -> str:
        """Return what the cluster does with the change of an object of a kind, which gets a new name or none."""
        if self.applied and self.effect in _OF_APPLIED:
            said = _OF_APPLIED[self.effect]
        elif kind == JOBSET.kind and self.effect == "new-object":
            said = _RECREATED
        elif kind == JOBSET.kind and self.effect == "new-name":
            said = _NEW_JOBSET.replace("{name}", f" {new_name}" if new_name else "")
        else:
            said = _SENTENCES[self.effect]
        mark = "; " if ":" in said else ": "
        return said.format(kind=kind, applied=self.applied) + (f"{mark}{self.why}" if self.why else "")


class Judgement(NamedTuple):
    """The effects of all changes of an object."""

    consequences: tuple[Consequence, ...]
    """One for each change, in the same order."""
    refused: tuple[Violation, ...] = ()
    """The API server's errors, which may quote secrets; empty if it would store the new object."""
    known: bool = True
    """Whether trainc knows the server's rules for the object."""


def judge(
    kind: str, old: Tree, new: Tree, changes: Sequence[Change], release: TrainerRelease, *, compiled: bool = False
) -> Judgement:
    """Return the effects of the changes of an object of a kind in a cluster with a release of Trainer.

    `compiled` objects are valid and have the form in which the API server stores them.
    """
    if kind == JOBSET.kind and compiled:
        return _compiled(old, new, changes, release)
    if kind == JOBSET.kind:
        return _jobset(old, new, changes, release)
    if kind in {"ConfigMap", "Secret"}:
        return _data(old, changes)
    if kind == "PodGroup":
        return Judgement(tuple(Consequence("in-place", "the scheduler reads it again") for _ in changes))
    return Judgement(tuple(Consequence("unknown") for _ in changes), known=False)


def as_a_whole(judgement: Judgement) -> Judgement:
    """Return the effects of the changes of an object that the API server accepts or rejects as a whole.

    One change that it rejects holds back all others.
    """
    effects = {each.effect for each in judgement.consequences}
    kept: tuple[Effect, ...]
    if effects & {"refused", "new-object"}:
        other, kept = Consequence("withheld"), ("refused", "new-object")
    elif "while-suspended" in effects:
        other, kept = Consequence("while-suspended", AT_ONCE), ("while-suspended",)
    else:
        return judgement
    return judgement._replace(
        consequences=tuple(each if each.effect in kept else other for each in judgement.consequences)
    )


def under_new_name(count: int) -> Judgement:
    """Return the effects of the changes of an object that gets a new name: a new object is created."""
    return Judgement((Consequence("new-name"),) * count)


def between_environments(count: int) -> Judgement:
    """Return the effects of the differences of two environments: nothing changes in a cluster."""
    return Judgement((Consequence("differs"),) * count, known=False)


def after_upgrade(kind: str, judgement: Judgement) -> Judgement:
    """Return the effects of changes that an upgrade of Trainer causes, whose controller makes the objects.

    It leaves the JobSet of a running TrainJob alone, and builds that of a suspended one again.
    """
    found = []
    for each in judgement.consequences:
        if kind != JOBSET.kind:
            found.append(Consequence("in-place", AGAIN))
        elif each.effect in ("new-object", "refused", "restarts"):
            found.append(Consequence("new-jobs", STUCK))
        else:
            found.append(Consequence("new-jobs", RUNNING))
    return Judgement(tuple(found))


def without_rendering(judgement: Judgement, applied: str) -> Judgement:
    """Return the effects of the changes of an object in a cluster that gets its source of the kind `applied`.

    The API server rejects most changes of a TrainJob, and a TrainJob keeps a copy of its runtime. The controller leaves
    the JobSet of a running one alone, and a controller of another kind its pods. A JobSet is its own source.
    """
    found = []
    for each in judgement.consequences:
        is_other = each.effect not in ("in-place", "while-suspended") or each.why in (SAME, NOT_RUNNING)
        kept = applied == JOBSET.kind or is_other
        found.append((each if kept else Consequence("new-jobs", RUNNING))._replace(applied=applied))
    return judgement._replace(consequences=tuple(found))


def most_severe(consequences: Sequence[Consequence]) -> Effect:
    """Return the most severe effect."""
    return max((consequence.effect for consequence in consequences), key=RANK.__getitem__, default="in-place")


def _data(old: Tree, changes: Sequence[Change]) -> Judgement:
    """Return the effects of the changes of a ConfigMap or Secret; running pods keep the old data."""
    immutable = old.get("immutable") is True
    found, refused = [], []
    for change in changes:
        if change.path[:1] not in {("data",), ("binaryData",), ("stringData",), ("immutable",)}:
            found.append(Consequence("in-place"))
        elif immutable:
            found.append(Consequence("new-object", IMMUTABLE_DATA))
            refused.append(Violation(change.path, change.field, update.RULE, IMMUTABLE_DATA))
        else:
            found.append(Consequence("in-place", "pods read it when they start"))
    return Judgement(tuple(found), tuple(refused))


def _jobset(old: Tree, new: Tree, changes: Sequence[Change], release: TrainerRelease) -> Judgement:
    stored = _stored(old, release)
    if stored is None:
        return Judgement(tuple(Consequence("unknown", "the old JobSet is invalid") for _ in changes), known=False)
    if not isinstance(new.get("metadata"), dict):
        violation = Violation.at(("metadata",), REQUIRED, "metadata is required")
        return Judgement(tuple(Consequence("refused") for _ in changes), (violation,))
    updated = _stored(new, release)
    refused = tuple(update.refused(stored, new, release))
    if updated is not None and all(violation.rule == update.RULE for violation in refused):
        refused += tuple(kueue_webhook.violations(updated))
    invalid = [masked_violation(violation, old, new) for violation in refused if violation.rule != update.RULE]
    rules = None if updated is None else _Rules(stored, updated, release)
    refused += () if rules is None else rules.refused_by_kueue
    found = []
    for change in changes:
        messages = [violation.message for violation in invalid if touches(violation.path, change.path)]
        if messages or rules is None:
            found.append(Consequence("refused", messages[0] if messages else "the new JobSet is invalid"))
        else:
            found.append(rules.consequence(change))
    return Judgement(tuple(found), refused)


def _compiled(old: Tree, new: Tree, changes: Sequence[Change], release: TrainerRelease) -> Judgement:
    rules = _Rules(old, new, release)
    refused = (*update.immutable_changes(old, new), *rules.refused_by_kueue)
    return Judgement(tuple(map(rules.consequence, changes)), refused)


def _stored(tree: Tree, release: TrainerRelease) -> Tree | None:
    """Return a JobSet as the API server stores it: schema defaults set, unknown fields pruned.

    Return None if it has no metadata or does not conform to its schema, which does not require a spec.
    """
    if not all(isinstance(part, dict) for part in (tree.get("metadata"), tree.get("spec", {}))):
        return None
    admitted = load("JobSet", release.jobset).admit(tree)
    stored: Tree = {"spec": {}} | admitted.value
    return None if admitted.violations else stored


class _Rules:
    """The update rules of one JobSet; both versions are as stored."""

    def __init__(self, old: Tree, new: Tree, release: TrainerRelease) -> None:
        self.release = release
        self.old = old
        self.new = new
        self.suspended = bool(old["spec"].get("suspend") or new["spec"].get("suspend"))
        self.replaced = {*REPLACE} <= _sync_options(new)
        specs = old["spec"], new["spec"]
        self.as_values = [_compared(spec.get(update.JOBS)) for spec in specs]

    @cached_property
    def without_queueing(self) -> list[Tree]:
        """The replicated jobs without the fields that can change while the JobSet is suspended, as Go values."""
        return [_compared(update.without_queueing(tree["spec"])) for tree in (self.old, self.new)]

    @cached_property
    def new_hosts(self) -> str:
        """The end of a reason: all pods get other host names, because no replicated job keeps its name."""
        before, after = (
            [str(job.get("name")) for job in tree["spec"].get(update.JOBS) or ()] for tree in (self.old, self.new)
        )
        if not before or not after or not {*before}.isdisjoint(after):
            return ""
        verb = "becomes" if len(before) == 1 else "become"
        return f"all host names change, because {listed(before)} {verb} {listed(after)}"

    def consequence(self, change: Change) -> Consequence:
        """Return the effect of one change."""
        top, *rest = change.path
        if top == "metadata" and rest and rest[0] in update.NAMES:
            return Consequence("new-object")
        if top == "metadata" and (found := self._effect_by_kueue(change)):
            return found
        if top != "spec":
            return Consequence("in-place")
        if not rest:  # the whole spec is added or removed
            return (
                self._immutable_change()
                if update.refused(self.old, self.new, self.release)
                else Consequence("in-place")
            )
        if rest[0] == update.JOBS:
            return self._job(change)
        if _is_same_at(change, self.old, self.new):
            return Consequence("in-place", SAME)
        if rest[0] == "suspend":
            before, after = (bool(tree["spec"].get("suspend")) for tree in (self.old, self.new))
            # A JobSet without the field runs, as with false.
            return Consequence("in-place") if before == after else Consequence("stops" if after else "starts")
        in_both = rest[0] in self.old["spec"] and rest[0] in self.new["spec"]
        if rest[0] == "managedBy" or (rest[0] in update.POLICIES and in_both):
            return self._immutable_change()
        return Consequence("in-place")

    def _job(self, change: Change) -> Consequence:
        """Return the effect of a change of a replicated job; the webhook compares the jobs as Go values."""
        if _is_same_at(change, *self.as_values):
            return Consequence("in-place", SAME)
        path = change.path[1:]
        around = path[2:] == POD_TEMPLATE[: len(path[2:])]  # the pod template, or a part of the job that contains it
        if not (around or update.while_suspended(path)) or not _is_same_at(change, *self.without_queueing):
            immutable = self._immutable_change()
            is_name = path[2:] in ((), ("name",))
            return immutable._replace(why=self.new_hosts) if is_name else immutable
        return self._while_suspended()

    @cached_property
    def by_kueue(self) -> list[KueueChange]:
        """The changes of Kueue's labels and annotations that have a rule."""
        return kueue_changes(self.old, self.new)

    @property
    def refused_by_kueue(self) -> tuple[Violation, ...]:
        """The changes of labels and annotations that Kueue's webhook rejects."""
        return tuple(each.violation() for each in self.by_kueue if not each.accepted)

    def _effect_by_kueue(self, change: Change) -> Consequence | None:
        """Return the effect of a change of the metadata that contains a key of Kueue with a rule."""
        contained = [each for each in self.by_kueue if touches(each.path, change.path)]
        if not contained:
            return None
        if all(each.accepted for each in contained):
            return Consequence("in-place", SUSPENDED if self.suspended else "")
        if all(each.accepted or each.while_suspended for each in contained):
            return Consequence("restarts") if self.replaced else Consequence("while-suspended", NOT_RUNNING)
        return self._immutable_change()._replace(why="" if self.replaced else NOT_EXISTING)

    def _while_suspended(self) -> Consequence:
        if self.suspended:
            return Consequence("in-place", SUSPENDED)
        return Consequence("restarts") if self.replaced else Consequence("while-suspended")

    def _immutable_change(self) -> Consequence:
        return Consequence("restarts") if self.replaced else Consequence("new-object")


def _compared(jobs: Any) -> Tree:
    """Return replicated jobs as the webhook compares them."""
    try:
        return {"spec": update.as_values(jobs)}
    except WrongTypeError:
        return {}


def _is_same_at(change: Change, old: Tree, new: Tree) -> bool:
    """Whether two other forms of the objects are the same at a change.

    An added or removed list item is the same only if both forms lack it: a neighbor may have its index.
    """
    before, after = value_at(old, change.old_path), value_at(new, change.new_path)
    if change.kind == "added":
        return after is GONE or (after == before and not isinstance(change.new_path[-1], int))
    if change.kind == "removed":
        return before is GONE or (after == before and not isinstance(change.old_path[-1], int))
    return bool(before == after)


def _sync_options(tree: Tree) -> set[str]:
    """Return the Argo CD sync options of a JobSet."""
    text = get(tree, ("metadata", "annotations", SYNC_OPTIONS), "")
    return {option.strip() for option in str(text).split(",")}
