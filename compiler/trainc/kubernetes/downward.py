"""The downward API: what a container is told of its own pod.

Reads    what is known of a pod before it runs, and a reference to one of its fields or to what a container asks for.
Returns  the text that the kubelet makes of it; Unknown, with the reason, for what is settled in the cluster.
Source   Kubernetes 1.36: the fields of pods that variables may refer to; amounts of resources are divided and rounded
         up, a missing limit is the pod's own, else all that the node has.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import get
from trainc.kubernetes.validation.fieldrefs import split
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree


class Unknown(NamedTuple):
    """A value that nobody can know before the pod runs."""

    reason: str
    """Why, in words."""


Value = str | Unknown

_LATER: Final = {
    "metadata.uid": "the API server draws it when the pod is created",
    "spec.nodeName": "the scheduler chooses the node",
    "status.hostIP": "the scheduler chooses the node",
    "status.hostIPs": "the scheduler chooses the node",
    "status.podIP": "the node gives the pod its address",
    "status.podIPs": "the node gives the pod its address",
}
"""What is settled in the cluster."""
_OF_THE_NODE: Final = ("cpu", "memory", "ephemeral-storage")
"""Without a limit, a container may use of these what the node has."""


class Known(NamedTuple):
    """What is known of a pod."""

    name: Value
    namespace: Value
    labels: dict[str, Value]
    annotations: dict[str, Value]
    spec: Tree


def field_value(pod: Known, path: str) -> Value:
    """What a `fieldRef` says."""
    name, subscript = split(path)
    if subscript is not None:
        return (pod.labels if name == "metadata.labels" else pod.annotations).get(subscript, "")
    if name in ("metadata.name", "metadata.namespace"):
        return pod.name if name == "metadata.name" else pod.namespace
    if name == "spec.serviceAccountName":
        return str(pod.spec.get("serviceAccountName") or "default")
    if name == "spec.nodeName" and pod.spec.get("nodeName"):
        return str(pod.spec["nodeName"])
    return Unknown(_LATER.get(name, f"{path} is settled in the cluster"))


def resource_value(pod: Tree, container: Tree, ref: Tree) -> Value:
    """What a `resourceFieldRef` says: of the container itself, unless it names another one of the pod."""
    if named := ref.get("containerName"):
        among = (*(pod.get("containers") or ()), *(pod.get("initContainers") or ()))
        container = next((found for found in among if found["name"] == named), container)
    kind, _, resource = ref["resource"].partition(".")
    amount = get(container, ("resources", kind, resource))
    quantity = Quantity.from_json(amount)
    if kind == "limits" and resource in _OF_THE_NODE and quantity.is_zero:
        of_pod = Quantity.from_json(get(pod, ("resources", "limits", resource)))
        if of_pod.is_zero:
            return Unknown(f"without a limit it is the {resource} of the node, which the scheduler chooses")
        quantity = of_pod
    divisor = Quantity.from_json(ref.get("divisor"))
    if divisor.is_zero:
        divisor = Quantity(1)
    if resource == "cpu":
        return _ratio(quantity.milli_value(), divisor.milli_value())
    return _ratio(quantity.value(), divisor.value())


def _ratio(amount: int, divisor: int) -> str:
    """The amount in units of the divisor, rounded up; through floating point, as there."""
    return str(math.ceil(float(amount) / float(divisor)))
