"""What ends a Job early: its policies of failure and success, and who replaces pods."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.structural.remedies import listed, shown
from trainc.kubernetes.validation import complaints
from trainc.kubernetes.validation.findings import one_of, qualified
from trainc.kubernetes.violations import INVALID_NAME, REQUIRED, TOO_LONG, TOO_MANY_ITEMS

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree
    from trainc.kubernetes.validation.findings import Findings

INDEXED_ONLY: Final = Declaration("indexed-only", ("job",), "Only a Job of indexed pods can have this")
POD_FAILURE_POLICY: Final = Declaration("pod-failure-policy", ("job",), "A policy of failing pods cannot work")
SUCCESS_POLICY: Final = Declaration("success-policy", ("job",), "A policy of success cannot be met")

ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
OPERATORS: Final = ("In", "NotIn")
MOST_RULES: Final = 20
MOST_CONDITIONS: Final = 20
MOST_CODES: Final = 255
LONGEST_INDEXES: Final = 64 * 1024
MOST_MANAGED_BY: Final = 63
_NUMBER: Final = re.compile(r"\+?[0-9]+")

_status: Final = one_of("True", "False", "Unknown")


def managed_by(found: Findings, at: At, value: str) -> None:
    """The controller that looks after the Job: a domain and a path."""
    if not value:
        complaints.missing(found, at, "name a controller, as in acme.io/jobs; or remove the field")
        return
    if names.is_domain_prefixed_path(value):
        found.complain(
            INVALID_NAME,
            at,
            f"managedBy is {shown(value)}, which is no domain, slash and path",
            "write the controller's name as it says, for example kueue.x-k8s.io/multikueue",
        )
    if len(value.encode()) > MOST_MANAGED_BY:
        found.complain(
            TOO_LONG,
            at,
            f"managedBy has {len(value)} characters, and may have {MOST_MANAGED_BY}",
            f"shorten it by {len(value.encode()) - MOST_MANAGED_BY}",
        )


def pod_replacement_policy(found: Findings, at: At, value: str) -> None:
    """When a pod is replaced: as it begins to end, or when it has failed."""
    allowed = ("Failed", "TerminatingOrFailed")
    assert at is not None
    if value not in allowed:
        complaints.not_allowed(found, at, value, allowed)
    elif "podFailurePolicy" in found.job and value != "Failed":
        found.complain(
            POD_FAILURE_POLICY,
            at,
            f"podReplacementPolicy is {value}, and a Job with a podFailurePolicy waits until a pod has failed",
            "set it to Failed, or remove it",
            related=(("the policy of failures", (at[0], "podFailurePolicy")),),
        )


def pod_failure_policy(found: Findings, at: At, policy: Tree) -> None:
    """What a failed pod means for its Job."""
    assert at is not None
    rules = policy.get("rules") or ()
    if len(rules) > MOST_RULES:
        too_many(found, (at, "rules"), len(rules), MOST_RULES)
    containers = {
        container.get("name") for kind in ("containers", "initContainers") for container in found.pod.get(kind) or ()
    }
    for index, rule in enumerate(rules):
        failure_rule(found, ((at, "rules"), index), rule, sorted(filter(None, containers)))
    restart = found.pod.get("restartPolicy")
    if restart == "OnFailure":
        place = (((at[0], "template"), "spec"), "restartPolicy")
        found.complain(
            POD_FAILURE_POLICY,
            place,
            "with a podFailurePolicy pods may not restart by themselves, and their restartPolicy is OnFailure",
            "set `restartPolicy: Never` on the pod (JobSet takes OnFailure where nothing is said)",
            related=(("the policy of failures", at),),
        )


def failure_rule(found: Findings, at: At, rule: Tree, containers: list[str]) -> None:
    """One rule: an action, and either exit codes or conditions."""
    action = rule.get("action")
    if not action:
        complaints.missing(found, (at, "action"), f"add an action: {listed(list(ACTIONS), 'or')}")
    elif action not in ACTIONS:
        complaints.not_allowed(found, (at, "action"), action, ACTIONS)
    elif action == "FailIndex" and "backoffLimitPerIndex" not in found.job:
        found.complain(
            POD_FAILURE_POLICY,
            (at, "action"),
            "FailIndex gives up one index, and without backoffLimitPerIndex the Job does not count them apart",
            "add backoffLimitPerIndex to the Job, or use FailJob",
        )
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
    if (codes is None) == (not conditions):
        what = "neither onExitCodes nor onPodConditions" if codes is None else "both onExitCodes and onPodConditions"
        found.complain(
            POD_FAILURE_POLICY,
            at,
            f"the rule has {what}, and needs one of them",
            "add one" if codes is None else "make two rules of it",
        )
    if codes is not None:
        exit_codes(found, (at, "onExitCodes"), codes, containers)
    if len(conditions) > MOST_CONDITIONS:
        too_many(found, (at, "onPodConditions"), len(conditions), MOST_CONDITIONS)
    for index, condition in enumerate(conditions):
        place = ((at, "onPodConditions"), index)
        qualified(found, (place, "type"), condition.get("type", ""))
        if condition.get("status"):  # "" becomes True
            _status(found, (place, "status"), condition["status"])


def exit_codes(found: Findings, at: At, codes: Tree, containers: list[str]) -> None:
    """Which exit codes a rule is about, and of which container."""
    operator, values = codes.get("operator"), codes.get("values") or []
    if not operator:
        complaints.missing(found, (at, "operator"), "add `operator: In` or `operator: NotIn`")
    elif operator not in OPERATORS:
        complaints.not_allowed(found, (at, "operator"), operator, OPERATORS)
    name = codes.get("containerName")
    if name is not None and name not in containers:
        from trainc.nearest import nearest

        near = nearest(name, containers)
        found.complain(
            POD_FAILURE_POLICY,
            (at, "containerName"),
            f'the rule is about container "{name}", and the pod has no such container',
            f"did you mean {near}?" if near else f"name one of {listed(containers)}, or leave containerName out",
        )
    place = (at, "values")
    if not values:
        found.complain(POD_FAILURE_POLICY, place, "the rule has no exit codes", "list the codes that it is about")
    elif len(values) > MOST_CODES:
        too_many(found, place, len(values), MOST_CODES)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            found.complain(POD_FAILURE_POLICY, (place, index), "exit code 0 is no failure", "remove it from the values")
        if value in values[:index]:
            complaints.twice(found, (place, index), value, (place, values.index(value)), "exit codes")
    if any(one > other for one, other in pairwise(values)):
        found.complain(
            POD_FAILURE_POLICY,
            place,
            f"the exit codes {shown(values)} are not in rising order",
            f"write {shown(sorted(set(values)))}",
        )


def success_policy(found: Findings, at: At, policy: Tree) -> None:
    """When a Job has succeeded before all its pods have."""
    assert at is not None
    if found.job.get("completionMode") != "Indexed":
        only_indexed(found, at)
        return
    rules = policy.get("rules") or ()
    if not rules:
        complaints.missing(found, (at, "rules"), "add a rule, or remove the policy")
    elif len(rules) > MOST_RULES:
        too_many(found, (at, "rules"), len(rules), MOST_RULES)
    completions = found.job.get("completions", 1)
    for index, rule in enumerate(rules):
        success_rule(found, ((at, "rules"), index), rule, completions)


def success_rule(found: Findings, at: At, rule: Tree, completions: int) -> None:
    """One rule: indexes, how many of them, or both."""
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        found.complain(
            REQUIRED,
            at,
            "the rule has neither succeededCount nor succeededIndexes, and needs one",
            "say which indexes must succeed, or how many",
        )
    listed_indexes, fault = (None, "") if indexes is None else count_of(indexes, completions)
    if fault:
        found.complain(
            SUCCESS_POLICY,
            (at, "succeededIndexes"),
            f"succeededIndexes is {shown(indexes)}: {fault}",
            f"list indexes from 0 to {completions - 1} in rising order, without blanks, such as 0,2-4",
        )
    if count is None:
        return
    place = (at, "succeededCount")
    if count < 0:
        complaints.out_of_range(found, place, count, 0, completions)
    elif count > completions:
        found.complain(
            SUCCESS_POLICY, place, f"{count} pods must succeed, and the Job has {completions}", "lower the count"
        )
    elif listed_indexes is not None and count > listed_indexes:
        follows = "; a list that cannot be read counts as none" if fault else ""
        found.complain(
            SUCCESS_POLICY,
            place,
            f"{count} of the listed indexes must succeed, and succeededIndexes lists {listed_indexes}{follows}",
            "correct the list" if fault else "lower the count, or list more indexes",
            related=(("the indexes", (at, "succeededIndexes")),),
        )


def only_indexed(found: Findings, at: At) -> None:
    """A field that a Job of pods without indexes cannot have."""
    assert at is not None
    found.complain(
        INDEXED_ONLY,
        at,
        f"{at[1]} counts by index, and the pods of a NonIndexed Job have none",
        f"remove {at[1]}, or set completionMode to Indexed",
        related=(("the Job's completion mode", (at[0], "completionMode")),),
    )


def count_of(indexes: str, completions: int) -> tuple[int, str]:
    """How many indexes a list such as `0,2-4` names, and what is wrong with it."""
    if len(indexes.encode()) > LONGEST_INDEXES:
        return 0, f"it has more than {LONGEST_INDEXES} characters"
    count, last = 0, -1
    for part in indexes.split(",") if indexes else ():
        ends = part.split("-")
        if len(ends) > 2 or not all(_NUMBER.fullmatch(end) for end in ends):
            return 0, f"{shown(part)} is no index, and no first and last one"
        numbers = [int(end) for end in ends]
        if numbers[-1] >= completions or numbers[0] >= completions:
            return 0, f"{max(numbers)} is beyond the last index, {completions - 1}"
        for number in numbers:
            if number <= last:
                return 0, f"{number} comes after {last}"
            last = number
        count += numbers[-1] - numbers[0] + 1
    return count, ""


def too_many(found: Findings, at: At, count: int, most: int) -> None:
    """A list with too many items."""
    assert at is not None
    found.complain(
        TOO_MANY_ITEMS, at, f"{at[1]} has {count} items, and may have {most}", f"remove {count - most} of them"
    )
