"""Labels and annotations that are misspelled, or that no program reads where they are.

Source: `kubernetes.scheduling_keys`. Kueue v0.19: without a queue of the JobSet, it queues each pod with a queue alone.
kubeflow/trainer v2.3.0, the runtime plugin volcano: the queue of the PodGroup is the annotation of the runtime's
template or of a patch of it, never that of the TrainJob. trainc copies the TrainJob's metadata to the JobSet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.scheduling_keys import KEYS, QUEUES, VOLCANO, SchedulingKey, meant_key, pod_reader
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import lint_rule, stored
from trainc.pipeline.objects import QUEUE
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Path
    from trainc.kubernetes.scheduling_keys import Field, Holder
    from trainc.pipeline.plan import Plan

FIELDS: Final[tuple[Field, ...]] = ("labels", "annotations")
ONE: Final = {"labels": "a label", "annotations": "an annotation"}
OBJECTS: Final = {"JobSet": "the JobSet", "Job": "the Job template", "pod": "the pod template"}
TRAINER: Final = "Trainer"
"""The reader that takes a key from the runtime alone."""


class UnreadKey(NamedTuple):
    """A key that is not read where it is."""

    path: Path
    """Its path as that of a `LintFinding`."""
    key: str
    field: Field
    holder: Holder
    meant: str
    """The known key: the same one, or the one for which it is meant."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the keys that nothing reads."""
    for unread in unread_keys(plan):
        what = (unread.key, unread.field, unread.holder, unread.meant)
        of_runtime = unread.holder == "JobSet" and unread.key not in plan.job.metadata(unread.field)
        yield LintFinding("key-not-read", unread.path, what, shared=of_runtime, key=True)
    if QUEUE in get(plan.runtime.value, ("metadata", "labels"), {}) and not has_queue(plan):
        yield LintFinding("key-not-read", (), (QUEUE, "labels", "runtime", QUEUE), shared=True)


def unread_keys(plan: Plan) -> Iterator[UnreadKey]:
    """Yield the keys that nothing reads, in the JobSet, the Job templates and the pod templates."""
    for field, keys in zip(FIELDS, (plan.labels, plan.annotations), strict=True):
        yield from unread_in(keys, field, "JobSet", ("metadata", field), plan)
    holders: tuple[tuple[Holder, int], ...] = (("Job", 3), ("pod", 1))
    for job, count in enumerate(plan.counts):
        for holder, above in holders if count else ():
            metadata = (*pod_spec(job)[:-above], "metadata")
            for field in FIELDS:
                keys = get(stored(plan), (*metadata, field), {})
                yield from unread_in(keys, field, holder, (*metadata, field), plan)


def unread_in(keys: dict[str, str], field: Field, holder: Holder, path: Path, plan: Plan) -> Iterator[UnreadKey]:
    """Yield the keys of one mapping that nothing reads."""
    for key in keys:
        known = KEYS.get(key)
        if known is None:
            if holder != "pod" and pod_reader(key):
                if not is_of_pods(plan, field, key):
                    yield UnreadKey((*path, key), key, field, holder, key)
            elif meant := meant_key(key):
                yield UnreadKey((*path, key), key, field, holder, meant)
        elif not is_read(plan, key, known, field, holder):
            yield UnreadKey((*path, key), key, field, holder, key)


def is_read(plan: Plan, key: str, known: SchedulingKey, field: Field, holder: Holder) -> bool:
    """Return whether the key is read in this field of this object."""
    if known.reader == TRAINER and plan.job.is_jobset:
        return True  # or not, if Trainer is not its reader
    if field != known.field:
        return False
    if key == QUEUE and holder == "pod":
        return QUEUE in plan.labels
    if plan.job.is_legacy:
        return True  # for the objects of other operators, it may be read in another place
    if holder not in known.holders:
        return False
    if key == f"{VOLCANO}queue-name" and holder == "JobSet":
        return any(get(other, ("spec", "queue")) == plan.annotations[key] for other in plan.others)
    return True


def is_of_pods(plan: Plan, field: Field, key: str) -> bool:
    """Return whether the pods of a replicated job have a label or an annotation, too."""
    metadata = ((*pod_spec(job)[:-1], "metadata", field) for job in range(len(plan.counts)))
    return any(key in get(stored(plan), path, {}) for path in metadata)


def has_queue(plan: Plan) -> bool:
    """Return whether the JobSet has a queue, or is a legacy job, whose runtime is its own document."""
    return QUEUE in plan.labels or plan.job.is_legacy


def has_unread_queue(plan: Plan) -> bool:
    """Return whether a key that nothing reads is meant as that of a queue."""
    in_runtime = QUEUE in get(plan.runtime.value, ("metadata", "labels"), {})
    return in_runtime or any(unread.meant in QUEUES for unread in unread_keys(plan))


@lint_rule("key-not-read", fix="unsafe")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """Programs ignore keys that they do not know, and known keys in another place."""
    key, field, holder, meant = finding.what
    job = f"the {plan.job.word}"
    if reader := pod_reader(key):
        return Finding(
            message=f"{reader} does not read {key} of {job if holder == 'JobSet' else OBJECTS[holder]}, but of pods",
            help=f"set it as {ONE[field]} of the pod template",
        )
    known = KEYS[meant]
    set_in = OBJECTS | {"JobSet": job}
    of = "the runtime's template" if known.reader == TRAINER else set_in[known.holders[0]]
    where = f"{ONE[known.field]} of {of}"
    if holder == "runtime":
        place = plan.runtime.at("metadata", "labels", key, key=True)
        return Finding(message=f"Kueue does not read {key} of the runtime", help=f"set it as {where}", place=place)
    if meant != key:
        from trainc.base.fixes import rename

        is_of_template = known.reader == TRAINER and holder == "JobSet"
        is_there = field == known.field and holder in known.holders and not is_of_template
        return Finding(
            message=f"{known.reader} does not read {key}: the key is {meant}, {where}",
            help=rename(finding.path, meant, applicability="unsafe") if is_there else f"did you mean {meant}?",
        )
    if field != known.field:
        message, help = f"{known.reader} does not read {key} as {ONE[field]}", f"set it as {where}"
    elif key == QUEUE and holder == "pod":
        message, help = f"Kueue does not read {key} in the pod template as that of the job", f"set it as {where}"
    elif known.reader == TRAINER and holder == "JobSet":
        message = f"{known.reader} does not read {key} of the TrainJob, so that the PodGroup gets the queue default"
        help = f"set it as {where}, or in trainingRuntimeSpec.template.metadata of a patch"
    else:
        message, help = f"{known.reader} does not read {key} in {OBJECTS[holder]}", f"set it as {where}"
    return Finding(message=message, help=help)
