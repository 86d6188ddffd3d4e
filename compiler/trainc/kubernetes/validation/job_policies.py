"""The policies that end a Job early on failure or success, and the Job's pod replacement policy and controller."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import one_of, qualified_name
from trainc.kubernetes.violations import INVALID_NAME, REQUIRED, TOO_LONG, TOO_MANY_ITEMS, listed, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree
    from trainc.kubernetes.validation.combinators import PodViolations

INDEXED_ONLY: Final = Declaration("indexed-only", ("job",))
POD_FAILURE_POLICY: Final = Declaration("pod-failure-policy", ("job",), fix="safe")
SUCCESS_POLICY: Final = Declaration("success-policy", ("job",))

ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
OPERATORS: Final = ("In", "NotIn")
MAX_RULES: Final = 20
MAX_CONDITIONS: Final = 20
MAX_CODES: Final = 255
MAX_INDEX_CHARACTERS: Final = 64 * 1024
MAX_MANAGED_BY: Final = 63
_NUMBER: Final = re.compile(r"\+?[0-9]+")

_status: Final = one_of("True", "False", "Unknown")


def managed_by(violations: PodViolations, at: At, value: str) -> None:
    """Check the controller that manages the Job: a domain and a path."""
    if not value:
        violations.report_missing(at, "set a controller, as in acme.io/jobs, or remove the field")
        return
    if names.domain_prefixed_path_errors(value):
        violations.report(
            INVALID_NAME,
            at,
            f"managedBy must be a domain, a slash and a path, not {shown(value)}",
            "use the controller's documented name, for example kueue.x-k8s.io/multikueue",
        )
    if len(value.encode()) > MAX_MANAGED_BY:
        violations.report(
            TOO_LONG,
            at,
            f"managedBy has {len(value)} characters; the limit is {MAX_MANAGED_BY}",
            f"shorten it by {len(value.encode()) - MAX_MANAGED_BY} characters",
        )


def pod_replacement_policy(violations: PodViolations, at: At, value: str) -> None:
    """Check when a pod is replaced: once it is terminating, or once it has failed."""
    allowed = ("Failed", "TerminatingOrFailed")
    assert at is not None
    if value not in allowed:
        violations.not_allowed(at, value, allowed)
    elif "podFailurePolicy" in violations.job and value != "Failed":
        violations.report(
            POD_FAILURE_POLICY,
            at,
            f"podReplacementPolicy must be Failed in a Job with a podFailurePolicy, not {value}",
            "set it to Failed, or remove it",
            related=(("podFailurePolicy", (at[0], "podFailurePolicy")),),
        )


def pod_failure_policy(violations: PodViolations, at: At, policy: Tree) -> None:
    """Check how the Job handles failed pods."""
    assert at is not None
    rules = policy.get("rules") or ()
    if len(rules) > MAX_RULES:
        too_many(violations, (at, "rules"), len(rules), MAX_RULES)
    containers = {
        container.get("name")
        for kind in ("containers", "initContainers")
        for container in violations.pod.get(kind) or ()
    }
    for index, rule in enumerate(rules):
        failure_rule(violations, ((at, "rules"), index), rule, sorted(filter(None, containers)))
    restart = violations.pod.get("restartPolicy")
    if restart == "OnFailure":
        place = (((at[0], "template"), "spec"), "restartPolicy")
        violations.report(
            POD_FAILURE_POLICY,
            place,
            "a podFailurePolicy requires restartPolicy Never, but the pod's restartPolicy is OnFailure",
            "set `restartPolicy: Never` on the pod; JobSet defaults it to OnFailure",
            related=(("podFailurePolicy", at),),
        )


def failure_rule(violations: PodViolations, at: At, rule: Tree, containers: list[str]) -> None:
    """Check one rule: an action, and either exit codes or conditions."""
    action = rule.get("action")
    if not action:
        violations.report_missing((at, "action"), f"add an action: {listed(list(ACTIONS), 'or')}")
    elif action not in ACTIONS:
        violations.not_allowed((at, "action"), action, ACTIONS)
    elif action == "FailIndex" and "backoffLimitPerIndex" not in violations.job:
        violations.report(
            POD_FAILURE_POLICY,
            (at, "action"),
            "FailIndex requires backoffLimitPerIndex, without which the Job does not count failures per index",
            "add backoffLimitPerIndex to the Job, or use FailJob",
        )
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
    if (codes is None) == (not conditions):
        what = "neither onExitCodes nor onPodConditions" if codes is None else "both onExitCodes and onPodConditions"
        violations.report(
            POD_FAILURE_POLICY,
            at,
            f"the rule sets {what}, but must set exactly one",
            "add one of them" if codes is None else "split it into two rules",
        )
    if codes is not None:
        exit_codes(violations, (at, "onExitCodes"), codes, containers)
    if len(conditions) > MAX_CONDITIONS:
        too_many(violations, (at, "onPodConditions"), len(conditions), MAX_CONDITIONS)
    for index, condition in enumerate(conditions):
        place = ((at, "onPodConditions"), index)
        qualified_name(violations, (place, "type"), condition.get("type", ""))
        if condition.get("status"):  # the API server defaults "" to True
            _status(violations, (place, "status"), condition["status"])


def exit_codes(violations: PodViolations, at: At, codes: Tree, containers: list[str]) -> None:
    """Check a rule's exit codes and the container that they belong to."""
    operator, values = codes.get("operator"), codes.get("values") or []
    if not operator:
        violations.report_missing((at, "operator"), "add `operator: In` or `operator: NotIn`")
    elif operator not in OPERATORS:
        violations.not_allowed((at, "operator"), operator, OPERATORS)
    name = codes.get("containerName")
    if name is not None and name not in containers:
        from trainc.base.fixes import replaced_name
        from trainc.base.suggestions import use

        help = f"{use(containers, ' and ')}, or remove containerName" if containers else "remove containerName"
        violations.report(
            POD_FAILURE_POLICY,
            (at, "containerName"),
            f'the rule refers to container "{name}", which the pod does not have',
            replaced_name(path_of((at, "containerName")), name, containers) or help,
        )
    place = (at, "values")
    if not values:
        violations.report(POD_FAILURE_POLICY, place, "the rule has no exit codes", "list the exit codes to match")
    elif len(values) > MAX_CODES:
        too_many(violations, place, len(values), MAX_CODES)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            violations.report(
                POD_FAILURE_POLICY, (place, index), "exit code 0 is not a failure", "remove it from values"
            )
        if value in values[:index]:
            violations.duplicate((place, index), value, (place, values.index(value)), "exit code")
    if any(one > other for one, other in pairwise(values)):
        violations.report(
            POD_FAILURE_POLICY,
            place,
            f"exit codes {shown(values)} are not in ascending order",
            f"use {shown(sorted(set(values)))}",
        )


def success_policy(violations: PodViolations, at: At, policy: Tree) -> None:
    """Check when a Job succeeds before all its pods have succeeded."""
    assert at is not None
    if violations.job.get("completionMode") != "Indexed":
        only_indexed(violations, at)
        return
    rules = policy.get("rules") or ()
    if not rules:
        violations.report_missing((at, "rules"), "add a rule, or remove the policy")
    elif len(rules) > MAX_RULES:
        too_many(violations, (at, "rules"), len(rules), MAX_RULES)
    completions = violations.job.get("completions", 1)
    for index, rule in enumerate(rules):
        success_rule(violations, ((at, "rules"), index), rule, completions)


def success_rule(violations: PodViolations, at: At, rule: Tree, completions: int) -> None:
    """Check one rule: indexes, their count, or both."""
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        violations.report(
            REQUIRED,
            at,
            "the rule sets neither succeededCount nor succeededIndexes, but must set at least one",
            "add succeededIndexes, succeededCount, or both",
        )
    listed_indexes, fault = (None, "") if indexes is None else count_of(indexes, completions)
    if fault:
        violations.report(
            SUCCESS_POLICY,
            (at, "succeededIndexes"),
            f"succeededIndexes {shown(indexes)} is invalid: {fault}",
            f"list indexes from 0 to {completions - 1} in ascending order without spaces, such as 0,2-4",
        )
    if count is None:
        return
    place = (at, "succeededCount")
    if count < 0:
        violations.out_of_range(place, count, 0, completions)
    elif count > completions:
        violations.report(
            SUCCESS_POLICY,
            place,
            f"succeededCount {count} exceeds the Job's {completions} completions",
            f"use {completions} or less",
        )
    elif listed_indexes is not None and count > listed_indexes:
        follows = "; an invalid list counts as empty" if fault else ""
        violations.report(
            SUCCESS_POLICY,
            place,
            f"succeededCount {count} exceeds the {listed_indexes} indexes in succeededIndexes{follows}",
            "fix the list" if fault else "lower the count, or list more indexes",
            related=(("succeededIndexes", (at, "succeededIndexes")),),
        )


def only_indexed(violations: PodViolations, at: At) -> None:
    """Report a field that a NonIndexed Job cannot have."""
    assert at is not None
    violations.report(
        INDEXED_ONLY,
        at,
        f"{at[1]} requires an Indexed Job, but this Job is NonIndexed",
        f"remove {at[1]}, or set completionMode to Indexed",
        related=(("completionMode", (at[0], "completionMode")),),
    )


def count_of(indexes: str, completions: int) -> tuple[int, str]:
    """Return the number of indexes in a list such as `0,2-4`, and what is wrong with the list."""
    if len(indexes.encode()) > MAX_INDEX_CHARACTERS:
        return 0, f"it has more than {MAX_INDEX_CHARACTERS} characters"
    count, last = 0, -1
    for part in indexes.split(",") if indexes else ():
        ends = part.split("-")
        if len(ends) > 2 or not all(_NUMBER.fullmatch(end) for end in ends):
            return 0, f"{shown(part)} is neither an index nor a range of indexes"
        numbers = [int(end) for end in ends]
        if numbers[-1] >= completions or numbers[0] >= completions:
            return 0, f"{max(numbers)} exceeds the last index, {completions - 1}"
        for number in numbers:
            if number <= last:
                return 0, f"{number} comes after {last}"
            last = number
        count += numbers[-1] - numbers[0] + 1
    return count, ""


def too_many(violations: PodViolations, at: At, count: int, maximum: int) -> None:
    """Report a list with too many items."""
    assert at is not None
    violations.report(
        TOO_MANY_ITEMS, at, f"{at[1]} has {count} items; the limit is {maximum}", f"remove {count - maximum} of them"
    )
