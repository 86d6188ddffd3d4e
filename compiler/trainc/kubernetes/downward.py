"""The downward API: the values that a container can get from its own pod.

Reads    the parts of a pod that are known before it runs, and a reference to a pod field or a container resource.
Returns  the text that the kubelet produces; Unknown, with the reason, for a value that only the cluster determines.
Source   Kubernetes 1.36: the pod fields that variables may refer to. Resource values are divided and rounded up; a
         missing limit falls back to the pod's limit, then to the node's capacity.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import get
from trainc.kubernetes.validation.fieldrefs import split

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree


class Unknown(NamedTuple):
    """A value that is not known before the pod runs."""

    reason: str
    """The reason, for the user."""


Value = str | Unknown

_LATER: Final = {
    "metadata.uid": "the API server generates it when the pod is created",
    "spec.nodeName": "the scheduler chooses the node",
    "status.hostIP": "the scheduler chooses the node",
    "status.hostIPs": "the scheduler chooses the node",
    "status.podIP": "the node assigns the pod's address",
    "status.podIPs": "the node assigns the pod's address",
}
"""Fields that are only set in the cluster, with the reason."""
_NODE_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
"""Resources for which a container without a limit may use the node's capacity."""


class Known(NamedTuple):
    """The parts of a pod that are known before it runs."""

    name: Value
    namespace: Value
    labels: dict[str, Value]
    annotations: dict[str, Value]
    spec: Tree


def field_value(pod: Known, path: str) -> Value:
    """Return the value of a `fieldRef`."""
    name, subscript = split(path)
    if subscript is not None:
        return (pod.labels if name == "metadata.labels" else pod.annotations).get(subscript, "")
    if name in ("metadata.name", "metadata.namespace"):
        return pod.name if name == "metadata.name" else pod.namespace
    if name == "spec.serviceAccountName":
        return str(pod.spec.get("serviceAccountName") or "default")
    if name == "spec.nodeName" and pod.spec.get("nodeName"):
        return str(pod.spec["nodeName"])
    return Unknown(_LATER.get(name, f"{path} is only set in the cluster"))


def resource_value(pod: Tree, container: Tree, ref: Tree) -> Value:
    """Return the value of a `resourceFieldRef`: for `container`, unless the reference names another one."""
    if named := ref.get("containerName"):
        containers = (*(pod.get("containers") or ()), *(pod.get("initContainers") or ()))
        container = next((found for found in containers if found["name"] == named), container)
    kind, _, resource = ref["resource"].partition(".")
    amount = get(container, ("resources", kind, resource))
    quantity = Quantity.from_json(amount)
    if kind == "limits" and resource in _NODE_RESOURCES and quantity.is_zero:
        pod_limit = Quantity.from_json(get(pod, ("resources", "limits", resource)))
        if pod_limit.is_zero:
            return Unknown(f"without a limit it is the node's {resource}, and the scheduler chooses the node")
        quantity = pod_limit
    divisor = Quantity.from_json(ref.get("divisor"))
    if divisor.is_zero:
        divisor = Quantity(1)
    if resource == "cpu":
        return _ratio(quantity.milli_value(), divisor.milli_value())
    return _ratio(quantity.value(), divisor.value())


def _ratio(amount: int, divisor: int) -> str:
    """Return the amount in units of the divisor, rounded up; the division uses floating point, as in Kubernetes."""
    return str(math.ceil(float(amount) / float(divisor)))
