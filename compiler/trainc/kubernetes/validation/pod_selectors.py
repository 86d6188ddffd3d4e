"""Label selectors for pods and namespaces, and node selectors by label and name.

Source   Kubernetes 1.36: apimachinery's validation of label selectors, and the API server's of node selectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.validation import metadata
from trainc.kubernetes.validation.combinators import PodViolations, each_item, field_of, fields, subdomain
from trainc.kubernetes.violations import ENUM, INVALID_LABEL, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

MATCH_LABEL_KEYS: Final = Declaration("match-label-keys", ("job",), "Match label keys conflict with label selector")
SELECTOR_VALUES: Final = Declaration("selector-values", ("job",), "Selector values do not match operator")

LISTED: Final = ("In", "NotIn")
_BARE: Final = ("Exists", "DoesNotExist")
_COMPARED: Final = ("Gt", "Lt")


def requirement(violations: PodViolations, at: At, value: Tree) -> None:
    """Check an expression on the labels of pods or namespaces."""
    _expression(violations, at, value, (*LISTED, *_BARE))
    _values(violations, at, value)


def node_requirement(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a required expression on node labels."""
    _expression(violations, at, value, (*LISTED, *_BARE, *_COMPARED))
    _values(violations, at, value)


def node_preference(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a preferred expression on node labels: its values may be anything."""
    _expression(violations, at, value, (*LISTED, *_BARE, *_COMPARED))


def node_field(violations: PodViolations, at: At, value: Tree) -> None:
    """Check an expression on node fields, of which only the name can be selected."""
    operator, values = value.get("operator", ""), value.get("values") or []
    if operator not in LISTED:
        violations.not_allowed((at, "operator"), operator, LISTED)
    elif len(values) != 1:
        message = f"operator {operator} in matchFields requires exactly one value, but has {len(values)}"
        violations.report(SELECTOR_VALUES, (at, "values"), message, "use a separate term for each node name")
    if value.get("key") != "metadata.name":
        message = f"key must be metadata.name, the only node field to select by, not {shown(value.get('key', ''))}"
        violations.report(ENUM, (at, "key"), message, "use key: metadata.name, or select by label in matchExpressions")
        return
    for index, name in enumerate(values):
        subdomain(violations, ((at, "values"), index), name)


def _expression(violations: PodViolations, at: At, value: Tree, operators: tuple[str, ...]) -> None:
    operator, values = value.get("operator", ""), value.get("values")
    place, message, help = (at, "values"), "", ""
    if operator not in operators:
        violations.not_allowed((at, "operator"), operator, operators)
    elif operator in LISTED:
        if not values:
            message, help = f"operator {operator} requires values", "add values, or use Exists to match any value"
    elif operator in _BARE:
        if values:
            message = f"operator {operator} must not have values, but has {len(values)}"
            help = f"remove the values, or use {'In' if operator == 'Exists' else 'NotIn'}"
    elif len(values or ()) != 1:
        message = f"operator {operator} requires exactly one value, but has {len(values or ())}"
        help = 'use one integer in quotes: ["8"]'
    if message:
        related = (("the operator", (at, "operator")),)
        violations.report(SELECTOR_VALUES, place, message, help, related=related)
    if not metadata.good_key(value.get("key", "")):
        violations.bad_key((at, "key"), value.get("key", ""), declared=INVALID_LABEL)


def _values(violations: PodViolations, at: At, value: Tree) -> None:
    for index, text in enumerate(value.get("values") or ()):
        if not metadata.good_value(text):
            place = ((at, "values"), index)
            metadata.bad_value(violations, place, text, f"values[{index}]")


label_selector: Final = fields({"matchLabels": metadata.labels, "matchExpressions": each_item(requirement)})
"""The rule for a selector of pods or namespaces by label."""


def label_keys(violations: PodViolations, at: At, term: Tree) -> None:
    """Check label keys whose values are taken from the pod; they narrow the selector."""
    same, other = term.get("matchLabelKeys") or [], term.get("mismatchLabelKeys") or []
    for name, keys in (("matchLabelKeys", same), ("mismatchLabelKeys", other)):
        if keys and "labelSelector" not in term:
            message = f"{name} requires a labelSelector"
            help = f"add a labelSelector, or remove {name}"
            violations.report(MATCH_LABEL_KEYS, (at, name), message, help)
            continue
        for index, key in enumerate(keys):
            if not metadata.good_key(key):
                violations.bad_key(((at, name), index), key, declared=INVALID_LABEL)
    for index in _selected_again(term, {key: index for index, key in enumerate(same)}):
        _selected_twice(violations, at, same[index], index)
    for index, key in enumerate(same):
        if key in other:
            message = f"{key} is in both matchLabelKeys and mismatchLabelKeys"
            related = (("the other one", ((at, "mismatchLabelKeys"), other.index(key))),)
            violations.report(
                MATCH_LABEL_KEYS, ((at, "matchLabelKeys"), index), message, "keep one of them", related=related
            )


def _selected_again(term: Tree, keys: dict[str, int]) -> list[int]:
    """Return the indexes in matchLabelKeys of keys that an expression selects after an earlier part of the selector."""
    selector = term.get("labelSelector") or {}
    seen, again = set(selector.get("matchLabels") or ()), []
    for expression in selector.get("matchExpressions") or ():
        key = expression.get("key", "")
        if key in keys and key in seen:
            again.append(keys[key])
        seen.add(key)
    return again


def _selected_twice(violations: PodViolations, at: At, key: str, index: int) -> None:
    """Report a key of matchLabelKeys that the selector also uses; the API server's error omits the list's name."""
    message = f"{key} is in both matchLabelKeys and the labelSelector"
    related = (("the selector", (at, "labelSelector")),)
    place = ((at, "matchLabelKeys"), index)
    violations.report(
        MATCH_LABEL_KEYS, place, message, "keep one of them", field=f"{field_of(at)}[{index}]", related=related
    )
