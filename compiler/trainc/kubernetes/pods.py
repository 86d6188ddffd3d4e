"""What a pod asks of the cluster: its requests and limits as the scheduler adds them up, and their defaults.

Reads a pod spec; `requests` and `limits` return an amount for each resource, `defaulted` a pod spec as the API server
stores it, as far as resources go. There the amounts are quantities, which know more than their texts: in which format
a sum is written.
Source: Kubernetes 1.36, component-helpers' resource helpers and the API server's defaults of pods; proved against their
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
"""The API server keeps nothing smaller."""


def requests(pod: Tree) -> Amounts:
    """What a pod needs on its node: its containers' requests or the pod's own, and the overhead of its runtime class.

    >>> gpu = {"name": "node", "resources": {"requests": {"cpu": "4", "nvidia.com/gpu": 1}}}
    >>> proxy = {"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}}
    >>> {name: str(q) for name, q in requests({"containers": [gpu], "initContainers": [proxy]}).items()}
    {'cpu': '4500m', 'nvidia.com/gpu': '1'}
    """
    return total(_of_containers_or_pod(pod, "requests"), amounts(pod.get("overhead")))


def limits(pod: Tree) -> Amounts:
    """What a pod may use at most; the overhead counts where there is a limit that is not zero."""
    found = _of_containers_or_pod(pod, "limits")
    overhead = amounts(pod.get("overhead"))
    return total(found, {name: q for name, q in overhead.items() if name in found and not found[name].is_zero})


def amounts(resources: Mapping[str, Any] | None) -> Amounts:
    """The quantities of a list of resources; raises QuantityError."""
    return {
        name: amount if isinstance(amount, Quantity) else Quantity.from_json(amount)
        for name, amount in (resources or {}).items()
    }


def total(some: Amounts, more: Amounts) -> Amounts:
    """The sum, resource by resource."""
    return some | {name: some[name].add(q) if name in some else q for name, q in more.items()}


def defaulted(pod: Tree) -> Tree:
    """The pod spec with the API server's defaults: requests filled from limits, all rounded up to milli."""
    filled = dict(pod)
    for key in CONTAINERS:
        if pod.get(key):
            filled[key] = [_with_resources(container, _requests_from_limits(container)) for container in pod[key]]
    if pod.get("resources"):
        filled = _with_resources(filled, _of_pod(filled))
    for key in CONTAINERS:
        if filled.get(key):
            filled[key] = [_with_resources(container, _rounded_all(container)) for container in filled[key]]
    if pod.get("overhead"):
        filled["overhead"] = _rounded(amounts(pod["overhead"]))
    return _with_resources(filled, _rounded_all(filled)) if filled.get("resources") else filled


def _of_containers_or_pod(pod: Tree, kind: str) -> Amounts:
    """The containers' requests (or limits) together; where the pod has its own, and may, these instead."""
    own = {name: q for name, q in amounts((pod.get("resources") or {}).get(kind)).items() if _is_of_pods(name)}
    return of_containers(pod, kind) | own


def of_containers(pod: Tree, kind: str) -> Amounts:
    """The most that the containers ask for at a time.

    Init containers run one after another, before the containers; the restartable ones among them stay, and are there
    for whatever comes after them.
    """
    running = reduce(total, (_asked(container, kind) for container in pod.get("containers") or []), Amounts())
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.get("initContainers") or []:
        asked = _asked(container, kind)
        if container.get("restartPolicy") == "Always":
            running = total(running, asked)
            sidecars = total(sidecars, asked)
            peak = _larger(peak, sidecars)
        else:
            peak = _larger(peak, total(asked, sidecars))
    return _larger(running, peak)


def _asked(container: Tree, kind: str) -> Amounts:
    return amounts((container.get("resources") or {}).get(kind))


def _larger(some: Amounts, others: Amounts) -> Amounts:
    """The larger amount of each resource; the first one's where they are equal, for its way of being written."""
    return some | {name: q for name, q in others.items() if name not in some or q > some[name]}


def _is_of_pods(resource: str) -> bool:
    """Whether a pod as a whole can ask for the resource."""
    return resource in ("cpu", "memory") or resource.startswith(HUGE_PAGES)


def _requests_from_limits(container: Tree) -> dict[str, Amounts]:
    limits = _asked(container, "limits")
    return {"limits": limits, "requests": limits | _asked(container, "requests")}


def _of_pod(pod: Tree) -> dict[str, Amounts]:
    """The pod's own resources with their defaults; its containers have theirs already.

    Limits on huge pages are the containers' together, unless the pod requests some. With any limits, requests are the
    containers' together, and where these ask for nothing, the limits; for huge pages always the limits.
    """
    limits, requests = _asked(pod, "limits"), _asked(pod, "requests")
    if limits or requests:
        pages = {name: q for name, q in of_containers(pod, "limits").items() if name.startswith(HUGE_PAGES)}
        limits = {name: q for name, q in pages.items() if name not in requests} | limits
    if limits:
        together = {n: q for n, q in of_containers(pod, "requests").items() if n in ("cpu", "memory")}
        requests = {name: q for name, q in limits.items() if _is_of_pods(name)} | together | requests
    return {"limits": limits, "requests": requests}


def _rounded_all(holder: Tree) -> dict[str, Amounts]:
    return {kind: _rounded(_asked(holder, kind)) for kind in ("limits", "requests")}


def _rounded(resources: Amounts) -> Amounts:
    return {name: quantity.round_up(MILLI) for name, quantity in resources.items()}


def _with_resources(holder: Tree, changed: Mapping[str, Amounts]) -> Tree:
    """A container or a pod spec with other limits and requests; without those that are empty."""
    kept = {key: value for key, value in (holder.get("resources") or {}).items() if key not in changed}
    return holder | {"resources": kept | {kind: some for kind, some in changed.items() if some}}
