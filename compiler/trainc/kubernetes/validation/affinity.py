"""The API server's rules for a pod's node affinity, pod affinity and pod anti-affinity.

Source   Kubernetes 1.36: the API server's validation of affinity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.validation import metadata, pod_selectors
from trainc.kubernetes.validation.combinators import FieldRule, PodViolations, each_item, field_of, fields
from trainc.kubernetes.violations import INVALID_LABEL, REQUIRED

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"

_term: Final = fields(
    {"matchExpressions": each_item(pod_selectors.node_requirement), "matchFields": each_item(pod_selectors.node_field)}
)
_preference: Final = fields(
    {"matchExpressions": each_item(pod_selectors.node_preference), "matchFields": each_item(pod_selectors.node_field)}
)


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
