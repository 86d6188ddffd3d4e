"""The API server's rules for scheduling: node selector, tolerations, affinity, spread, gates.

Source   Kubernetes 1.36: the API server's validation of these fields. The toleration operators Lt and Gt are disabled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.validation import metadata, pod_selectors
from trainc.kubernetes.validation.combinators import (
    FieldRule,
    PodViolations,
    at_least,
    each_item,
    field_of,
    fields,
    one_of,
)
from trainc.kubernetes.violations import INVALID_LABEL, REQUIRED, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

SPREAD_DOMAINS: Final = Declaration("spread-domains", ("job",))
TOLERATION: Final = Declaration("toleration", ("job",))
_OPERATORS: Final = ("Equal", "Exists")
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WHEN: Final = ("DoNotSchedule", "ScheduleAnyway")
_effect: Final = one_of(*_EFFECTS)
_when: Final = one_of(*_WHEN)
_skew: Final = at_least(1)
_inclusion: Final = one_of("Honor", "Ignore")
_NODE_LABEL_HELP: Final = "use the value of a node label; list them with `kubectl get nodes --show-labels`"
_TAINT_HELP: Final = "use the value of a node taint; list them with `kubectl describe nodes`"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_term: Final = fields(
    {"matchExpressions": each_item(pod_selectors.node_requirement), "matchFields": each_item(pod_selectors.node_field)}
)
_preference: Final = fields(
    {"matchExpressions": each_item(pod_selectors.node_preference), "matchFields": each_item(pod_selectors.node_field)}
)


def node_selector(violations: PodViolations, at: At, value: dict[str, str]) -> None:
    """Check the labels that a node must have."""
    metadata.labels(violations, at, value, selected=_NODE_LABEL_HELP)


def toleration(violations: PodViolations, at: At, value: Tree) -> None:
    """Check one toleration. The API server's error for a bad value names the operator."""
    key, operator = value.get("key", ""), value.get("operator", "")
    text, effect = value.get("value", ""), value.get("effect", "")
    if key and not metadata.good_key(key):
        violations.bad_key((at, "key"), key, declared=INVALID_LABEL)
    if not key and operator != "Exists":
        _contradiction(
            violations, at, "operator", "operator",
            f"a toleration without a key must have operator Exists, not {operator or 'Equal'}",
            "add the taint's key, or use operator: Exists to tolerate every taint",
        )  # fmt: skip
    if operator in ("", "Equal"):
        if not metadata.good_value(text):
            operator_field = field_of((at, "operator"))
            metadata.bad_value(violations, (at, "value"), text, "value", field=operator_field, help=_TAINT_HELP)
    elif operator != "Exists":
        violations.not_allowed((at, "operator"), operator, _OPERATORS)
    elif text:
        _contradiction(
            violations, at, "value", "operator",
            f"a toleration with operator Exists must not set a value, but sets {shown(text)}",
            "remove the value, or use operator: Equal to match only that value",
            ("the operator", (at, "operator")),
        )  # fmt: skip
    if value.get("tolerationSeconds") is not None and effect != "NoExecute":
        actual = f"the effect is {effect}" if effect else "no effect is set"
        _contradiction(
            violations, at, "tolerationSeconds", "effect",
            f"tolerationSeconds requires effect NoExecute, but {actual}",
            "use effect: NoExecute, or remove tolerationSeconds",
            *((("the effect", (at, "effect")),) if effect else ()),
        )  # fmt: skip
    if effect:
        _effect(violations, (at, "effect"), effect)


def _contradiction(
    violations: PodViolations, at: At, place: str, field: str, message: str, help: str, *related: tuple[str, At]
) -> None:
    violations.report(TOLERATION, (at, place), message, help, field=field_of((at, field)), related=related)


tolerations: Final[FieldRule] = each_item(toleration)


def spread_constraint(violations: PodViolations, at: At, value: Tree) -> None:
    """Check one topology spread constraint."""
    _skew(violations, (at, "maxSkew"), value.get("maxSkew", 0))
    if not value.get("topologyKey"):
        violations.report_missing((at, "topologyKey"), "use a node label such as topology.kubernetes.io/zone")
    when = value.get("whenUnsatisfiable", "")
    _when(violations, (at, "whenUnsatisfiable"), when)
    if "minDomains" in value:
        _skew(violations, (at, "minDomains"), value["minDomains"])
        if when != "DoNotSchedule" and value["minDomains"] > 0:
            message = f"minDomains requires whenUnsatisfiable: DoNotSchedule, not {when}"
            related = (("whenUnsatisfiable", (at, "whenUnsatisfiable")),)
            violations.report(
                SPREAD_DOMAINS, (at, "minDomains"), message, "use DoNotSchedule, or remove minDomains",
                related=related,
            )  # fmt: skip
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if policy in value:
            _inclusion(violations, (at, policy), value[policy])
    if "labelSelector" in value:
        pod_selectors.label_selector(violations, (at, "labelSelector"), value["labelSelector"])
    if "matchLabelKeys" in value:
        pod_selectors.label_keys(violations, at, value)


spread_constraints: Final[FieldRule] = each_item(spread_constraint)


def scheduling_gates(violations: PodViolations, at: At, value: list[Tree]) -> None:
    """Check scheduling gates, which delay scheduling; the API server's error names the gate, not its name."""
    for index, gate in enumerate(value):
        name = gate.get("name", "")
        if not metadata.good_key(name):
            violations.bad_key(((at, index), "name"), name, field=field_of((at, index)))


def _terms(violations: PodViolations, at: At, value: Tree) -> None:
    """Check the terms of a required node affinity, one of which must match."""
    if not value.get("nodeSelectorTerms"):
        message = "a required node affinity without terms matches no node"
        violations.report(REQUIRED, (at, "nodeSelectorTerms"), message, "add a term, or remove the affinity")
    for index, term in enumerate(value.get("nodeSelectorTerms") or ()):
        _term(violations, ((at, "nodeSelectorTerms"), index), term)


def _weighted(key: str, inner: FieldRule) -> FieldRule:
    """Return the rule for a weighted term."""

    def rule(violations: PodViolations, at: At, value: Tree) -> None:
        if not 1 <= value.get("weight", 0) <= 100:
            violations.out_of_range((at, "weight"), value.get("weight", 0), 1, 100)
        inner(violations, (at, key), value.get(key) or {})

    return rule


def pod_term(violations: PodViolations, at: At, value: Tree) -> None:
    """Check one term of a pod affinity or anti-affinity."""
    for key in ("labelSelector", "namespaceSelector"):
        if key in value:
            pod_selectors.label_selector(violations, (at, key), value[key])
    for index, namespace in enumerate(value.get("namespaces") or ()):
        _namespace(violations, (((at, "namespaces"), index)), namespace, f"{field_of(at)}.namespace")
    if "matchLabelKeys" in value or "mismatchLabelKeys" in value:
        pod_selectors.label_keys(violations, at, value)
    key = value.get("topologyKey", "")
    if not metadata.good_key(key):
        if key:
            violations.bad_key((at, "topologyKey"), key, declared=INVALID_LABEL)
        else:
            violations.report_missing((at, "topologyKey"), "use a node label such as kubernetes.io/hostname")


def _namespace(violations: PodViolations, at: At, value: str, field: str) -> None:
    from trainc.kubernetes import names

    if names.dns1123_label_errors(value):
        violations.bad_name(at, value, "label", field=field)


_pods: Final = fields({_REQUIRED: each_item(pod_term), _PREFERRED: each_item(_weighted("podAffinityTerm", pod_term))})


_nodes: Final = fields({_REQUIRED: _terms, _PREFERRED: each_item(_weighted("preference", _preference))})


affinity: Final[FieldRule] = fields({"nodeAffinity": _nodes, "podAffinity": _pods, "podAntiAffinity": _pods})
