"""Container restarts: by the container's own restart rules, or after a change of its resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import At
from trainc.kubernetes.validation.combinators import PodViolations, called, field_of
from trainc.kubernetes.violations import DUPLICATE_ITEM, TOO_MANY_ITEMS, listed

if TYPE_CHECKING:
    from collections.abc import Sized

    from trainc.kubernetes.trees import Tree

RESIZE_RESTART: Final = Declaration("resize-restart", ("job",), "Restart on resize not allowed")
RESTART_RULES: Final = Declaration("restart-rules", ("job",), "Container restart rules without restart policy")
ACTIONS: Final = ("Restart", "RestartAllContainers")
OPERATORS: Final = ("In", "NotIn")
MAX_RULES: Final = 20
MAX_CODES: Final = 255
RESIZED: Final = ("cpu", "memory")
RESIZES: Final = ("NotRequired", "RestartContainer")


def rules(violations: PodViolations, at: At, container: Tree) -> None:
    """Check a container's restart rules by exit code.

    The exit codes are not checked, nor are the rules of an init container without a restart policy.
    """
    here, restart_rules = (at, "restartPolicyRules"), container["restartPolicyRules"]
    if "restartPolicy" not in container:
        violations.report(
            RESTART_RULES,
            here,
            "restartPolicyRules requires a restartPolicy on the container",
            "add a restartPolicy to the container, such as Never",
            field=field_of((at, "restartPolicy")),
        )
        if at is not None and at[0] is not None and at[0][1] == "initContainers":
            return
    _not_too_many(violations, here, restart_rules, MAX_RULES)
    for index, rule in enumerate(restart_rules):
        _enum(violations, ((here, index), "action"), rule.get("action"), ACTIONS)
        codes = rule.get("exitCodes")
        if codes is None:
            violations.report_missing(
                ((here, index), "exitCodes"),
                "set the exit codes, for example exitCodes: {operator: In, values: [42]}",
            )
        else:
            _enum(violations, (((here, index), "exitCodes"), "operator"), codes.get("operator"), OPERATORS)
            _not_too_many(violations, (((here, index), "exitCodes"), "values"), codes.get("values") or (), MAX_CODES)


def resize_policy(violations: PodViolations, at: At, policies: list[Tree]) -> None:
    """Check resizePolicy. The API server's errors have no index, except for duplicate resources."""
    field, named = field_of(at), dict[str, At]()
    for index, policy in enumerate(policies):
        here, resource, restart = (at, index), policy.get("resourceName", ""), policy.get("restartPolicy")
        if resource in named:
            violations.report(
                DUPLICATE_ITEM,
                here,
                f'two items of resizePolicy are for resource "{resource}"',
                "remove one of them",
                related=(("the first item", named[resource]),),
            )
        named.setdefault(resource, here)
        _enum(violations, (here, "resourceName"), resource, RESIZED, field)
        _enum(violations, (here, "restartPolicy"), restart, RESIZES, field)
        if restart == "RestartContainer" and violations.pod.get("restartPolicy") == "Never":
            violations.report(
                RESIZE_RESTART,
                (here, "restartPolicy"),
                "restartPolicy RestartContainer is not allowed in a pod with restartPolicy Never",
                "use NotRequired, or set restartPolicy: OnFailure on the pod",
                field=field,
            )


def resize_policy_of_init(violations: PodViolations, at: At, policies: list[Tree]) -> None:
    """Check resizePolicy of an init container that is not a sidecar: it is not restarted after a resize."""
    resize_policy(violations, at, policies)
    for index, policy in enumerate(policies):
        if policy.get("restartPolicy") == "RestartContainer":
            violations.report(
                RESIZE_RESTART,
                ((at, index), "restartPolicy"),
                "restartPolicy RestartContainer is not allowed in an init container that is not a sidecar",
                "use NotRequired",
            )


def _enum(violations: PodViolations, at: At, value: str | None, allowed: tuple[str, ...], field: str = "") -> None:
    """Check a required enum."""
    if not value:
        violations.report_missing(at, f"set it to {listed(list(allowed), 'or')}", field=field)
    elif value not in allowed:
        violations.not_allowed(at, value, allowed, field=field)


def _not_too_many(violations: PodViolations, at: At, items: Sized, maximum: int) -> None:
    if len(items) > maximum:
        violations.report(
            TOO_MANY_ITEMS,
            at,
            f"{called(at)} has {len(items)} items; the limit is {maximum}",
            f"remove {len(items) - maximum} of them",
        )
