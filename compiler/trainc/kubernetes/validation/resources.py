"""What containers and pods may ask for: names and amounts of resources, and requests beside limits.

Reads    limits and requests, as they are stored.
Returns  `faults` the faults of both together, as values that are kept: thousands of containers ask for the same.
         `amounts` has the words for them.
Source   Kubernetes 1.36: the validation of resource requirements. Amounts are rounded up to thousandths before.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from trainc.declarations import Declaration
from trainc.kubernetes import names
from trainc.kubernetes.quantity import Quantity, QuantityError
from trainc.kubernetes.violations import OUT_OF_RANGE
from trainc.records import NamedTuple

FRACTIONAL_RESOURCE: Final = Declaration(
    "fractional-resource", ("job",), "A resource that comes in whole numbers is asked for in parts"
)
HUGE_PAGES: Final = Declaration(
    "huge-pages", ("job",), "Huge pages are asked for in parts of a page, or without cpu or memory"
)
LIMIT_MISSING: Final = Declaration(
    "limit-missing", ("job",), "A resource that must have a limit is requested without one"
)
REQUEST_ABOVE_LIMIT: Final = Declaration("request-above-limit", ("job",), "A request is above its limit")
REQUEST_DIFFERS_FROM_LIMIT: Final = Declaration(
    "request-differs-from-limit", ("job",), "A request is not its limit, and the resource asks for that"
)
RESOURCE_NAME: Final = Declaration("resource-name", ("job",), "A resource has a name that cannot be asked for")

PAGES: Final = "hugepages-"
OF_CONTAINERS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
OF_PODS: Final = frozenset({"cpu", "memory"})
COUNTED: Final = frozenset(
    {
        *("configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets"),
        *("services", "services.loadbalancers", "services.nodeports"),
    }
)
"""What quotas count, in whole numbers; nobody can ask for them."""

Listed = tuple[tuple[str, Any], ...]
"""The items of limits or requests."""


class Kind(NamedTuple):
    """What is asked of a resource of some name."""

    allowed: bool = True
    """For containers."""
    whole: bool = False
    """Comes in whole numbers."""
    shared: bool = True
    """More of it may be promised than there is, so that a request may be below its limit."""
    pages: bool = False


class Fault(NamedTuple):
    """One thing that is wrong."""

    declared: Declaration
    kind: str
    """limits or requests; "" for what is wrong with both together."""
    resource: str


@lru_cache(maxsize=1024)
def kind_of(resource: str) -> Kind:
    """What is asked of a resource."""
    good = not names.is_qualified_name(resource)
    if resource.startswith(PAGES):
        return Kind(allowed=good and "/" not in resource, shared=False, pages=True)
    if "/" not in resource:
        return Kind(allowed=resource in OF_CONTAINERS, whole=resource in COUNTED)
    if "kubernetes.io/" in resource:
        return Kind(allowed=good)
    extended = good and not resource.startswith("requests.") and not names.is_qualified_name(f"requests.{resource}")
    return Kind(allowed=extended, whole=extended, shared=False)


@lru_cache(maxsize=4096)
def thousandths(amount: Any) -> int:
    """An amount as the API server keeps it."""
    return Quantity.from_json(amount).milli_value()


@lru_cache(maxsize=1024)
def faults(limits: Listed, requests: Listed, of_pod: bool = False) -> tuple[Fault, ...]:
    """What is wrong with the limits and requests of a container, or with a pod's own."""
    found = [fault for name, amount in limits for fault in _alone("limits", name, amount, of_pod)]
    most = dict(limits)
    for name, amount in requests:
        found += _alone("requests", name, amount, of_pod)
        kind = kind_of(name)
        if name not in most:
            if not kind.shared:
                found.append(Fault(LIMIT_MISSING, "requests", name))
        elif kind.shared and thousandths(amount) > thousandths(most[name]):
            found.append(Fault(REQUEST_ABOVE_LIMIT, "requests", name))
        elif not kind.shared and thousandths(amount) != thousandths(most[name]):
            found.append(Fault(REQUEST_DIFFERS_FROM_LIMIT, "requests", name))
    asked = most.keys() | dict(requests).keys()
    if not asked & OF_PODS and any(name.startswith(PAGES) for name in asked):
        found.append(Fault(HUGE_PAGES, "", ""))
    return tuple(found)


def _alone(kind: str, name: str, amount: Any, of_pod: bool) -> list[Fault]:
    """What is wrong with one amount, whatever the others are."""
    if name in OF_PODS and thousandths(amount) >= 0:
        return []
    asked, milli = kind_of(name), thousandths(amount)
    allowed = asked.allowed and (not of_pod or asked.pages or name in OF_PODS)
    wrong = {
        RESOURCE_NAME: not allowed,
        OUT_OF_RANGE: milli < 0,
        FRACTIONAL_RESOURCE: asked.whole and milli % 1000,
        HUGE_PAGES: asked.pages and not _whole_pages(name, milli),
    }
    return [Fault(declared, kind, name) for declared, is_wrong in wrong.items() if is_wrong]


def _whole_pages(name: str, milli: int) -> bool:
    """Whether an amount is a number of pages of the size that is in the resource's name."""
    try:
        size = thousandths(name.removeprefix(PAGES))
    except QuantityError:
        return False
    return size > 0 and size % 1000 == 0 and -(-milli // 1000) % (size // 1000) == 0
