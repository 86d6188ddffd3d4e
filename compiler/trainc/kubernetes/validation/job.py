"""The Job itself: how many pods, when it has failed, and its labels.

Its policies (`policies`) and a selector of its own (`selector`) are looked at where it has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation import metadata, pod
from trainc.kubernetes.validation.findings import Findings, Rule, at_least, fields, late, one_of
from trainc.kubernetes.violations import REQUIRED

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

BACKOFF_LIMIT_PER_INDEX: Final = Declaration(
    "backoff-limit-per-index", ("job",), "A limit of failures per index does not fit the Job"
)

MOST_PODS_AT_ONCE: Final = 100_000
"""Of an indexed Job."""
MANY: Final = 100_000
"""So many completions change what is allowed besides a limit per index."""
MOST_WITH_MANY: Final = 10_000
MOST_FAILED: Final = 100_000

SPEC: Final[dict[str, Rule]] = {
    "activeDeadlineSeconds": at_least(0),
    "backoffLimit": at_least(0),
    "backoffLimitPerIndex": at_least(0),
    "completionMode": one_of("Indexed", "NonIndexed"),
    "completions": at_least(0),
    "managedBy": late("policies", "managed_by"),
    "maxFailedIndexes": at_least(0),
    "parallelism": at_least(0),
    "podFailurePolicy": late("policies", "pod_failure_policy"),
    "podReplacementPolicy": late("policies", "pod_replacement_policy"),
    "successPolicy": late("policies", "success_policy"),
    "ttlSecondsAfterFinished": at_least(0),
}
"""The fields that can be looked at one by one."""
_spec: Final = fields(SPEC)


def job(found: Findings, at: At, job: Tree) -> None:
    """A whole Job."""
    spec, place = job["spec"], (at, "spec")
    found.job = spec
    own = job.get("metadata") or {}
    if "labels" in own or "annotations" in own:
        for key, rule in (("labels", metadata.labels), ("annotations", metadata.annotation_keys)):
            rule(found, ((at, "metadata"), key), own.get(key) or {}, field=f"metadata.{key}")
    _spec(found, place, spec)
    if spec.get("completionMode") == "Indexed":
        indexed(found, place, spec)
    elif "backoffLimitPerIndex" in spec or "maxFailedIndexes" in spec:
        from trainc.kubernetes.validation import policies

        for key in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if key in spec:
                policies.only_indexed(found, (place, key))
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        found.complain(
            BACKOFF_LIMIT_PER_INDEX,
            (place, "backoffLimitPerIndex"),
            "maxFailedIndexes says how many indexes may fail, and no backoffLimitPerIndex when one has failed",
            "add backoffLimitPerIndex, or remove maxFailedIndexes",
            related=(("the limit of failed indexes", (place, "maxFailedIndexes")),),
        )
    labels = found.metadata.get("labels") or {}
    if spec.get("manualSelector") or "selector" in spec or any(key in labels for key in metadata.GENERATED):
        from trainc.kubernetes.validation import selector

        selector.selector(found, place, job)
    pod.template(found, (place, "template"), spec["template"])


def indexed(found: Findings, place: At, spec: Tree) -> None:
    """What holds of a Job whose pods have an index. JobSet has seen to it that their host names are short enough."""
    parallelism, completions = spec.get("parallelism"), spec.get("completions")
    if completions is None:
        if parallelism is not None:  # else both are 1
            found.complain(
                REQUIRED,
                (place, "completions"),
                f"the Job has parallelism {parallelism} and no completions, which an indexed Job needs",
                f"add `completions: {parallelism}`, or remove parallelism where one pod is meant",
            )
        completions = 1 if parallelism is None else None
    if parallelism is not None and parallelism > MOST_PODS_AT_ONCE:
        from trainc.kubernetes.validation import complaints

        complaints.out_of_range(found, (place, "parallelism"), parallelism, 0, MOST_PODS_AT_ONCE)
    if "maxFailedIndexes" in spec or "backoffLimitPerIndex" in spec:
        failed_indexes(found, place, spec, completions)


def failed_indexes(found: Findings, at: At, spec: Tree, completions: int | None) -> None:
    """How many indexes may fail, and what that asks of a very large Job."""
    most, limit = spec.get("maxFailedIndexes"), "backoffLimitPerIndex" in spec
    place = (at, "maxFailedIndexes")
    large = completions is not None and completions > MANY and limit
    if most is not None:
        for bound, why in (
            (completions, "completions"),
            (MOST_FAILED, "the most of any Job"),
            (MOST_WITH_MANY if large else None, f"the most of a Job with more than {MANY} completions"),
        ):
            if bound is not None and most > bound:
                found.complain(
                    BACKOFF_LIMIT_PER_INDEX, place, f"maxFailedIndexes is {most}, above {why}, {bound}", "lower it"
                )
                break
    elif large:
        found.complain(
            BACKOFF_LIMIT_PER_INDEX,
            place,
            f"a Job of {completions} completions with a limit per index needs maxFailedIndexes",
            f"add maxFailedIndexes, at most {MOST_WITH_MANY}",
            related=(("its completions", (at, "completions")),),
        )
    if large and spec.get("parallelism", 1) > MOST_WITH_MANY:
        found.complain(
            BACKOFF_LIMIT_PER_INDEX,
            (at, "parallelism"),
            f"parallelism is {spec['parallelism']}, and a Job of more than {MANY} completions with a limit per index "
            f"may run {MOST_WITH_MANY} pods at once",
            f"lower it to {MOST_WITH_MANY}",
            related=(("its completions", (at, "completions")),),
        )
