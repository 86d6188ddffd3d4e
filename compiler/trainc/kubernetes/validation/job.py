"""The API server's rules for the Job itself: its pod counts, failure limits and labels.

The Job's policies (`job_policies`) and its own selector (`pod_selectors`) are checked if they are set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.validation import metadata, pod
from trainc.kubernetes.validation.combinators import FieldRule, PodViolations, at_least, fields, imported_later, one_of
from trainc.kubernetes.violations import REQUIRED

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

BACKOFF_LIMIT_PER_INDEX: Final = Declaration("backoff-limit-per-index", ("job",))

MAX_PARALLELISM: Final = 100_000
"""The limit for an indexed Job."""
MANY_COMPLETIONS: Final = 100_000
"""With more completions and backoffLimitPerIndex, stricter limits apply."""
MAX_WITH_MANY: Final = 10_000
MAX_FAILED_INDEXES: Final = 100_000

SPEC: Final[dict[str, FieldRule]] = {
    "activeDeadlineSeconds": at_least(0),
    "backoffLimit": at_least(0),
    "backoffLimitPerIndex": at_least(0),
    "completionMode": one_of("Indexed", "NonIndexed"),
    "completions": at_least(0),
    "managedBy": imported_later("job_policies", "managed_by"),
    "maxFailedIndexes": at_least(0),
    "parallelism": at_least(0),
    "podFailurePolicy": imported_later("job_policies", "pod_failure_policy"),
    "podReplacementPolicy": imported_later("job_policies", "pod_replacement_policy"),
    "successPolicy": imported_later("job_policies", "success_policy"),
    "ttlSecondsAfterFinished": at_least(0),
}
"""The fields that can be checked independently."""
_spec: Final = fields(SPEC)


def job(violations: PodViolations, at: At, job: Tree) -> None:
    """Check a whole Job."""
    spec, place = job["spec"], (at, "spec")
    violations.job = spec
    own_metadata = job.get("metadata") or {}
    if "labels" in own_metadata or "annotations" in own_metadata:
        for key, rule in (("labels", metadata.labels), ("annotations", metadata.annotation_keys)):
            rule(violations, ((at, "metadata"), key), own_metadata.get(key) or {}, field=f"metadata.{key}")
    _spec(violations, place, spec)
    if spec.get("completionMode") == "Indexed":
        indexed(violations, place, spec)
    elif "backoffLimitPerIndex" in spec or "maxFailedIndexes" in spec:
        from trainc.kubernetes.validation import job_policies

        for key in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if key in spec:
                job_policies.only_indexed(violations, (place, key))
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        violations.report(
            BACKOFF_LIMIT_PER_INDEX,
            (place, "backoffLimitPerIndex"),
            "maxFailedIndexes requires backoffLimitPerIndex, which defines when an index has failed",
            "add backoffLimitPerIndex, or remove maxFailedIndexes",
            related=(("maxFailedIndexes", (place, "maxFailedIndexes")),),
        )
    labels = violations.metadata.get("labels") or {}
    if spec.get("manualSelector") or "selector" in spec or any(key in labels for key in metadata.GENERATED):
        from trainc.kubernetes.validation.pod_selectors import selector

        selector(violations, place, job)
    pod.template(violations, (place, "template"), spec["template"])


def indexed(violations: PodViolations, place: At, spec: Tree) -> None:
    """Check a Job whose pods have an index. JobSet ensures that their host names are short enough."""
    parallelism, completions = spec.get("parallelism"), spec.get("completions")
    if completions is None:
        if parallelism is not None:  # else both are 1
            violations.report(
                REQUIRED,
                (place, "completions"),
                f"the Job sets parallelism {parallelism} but no completions, which an indexed Job requires",
                f"add `completions: {parallelism}`, or remove parallelism to run one pod",
            )
        completions = 1 if parallelism is None else None
    if parallelism is not None and parallelism > MAX_PARALLELISM:
        violations.out_of_range((place, "parallelism"), parallelism, 0, MAX_PARALLELISM)
    if "maxFailedIndexes" in spec or "backoffLimitPerIndex" in spec:
        failed_indexes(violations, place, spec, completions)


def failed_indexes(violations: PodViolations, at: At, spec: Tree, completions: int | None) -> None:
    """Check the number of indexes that may fail, and the limits of a very large Job."""
    max_failed, limit = spec.get("maxFailedIndexes"), "backoffLimitPerIndex" in spec
    place = (at, "maxFailedIndexes")
    large = completions is not None and completions > MANY_COMPLETIONS and limit
    if max_failed is not None:
        for bound, why in (
            (completions, "completions"),
            (MAX_FAILED_INDEXES, "the limit of any Job"),
            (MAX_WITH_MANY if large else None, f"the limit of a Job with more than {MANY_COMPLETIONS} completions"),
        ):
            if bound is not None and max_failed > bound:
                violations.report(
                    BACKOFF_LIMIT_PER_INDEX,
                    place,
                    f"maxFailedIndexes {max_failed} exceeds {why}, {bound}",
                    f"lower it to {bound} or less",
                )
                break
    elif large:
        violations.report(
            BACKOFF_LIMIT_PER_INDEX,
            place,
            f"a Job with {completions} completions and backoffLimitPerIndex requires maxFailedIndexes",
            f"add maxFailedIndexes, at most {MAX_WITH_MANY}",
            related=(("completions", (at, "completions")),),
        )
    if large and spec.get("parallelism", 1) > MAX_WITH_MANY:
        violations.report(
            BACKOFF_LIMIT_PER_INDEX,
            (at, "parallelism"),
            f"parallelism is {spec['parallelism']}, but a Job with more than {MANY_COMPLETIONS} completions and "
            f"backoffLimitPerIndex may run at most {MAX_WITH_MANY} pods at once",
            f"lower it to {MAX_WITH_MANY}",
            related=(("completions", (at, "completions")),),
        )
