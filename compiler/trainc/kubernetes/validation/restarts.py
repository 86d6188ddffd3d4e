"""When a container is started again: by rules of its own, or because its resources have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.trees import At
from trainc.kubernetes.validation.findings import Findings, field_of
from trainc.kubernetes.violations import DUPLICATE_ITEM, TOO_MANY_ITEMS

if TYPE_CHECKING:
    from collections.abc import Sized

    from trainc.kubernetes.trees import Tree

RESIZE_RESTART: Final = Declaration("resize-restart", ("job",), "A container that is resized cannot be restarted")
RESTART_RULES: Final = Declaration("restart-rules", ("job",), "A container's rules of restarting are incomplete")
ACTIONS: Final = ("Restart", "RestartAllContainers")
OPERATORS: Final = ("In", "NotIn")
MOST_RULES: Final = 20
MOST_CODES: Final = 255
RESIZED: Final = ("cpu", "memory")
RESIZES: Final = ("NotRequired", "RestartContainer")


def rules(found: Findings, at: At, container: Tree) -> None:
    """The rules by exit code, of a container that has some. Which codes they name is not looked at; nor are those of an
    init container without a policy."""
    from trainc.kubernetes.validation import complaints

    here, given = (at, "restartPolicyRules"), container["restartPolicyRules"]
    if "restartPolicy" not in container:
        found.complain(
            RESTART_RULES,
            here,
            "restartPolicyRules say when restartPolicy does not hold, and the container has none",
            "add the container's own restartPolicy, such as Never",
            field=field_of((at, "restartPolicy")),
        )
        if at is not None and at[0] is not None and at[0][1] == "initContainers":
            return
    _not_too_many(found, here, given, MOST_RULES)
    for index, rule in enumerate(given):
        _word(found, ((here, index), "action"), rule.get("action"), ACTIONS)
        codes = rule.get("exitCodes")
        if codes is None:
            complaints.missing(
                found, ((here, index), "exitCodes"), "say when the rule holds: exitCodes: {operator: In, values: [42]}"
            )
        else:
            _word(found, (((here, index), "exitCodes"), "operator"), codes.get("operator"), OPERATORS)
            _not_too_many(found, (((here, index), "exitCodes"), "values"), codes.get("values") or (), MOST_CODES)


def resize_policy(found: Findings, at: At, policies: list[Tree]) -> None:
    """What a change of resources does to the container. The cluster says no index, but of a resource named twice."""
    field, named = field_of(at), dict[str, At]()
    for index, policy in enumerate(policies):
        here, resource, restart = (at, index), policy.get("resourceName", ""), policy.get("restartPolicy")
        if resource in named:
            found.complain(
                DUPLICATE_ITEM,
                here,
                f"resizePolicy says twice what a change of {resource or 'nothing'} does",
                "keep one of the two",
                related=(("the first one", named[resource]),),
            )
        named.setdefault(resource, here)
        _word(found, (here, "resourceName"), resource, RESIZED, field)
        _word(found, (here, "restartPolicy"), restart, RESIZES, field)
        if restart == "RestartContainer" and found.pod.get("restartPolicy") == "Never":
            found.complain(
                RESIZE_RESTART,
                (here, "restartPolicy"),
                "restartPolicy is RestartContainer, in a pod whose restartPolicy is Never",
                "write NotRequired; or let the pod have restartPolicy: OnFailure",
                field=field,
            )


def resize_policy_of_init(found: Findings, at: At, policies: list[Tree]) -> None:
    """The same for an init container that is no sidecar, which is not restarted once it is resized."""
    resize_policy(found, at, policies)
    for index, policy in enumerate(policies):
        if policy.get("restartPolicy") == "RestartContainer":
            found.complain(
                RESIZE_RESTART,
                ((at, index), "restartPolicy"),
                "restartPolicy is RestartContainer, in an init container that is no sidecar",
                "write NotRequired",
            )


def _word(found: Findings, at: At, value: str | None, allowed: tuple[str, ...], field: str = "") -> None:
    """A word that must be there, and one of a few."""
    from trainc.kubernetes.structural.remedies import listed
    from trainc.kubernetes.validation import complaints

    if not value:
        complaints.missing(found, at, f"write {listed(list(allowed), 'or')}", field=field)
    elif value not in allowed:
        complaints.not_allowed(found, at, value, allowed, field=field)


def _not_too_many(found: Findings, at: At, items: Sized, most: int) -> None:
    from trainc.kubernetes.validation import complaints

    if len(items) > most:
        found.complain(
            TOO_MANY_ITEMS,
            at,
            f"{complaints.called(at)} has {len(items)} items, and may have {most}",
            "keep those that are needed",
        )
