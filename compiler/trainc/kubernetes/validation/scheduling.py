"""Where a pod may go: node selector, tolerations, spread constraints, scheduling gates.

Source   Kubernetes 1.36: the API server's validation of these. The operators Lt and Gt of tolerations are switched off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation import metadata, selectors
from trainc.kubernetes.validation.findings import Findings, Rule, at_least, each, field_of, one_of
from trainc.kubernetes.violations import INVALID_LABEL

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

SPREAD_DOMAINS: Final = Declaration(
    "spread-domains", ("job",), "A spread constraint asks for a number of domains, and is only a wish"
)
TOLERATION: Final = Declaration("toleration", ("job",), "A toleration contradicts itself")

_OPERATORS: Final = ("Equal", "Exists")
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WHEN: Final = ("DoNotSchedule", "ScheduleAnyway")
_effect: Final = one_of(*_EFFECTS)
_when: Final = one_of(*_WHEN)
_skew: Final = at_least(1)
_inclusion: Final = one_of("Honor", "Ignore")
_OF_NODES: Final = "no label can have this value; write it as the nodes have it: kubectl get nodes --show-labels"
_NO_TAINT: Final = "no taint can have this value; write it as the nodes have it: kubectl describe nodes"


def node_selector(found: Findings, at: At, value: dict[str, str]) -> None:
    """The labels that a node must have."""
    metadata.labels(found, at, value, selected=_OF_NODES)


def toleration(found: Findings, at: At, value: Tree) -> None:
    """One toleration. The cluster reports a bad value at the operator."""
    key, operator = value.get("key", ""), value.get("operator", "")
    text, effect = value.get("value", ""), value.get("effect", "")
    if key and not metadata.good_key(key):
        from trainc.kubernetes.validation import complaints

        complaints.bad_key(found, (at, "key"), key, declared=INVALID_LABEL)
    if not key and operator != "Exists":
        _contradiction(
            found, at, "operator", "operator",
            f"a toleration without a key is for every taint, and its operator is {operator or 'Equal'}",
            "add the key of the taint; or write operator: Exists, where every taint is meant",
        )  # fmt: skip
    if operator in ("", "Equal"):
        if not metadata.good_value(text):
            operator_field = field_of((at, "operator"))
            metadata.bad_value(found, (at, "value"), text, "value", field=operator_field, help=_NO_TAINT)
    elif operator != "Exists":
        from trainc.kubernetes.validation import complaints

        complaints.not_allowed(found, (at, "operator"), operator, _OPERATORS)
    elif text:
        from trainc.kubernetes.structural.remedies import shown

        _contradiction(
            found, at, "value", "operator",
            f"a toleration with the operator Exists has no value, and this one has {shown(text)}",
            "remove the value; or write operator: Equal, where only that value is meant",
            ("the operator", (at, "operator")),
        )  # fmt: skip
    if value.get("tolerationSeconds") is not None and effect != "NoExecute":
        of_effect = f"the effect is {effect}" if effect else "no effect is named"
        _contradiction(
            found, at, "tolerationSeconds", "effect",
            f"tolerationSeconds go with the effect NoExecute alone, and {of_effect}",
            "write effect: NoExecute, or remove tolerationSeconds",
            *((("the effect", (at, "effect")),) if effect else ()),
        )  # fmt: skip
    if effect:
        _effect(found, (at, "effect"), effect)


def _contradiction(
    found: Findings, at: At, place: str, field: str, message: str, help: str, *related: tuple[str, At]
) -> None:
    found.complain(TOLERATION, (at, place), message, help, field=field_of((at, field)), related=related)


tolerations: Final[Rule] = each(toleration)


def spread_constraint(found: Findings, at: At, value: Tree) -> None:
    """One constraint on how evenly pods are spread."""
    _skew(found, (at, "maxSkew"), value.get("maxSkew", 0))
    if not value.get("topologyKey"):
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, (at, "topologyKey"), "add a node's label, such as topology.kubernetes.io/zone")
    when = value.get("whenUnsatisfiable", "")
    _when(found, (at, "whenUnsatisfiable"), when)
    if "minDomains" in value:
        _skew(found, (at, "minDomains"), value["minDomains"])
        if when != "DoNotSchedule" and value["minDomains"] > 0:
            message = f"minDomains goes with whenUnsatisfiable: DoNotSchedule alone, and that is {when}"
            related = (("whenUnsatisfiable", (at, "whenUnsatisfiable")),)
            found.complain(
                SPREAD_DOMAINS, (at, "minDomains"), message, "write DoNotSchedule, or remove minDomains",
                related=related,
            )  # fmt: skip
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if policy in value:
            _inclusion(found, (at, policy), value[policy])
    if "labelSelector" in value:
        selectors.label_selector(found, (at, "labelSelector"), value["labelSelector"])
    if "matchLabelKeys" in value:
        selectors.label_keys(found, at, value)


spread_constraints: Final[Rule] = each(spread_constraint)


def scheduling_gates(found: Findings, at: At, value: list[Tree]) -> None:
    """What must be cleared away before the pod is scheduled; the cluster reports the gate, not its name."""
    for index, gate in enumerate(value):
        name = gate.get("name", "")
        if not metadata.good_key(name):
            from trainc.kubernetes.validation import complaints

            complaints.bad_key(found, ((at, index), "name"), name, field=field_of((at, index)))
