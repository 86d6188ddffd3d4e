"""Selectors: of pods and namespaces by their labels, of nodes by theirs and by their name.

Source   Kubernetes 1.36: apimachinery's validation of label selectors, the API server's of node selectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation import metadata
from trainc.kubernetes.validation.findings import Findings, each, field_of, fields, subdomain
from trainc.kubernetes.violations import ENUM, INVALID_LABEL

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

MATCH_LABEL_KEYS: Final = Declaration(
    "match-label-keys", ("job",), "Keys of the pod's own labels do not go with the selector beside them"
)
SELECTOR_VALUES: Final = Declaration(
    "selector-values", ("job",), "A selector's operator and its values do not go together"
)

LISTED: Final = ("In", "NotIn")
_BARE: Final = ("Exists", "DoesNotExist")
_COMPARED: Final = ("Gt", "Lt")


def requirement(found: Findings, at: At, value: Tree) -> None:
    """An expression on the labels of pods or namespaces."""
    _expression(found, at, value, (*LISTED, *_BARE))
    _values(found, at, value)


def node_requirement(found: Findings, at: At, value: Tree) -> None:
    """An expression on the labels of nodes that must come true."""
    _expression(found, at, value, (*LISTED, *_BARE, *_COMPARED))
    _values(found, at, value)


def node_preference(found: Findings, at: At, value: Tree) -> None:
    """An expression on the labels of nodes that had better come true: its values may be anything."""
    _expression(found, at, value, (*LISTED, *_BARE, *_COMPARED))


def node_field(found: Findings, at: At, value: Tree) -> None:
    """An expression on the fields of nodes, of which only the name can be asked for."""
    operator, values = value.get("operator", ""), value.get("values") or []
    if operator not in LISTED:
        from trainc.kubernetes.validation import complaints

        complaints.not_allowed(found, (at, "operator"), operator, LISTED)
    elif len(values) != 1:
        message = f"the operator {operator} of a field takes exactly one value, and {len(values)} are given"
        found.complain(SELECTOR_VALUES, (at, "values"), message, "begin another term for each name of a node")
    if value.get("key") != "metadata.name":
        from trainc.kubernetes.structural.remedies import shown

        message = f"key is {shown(value.get('key', ''))}; the only field of a node to select by is metadata.name"
        found.complain(ENUM, (at, "key"), message, "write key: metadata.name, or ask for labels in matchExpressions")
        return
    for index, name in enumerate(values):
        subdomain(found, ((at, "values"), index), name)


def _expression(found: Findings, at: At, value: Tree, operators: tuple[str, ...]) -> None:
    operator, values = value.get("operator", ""), value.get("values")
    place, message, way_out = (at, "values"), "", ""
    if operator not in operators:
        from trainc.kubernetes.validation import complaints

        complaints.not_allowed(found, (at, "operator"), operator, operators)
    elif operator in LISTED:
        if not values:
            message, way_out = f"the operator {operator} needs values", "list them, or ask with Exists for any value"
    elif operator in _BARE:
        if values:
            message = f"the operator {operator} takes no values, and has {len(values)}"
            way_out = f"remove the values, or write {'In' if operator == 'Exists' else 'NotIn'}"
    elif len(values or ()) != 1:
        message = f"the operator {operator} takes exactly one value, and has {len(values or ())}"
        way_out = 'write one whole number, in quotes: ["8"]'
    if message:
        related = (("the operator", (at, "operator")),)
        found.complain(SELECTOR_VALUES, place, message, way_out, related=related)
    if not metadata.good_key(value.get("key", "")):
        from trainc.kubernetes.validation import complaints

        complaints.bad_key(found, (at, "key"), value.get("key", ""), declared=INVALID_LABEL)


def _values(found: Findings, at: At, value: Tree) -> None:
    for index, text in enumerate(value.get("values") or ()):
        if not metadata.good_value(text):
            place = ((at, "values"), index)
            metadata.bad_value(found, place, text, f"values[{index}]")


label_selector: Final = fields({"matchLabels": metadata.labels, "matchExpressions": each(requirement)})
"""What selects pods or namespaces by their labels."""


def label_keys(found: Findings, at: At, term: Tree) -> None:
    """Keys of labels whose values are those of the pod itself; they narrow down the selector beside them."""
    same, other = term.get("matchLabelKeys") or [], term.get("mismatchLabelKeys") or []
    for name, keys in (("matchLabelKeys", same), ("mismatchLabelKeys", other)):
        if keys and "labelSelector" not in term:
            message = f"{name} narrows down the labelSelector, and there is none"
            way_out = "add the labelSelector, or remove these keys"
            found.complain(MATCH_LABEL_KEYS, (at, name), message, way_out)
            continue
        for index, key in enumerate(keys):
            if not metadata.good_key(key):
                from trainc.kubernetes.validation import complaints

                complaints.bad_key(found, ((at, name), index), key, declared=INVALID_LABEL)
    for index in _selected_again(term, {key: index for index, key in enumerate(same)}):
        _selected_twice(found, at, same[index], index)
    for index, key in enumerate(same):
        if key in other:
            message = f"{key} is both in matchLabelKeys and in mismatchLabelKeys"
            related = (("the other one", ((at, "mismatchLabelKeys"), other.index(key))),)
            found.complain(
                MATCH_LABEL_KEYS, ((at, "matchLabelKeys"), index), message, "keep one of them", related=related
            )


def _selected_again(term: Tree, keys: dict[str, int]) -> list[int]:
    """Which of the keys, by their index in matchLabelKeys, an expression asks for after something else has."""
    selector = term.get("labelSelector") or {}
    seen, again = set(selector.get("matchLabels") or ()), []
    for expression in selector.get("matchExpressions") or ():
        key = expression.get("key", "")
        if key in keys and key in seen:
            again.append(keys[key])
        seen.add(key)
    return again


def _selected_twice(found: Findings, at: At, key: str, index: int) -> None:
    """A key of matchLabelKeys that the selector beside it asks for as well; the cluster leaves the list's name out."""
    message = f"{key} is in matchLabelKeys, and the labelSelector asks for it as well"
    related = (("the selector", (at, "labelSelector")),)
    place = ((at, "matchLabelKeys"), index)
    found.complain(
        MATCH_LABEL_KEYS, place, message, "keep one of them", field=f"{field_of(at)}[{index}]", related=related
    )
