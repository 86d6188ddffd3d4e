"""Pod resources: requests and limits as the scheduler adds them up, their defaults, and amounts for people.

Reads    a pod spec; the resources of device plugins in schemas/devices.json, each with the number of processes of a
         framework that use one device. A part of an accelerator is an accelerator with an unknown number.
Returns  `requests` and `limits`, an amount for each resource; `defaulted`, the pod spec with its resources as the API
         server stores them. An amount is a quantity, which knows the format in which a sum is written.
         The amounts of resources with a domain, and the accelerators of a container. `amount`, a short text for people,
         rounded to one decimal, or to three significant digits below 100: CPU in cores, memory and storage in Gi or Ti;
         bytes below 1 Mi are exact.
Source   Kubernetes 1.36, component-helpers' resource helpers and the API server's pod defaults; verified against their
         recorded answers. The documentation of the device plugins, as of 2026: NVIDIA k8s-device-plugin 0.18 (MIG and
         time-slicing), AMD, Intel, Gaudi, AWS Neuron (a Neuron device has 2 cores on Trn1 and Inf2, and 8 on Trn2, of
         which a logical core takes one or two), Huawei Ascend, Cambricon, MetaX, Iluvatar, Moore Threads, Hygon and
         Enflame.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_table
from trainc.base.records import NamedTuple
from trainc.kubernetes.quantity import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.kubernetes.trees import Tree

Amounts = dict[str, Quantity]
CONTAINERS: Final = ("containers", "initContainers")
HUGE_PAGES: Final = "hugepages-"
MILLI: Final = -3
"""The API server stores no smaller unit."""
NO_ACCELERATOR: Final = "no accelerator"
MIG: Final = "nvidia.com/mig-"
"""The prefix of the instances into which MIG divides a GPU. CUDA gives a process one of them."""
CORES_OF_NEURON: Final = (1, 2, 4, 8)
"""The numbers of processes that use one Neuron device."""
LARGEST: Final = 10**15
"""The largest amount that is counted."""
EFA: Final = "vpc.amazonaws.com/efa"
"""The network device of AWS, Elastic Fabric Adapter."""
RDMA: Final = "rdma/"
"""The prefix of the devices of InfiniBand and RoCE."""
MI: Final = 2**20
GI: Final = 2**30
TI: Final = 2**40
_EXACT: Final = Context(prec=60, rounding=ROUND_HALF_UP)


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


class Accelerators(NamedTuple):
    """The accelerators of a container, all of one kind."""

    name: str
    """The resource."""
    number: int
    processes: tuple[int, ...]
    """The numbers of processes that use all of them."""


def device_amounts(resources: Tree) -> dict[str, int]:
    """Return the amounts of the resources with a domain that are not zero: the requests, else the limits.

    An amount above `LARGEST` is that.
    """
    found: dict[str, int] = {}
    for key in ("requests", "limits"):
        for name, text in (resources.get(key) or {}).items():
            if "/" in name and name not in found and (amount := Quantity.from_json(text)).sign > 0:
                found[name] = LARGEST if amount > Quantity(LARGEST) else amount.int64()
    return found


def processes(name: str) -> str:
    """Return how many processes of a framework use one device of a resource.

    >>> [processes(name) for name in ("amd.com/gpu", "nvidia.com/mig-1g.5gb", "google.com/tpu", "rdma/hca")]
    ['one', 'one', 'unknown', 'no accelerator']
    """
    found: str = data_table("devices").get(name, NO_ACCELERATOR)
    return "one" if name.startswith(MIG) else found


def is_accelerator(name: str) -> bool:
    """Return whether a resource is an accelerator or a part of one.

    >>> [is_accelerator(name) for name in ("nvidia.com/mig-1g.5gb", "acme.io/gpu", "rdma/hca")]
    [True, True, False]
    """
    return processes(name) != NO_ACCELERATOR or "gpu" in name.lower()


def accelerators(resources: Tree) -> Accelerators | None:
    """Return the accelerators of a container; None without any, and if the number of processes does not follow."""
    if resources.get("claims"):
        return None
    found = [(name, number) for name, number in device_amounts(resources).items() if is_accelerator(name)]
    if len(found) != 1:
        return None
    ((name, number),) = found
    if processes(name) == "one":
        return Accelerators(name, number, (number,))
    several = processes(name) == "several"
    return Accelerators(name, number, tuple(number * cores for cores in CORES_OF_NEURON)) if several else None


def amount(name: str, quantity: Quantity) -> str:
    """Return a quantity as text.

    >>> from trainc.kubernetes.quantity import Quantity
    >>> [amount("cpu", Quantity.parse(text)) for text in ("1580700m", "24678", "250m")]
    ['1580.7', '24678', '0.25']
    >>> [amount("memory", Quantity.parse(text)) for text in ("19552128Mi", "900Gi", "64Mi", "-2Ti")]
    ['18.6Ti', '900Gi', '0.0625Gi', '-2Ti']
    """
    number = Decimal(quantity.mantissa).scaleb(quantity.exponent, _EXACT)
    if not _is_bytes(name):
        return _shown_number(number)
    if abs(number) < MI:
        return str(quantity)
    unit, suffix = (TI, "Ti") if abs(number) >= TI else (GI, "Gi")
    return _shown_number(_EXACT.divide(number, Decimal(unit))) + suffix


def shown_amounts(quantities: Mapping[str, Quantity]) -> Iterator[str]:
    """Yield each resource and its amount, GPUs first: `nvidia.com/gpu=8`, `cpu=64`, `memory=900Gi`."""
    for name in sorted(quantities, key=order):
        yield f"{name}={amount(name, quantities[name])}"


def order(name: str) -> tuple[bool, str]:
    """Return the sort key of a resource: GPUs come first."""
    return "gpu" not in name.lower(), name


def _is_bytes(name: str) -> bool:
    return name in {"memory", "storage", "ephemeral-storage"} or name.startswith("hugepages-")


def _shown_number(number: Decimal) -> str:
    """Return a number with one decimal, or with three significant digits below 100."""
    places = max(1, 2 - number.adjusted()) if number else 0
    text = f"{number.quantize(Decimal(1).scaleb(-places), context=_EXACT):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
