"""Pod resources: the requests and limits as the scheduler adds them up, and their defaults.

Reads a pod spec. `requests` and `limits` return an amount for each resource; `defaulted` returns the pod spec with its
resources as the API server stores them. Amounts are quantities, because a quantity knows more than its text: the format
in which a sum is written.
Source: Kubernetes 1.36, component-helpers' resource helpers and the API server's pod defaults; verified against their
recorded answers.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.quantity import Quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kubernetes.trees import Tree

Amounts = dict[str, Quantity]

CONTAINERS: Final = ("containers", "initContainers")
HUGE_PAGES: Final = "hugepages-"
MILLI: Final = -3
"""The API server stores no smaller unit."""


def requests(pod: Tree) -> Amounts:
    """Return a pod's needs on its node: its containers' requests or its own, plus the overhead of its runtime class.

    >>> gpu = {"name": "node", "resources": {"requests": {"cpu": "4", "nvidia.com/gpu": 1}}}
    >>> proxy = {"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}}
    >>> {name: str(q) for name, q in requests({"containers": [gpu], "initContainers": [proxy]}).items()}
    {'cpu': '4500m', 'nvidia.com/gpu': '1'}
    """
    return total(_containers_or_pod_amounts(pod, "requests"), amounts(pod.get("overhead")))


def limits(pod: Tree) -> Amounts:
    """Return a pod's limits; overhead is added where there is a limit that is not zero."""
    found = _containers_or_pod_amounts(pod, "limits")
    overhead = amounts(pod.get("overhead"))
    return total(found, {name: q for name, q in overhead.items() if name in found and not found[name].is_zero})


def amounts(resources: Mapping[str, Any] | None) -> Amounts:
    """Return the quantities of a resource list; raises QuantityError."""
    return {
        name: amount if isinstance(amount, Quantity) else Quantity.from_json(amount)
        for name, amount in (resources or {}).items()
    }


def total(some: Amounts, more: Amounts) -> Amounts:
    """Return the sum, resource by resource."""
    return some | {name: some[name].add(q) if name in some else q for name, q in more.items()}


def defaulted(pod: Tree) -> Tree:
    """Return the pod spec with the API server's defaults: requests filled from limits, all rounded up to milli."""
    filled = dict(pod)
    for key in CONTAINERS:
        if pod.get(key):
            filled[key] = [_with_resources(container, _requests_from_limits(container)) for container in pod[key]]
    if pod.get("resources"):
        filled = _with_resources(filled, _pod_resources(filled))
    for key in CONTAINERS:
        if filled.get(key):
            filled[key] = [_with_resources(container, _rounded_all(container)) for container in filled[key]]
    if pod.get("overhead"):
        filled["overhead"] = _rounded(amounts(pod["overhead"]))
    return _with_resources(filled, _rounded_all(filled)) if filled.get("resources") else filled


def _containers_or_pod_amounts(pod: Tree, kind: str) -> Amounts:
    """Return the sum of the containers' requests (or limits), replaced by the pod's own for pod-level resources."""
    own = {name: q for name, q in amounts((pod.get("resources") or {}).get(kind)).items() if _is_of_pods(name)}
    return containers_amounts(pod, kind) | own


def containers_amounts(pod: Tree, kind: str) -> Amounts:
    """Return the maximum that the containers request at the same time.

    Init containers run one after another, before the containers. Restartable init containers keep running, so their
    requests also count for all later containers.
    """
    running = reduce(
        total, (_resource_amounts(container, kind) for container in pod.get("containers") or []), Amounts()
    )
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.get("initContainers") or []:
        requested = _resource_amounts(container, kind)
        if container.get("restartPolicy") == "Always":
            running = total(running, requested)
            sidecars = total(sidecars, requested)
            peak = _maximum(peak, sidecars)
        else:
            peak = _maximum(peak, total(requested, sidecars))
    return _maximum(running, peak)


def _resource_amounts(container: Tree, kind: str) -> Amounts:
    return amounts((container.get("resources") or {}).get(kind))


def _maximum(some: Amounts, others: Amounts) -> Amounts:
    """Return the larger amount of each resource; of equal amounts the first one, for its format."""
    return some | {name: q for name, q in others.items() if name not in some or q > some[name]}


def _is_of_pods(resource: str) -> bool:
    """Whether a pod can request the resource at pod level."""
    return resource in ("cpu", "memory") or resource.startswith(HUGE_PAGES)


def _requests_from_limits(container: Tree) -> dict[str, Amounts]:
    limits = _resource_amounts(container, "limits")
    return {"limits": limits, "requests": limits | _resource_amounts(container, "requests")}


def _pod_resources(pod: Tree) -> dict[str, Amounts]:
    """Return the pod's own resources with their defaults; its containers must already have theirs.

    Limits on huge pages default to the containers' total, unless the pod requests some. If there are any limits,
    requests default to the containers' total, or to the limits if that is empty; for huge pages always to the limits.
    """
    limits, requests = _resource_amounts(pod, "limits"), _resource_amounts(pod, "requests")
    if limits or requests:
        pages = {name: q for name, q in containers_amounts(pod, "limits").items() if name.startswith(HUGE_PAGES)}
        limits = {name: q for name, q in pages.items() if name not in requests} | limits
    if limits:
        together = {n: q for n, q in containers_amounts(pod, "requests").items() if n in ("cpu", "memory")}
        requests = {name: q for name, q in limits.items() if _is_of_pods(name)} | together | requests
    return {"limits": limits, "requests": requests}


def _rounded_all(holder: Tree) -> dict[str, Amounts]:
    return {kind: _rounded(_resource_amounts(holder, kind)) for kind in ("limits", "requests")}


def _rounded(resources: Amounts) -> Amounts:
    return {name: quantity.round_up(MILLI) for name, quantity in resources.items()}


def _with_resources(holder: Tree, changed: Mapping[str, Amounts]) -> Tree:
    """Return a container or pod spec with other limits and requests, without empty ones."""
    kept = {key: value for key, value in (holder.get("resources") or {}).items() if key not in changed}
    return holder | {"resources": kept | {kind: some for kind, some in changed.items() if some}}
