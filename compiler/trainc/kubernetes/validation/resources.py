"""What containers and pods may ask for: names and amounts of resources, and requests beside limits.

Reads    limits and requests, as they are stored.
Returns  `faults` the faults of both together, as values that are kept: thousands of containers ask for the same.
         `amounts` has the words for them, and is imported with the first one.
Source   Kubernetes 1.36: the validation of resource requirements. Amounts are rounded up to thousandths before.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes import names
from trainc.kubernetes.quantity import Quantity, QuantityError
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.validation.findings import At, Findings

TITLES: Final[dict[str, str]] = {
    "fractional-resource": "A resource that comes in whole numbers is asked for in parts",
    "huge-pages": "Huge pages are asked for in parts of a page, or without cpu or memory",
    "limit-missing": "A resource that must have a limit is requested without one",
    "request-above-limit": "A request is above its limit",
    "request-differs-from-limit": "A request is not its limit, and the resource asks for that",
    "resource-name": "A resource has a name that cannot be asked for",
}

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

    rule: str
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
                found.append(Fault("limit-missing", "requests", name))
        elif kind.shared and thousandths(amount) > thousandths(most[name]):
            found.append(Fault("request-above-limit", "requests", name))
        elif not kind.shared and thousandths(amount) != thousandths(most[name]):
            found.append(Fault("request-differs-from-limit", "requests", name))
    asked = most.keys() | dict(requests).keys()
    if not asked & OF_PODS and any(name.startswith(PAGES) for name in asked):
        found.append(Fault("huge-pages", "", ""))
    return tuple(found)


def _alone(kind: str, name: str, amount: Any, of_pod: bool) -> list[Fault]:
    """What is wrong with one amount, whatever the others are."""
    if name in OF_PODS and thousandths(amount) >= 0:
        return []
    asked, milli = kind_of(name), thousandths(amount)
    allowed = asked.allowed and (not of_pod or asked.pages or name in OF_PODS)
    wrong = {
        "resource-name": not allowed,
        "out-of-range": milli < 0,
        "fractional-resource": asked.whole and milli % 1000,
        "huge-pages": asked.pages and not _whole_pages(name, milli),
    }
    return [Fault(rule, kind, name) for rule, is_wrong in wrong.items() if is_wrong]


def _whole_pages(name: str, milli: int) -> bool:
    """Whether an amount is a number of pages of the size that is in the resource's name."""
    try:
        size = thousandths(name.removeprefix(PAGES))
    except QuantityError:
        return False
    return size > 0 and size % 1000 == 0 and -(-milli // 1000) % (size // 1000) == 0


def of_container(found: Findings, at: At, value: Tree) -> None:
    """A container's resources."""
    limits, requests = value.get("limits") or {}, value.get("requests") or {}
    if wrong := faults(tuple(limits.items()), tuple(requests.items())):
        from trainc.kubernetes.validation import amounts

        amounts.complain(found, at, value, wrong)
    if "claims" in value:
        from trainc.kubernetes.validation import claims

        claims.used(found, (at, "claims"), value["claims"])
