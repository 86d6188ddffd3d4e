"""Whether the pods of a pod set can use a flavor: taints and tolerations, node selectors, node affinity, namespaces.

Reads    pod specs, flavors, label selectors.
Returns  booleans, or the first taint that is not tolerated.
Source   Kueue v0.19, checkFlavorForPodSets and flavorSelector: of a pod's selectors, only keys of the flavor's own
         labels count; Kubernetes 1.36, tolerations and required node affinity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.gostrings import parse_int
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kubernetes.trees import Tree
    from trainc.kueue.kueue_objects import Flavor

EFFECTS: Final = ("NoSchedule", "NoExecute")
REQUIRED: Final = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")


def untolerated_taint(pod: Tree, flavor: Flavor) -> Tree | None:
    """Return the flavor's first taint that neither the pod nor the flavor tolerates."""
    tolerations = [*(pod.get("tolerations") or ()), *flavor.tolerations]
    for taint in flavor.taints:
        if taint["effect"] in EFFECTS and not any(_tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def _tolerates(toleration: Tree, taint: Tree) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    same = (toleration.get("value") or "") == (taint.get("value") or "")
    return operator == "Equal" and bool(toleration.get("key")) and same


def matches_labels(pod: Tree, labels: Mapping[str, str]) -> bool:
    """Return whether a pod's node selector and required node affinity match a flavor's labels."""
    selector = pod.get("nodeSelector") or {}
    if any(key in labels and labels[key] != value for key, value in selector.items()):
        return False
    terms = []
    for term in get(pod, REQUIRED) or ():
        known = [one for one in term.get("matchExpressions") or () if one.get("key") in labels]
        if not known:
            return True  # terms are alternatives, and this one has no condition on the flavor
        terms.append(known)
    return not terms or any(all(_expression_holds(one, labels) for one in term) for term in terms)


def selects(selector: Tree | None, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector matches; None matches nothing, an empty one everything."""
    if selector is None:
        return False
    given = selector.get("matchLabels") or {}
    listed = selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in given.items()) and all(
        _expression_holds(one, labels) for one in listed
    )


def keys(selector: Tree | None) -> set[str]:
    """Return the label keys that a selector reads."""
    found = selector or {}
    return {*(found.get("matchLabels") or ()), *(one["key"] for one in found.get("matchExpressions") or ())}


def part(selector: Tree, known: set[str]) -> Tree:
    """Return the part of a selector that only reads known keys."""
    return {
        "matchLabels": {key: value for key, value in (selector.get("matchLabels") or {}).items() if key in known},
        "matchExpressions": [one for one in selector.get("matchExpressions") or () if one["key"] in known],
    }


def _expression_holds(expression: Tree, labels: Mapping[str, str]) -> bool:
    """Return whether an expression holds for some labels."""
    key: str = expression["key"]
    value = labels.get(key)
    values: list[str] = expression.get("values") or []
    operator: str = expression.get("operator", "")
    if operator == "In":
        return value in values
    if operator == "NotIn":
        return value is None or value not in values
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) == (operator == "Exists")
    texts = value, values[0] if len(values) == 1 else None
    mine, bound = (parse_int(text) if isinstance(text, str) else None for text in texts)
    if mine is None or bound is None or operator not in ("Gt", "Lt"):
        return False
    return mine > bound if operator == "Gt" else mine < bound
