"""The API server's rules for resources: their names and amounts, and requests compared with limits.

Reads    limits and requests, as they are stored.
Returns  the faults of both, as cached values: thousands of containers have the same resources. `resource_messages` has
         the messages.
Source   Kubernetes 1.36: the validation of resource requirements. Amounts are first rounded up to thousandths.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.kubernetes import names
from trainc.kubernetes.quantity import Quantity, QuantityError
from trainc.kubernetes.violations import OUT_OF_RANGE

FRACTIONAL_RESOURCE: Final = Declaration("fractional-resource", ("job",))
HUGE_PAGES: Final = Declaration("huge-pages", ("job",))
LIMIT_MISSING: Final = Declaration("limit-missing", ("job",), fix="unsafe")
REQUEST_ABOVE_LIMIT: Final = Declaration("request-above-limit", ("job",), fix="unsafe")
REQUEST_DIFFERS_FROM_LIMIT: Final = Declaration("request-differs-from-limit", ("job",))
RESOURCE_NAME: Final = Declaration("resource-name", ("job",), fix="safe")

PAGES: Final = "hugepages-"
OF_CONTAINERS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
OF_PODS: Final = frozenset({"cpu", "memory"})
COUNTED: Final = frozenset(
    {
        *("configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets"),
        *("services", "services.loadbalancers", "services.nodeports"),
    }
)
"""The object counts of quotas, which are integers; no container can request them."""

MOST: Final = 2**63
"""The first number of thousandths that overflows."""

ResourceItems = tuple[tuple[str, Any], ...]
"""The items of limits or requests."""


class ResourceRules(NamedTuple):
    """The rules for a resource name."""

    allowed: bool = True
    """Whether a container can request the resource."""
    whole: bool = False
    """Whether amounts must be integers."""
    shared: bool = True
    """Whether the resource can be overcommitted, so that a request may be below its limit."""
    pages: bool = False


class ResourceFault(NamedTuple):
    """One invalid resource."""

    declared: Declaration
    kind: str
    """limits or requests; "" for a fault of both together."""
    resource: str


@lru_cache(maxsize=1024)
def kind_of(resource: str) -> ResourceRules:
    """Return the rules for a resource name."""
    valid = not names.qualified_name_errors(resource)
    if resource.startswith(PAGES):
        return ResourceRules(allowed=valid and "/" not in resource, shared=False, pages=True)
    if "/" not in resource:
        return ResourceRules(allowed=resource in OF_CONTAINERS, whole=resource in COUNTED)
    if "kubernetes.io/" in resource:
        return ResourceRules(allowed=valid)
    extended = (
        valid and not resource.startswith("requests.") and not names.qualified_name_errors(f"requests.{resource}")
    )
    return ResourceRules(allowed=extended, whole=extended, shared=False)


@lru_cache(maxsize=4096)
def thousandths(amount: Any) -> int:
    """Return an amount in thousandths, as the API server stores it."""
    return Quantity.from_json(amount).milli_value()


def _milli_value(amount: Any) -> int:
    """Return a large amount in thousandths as the API server calculates them, in 64 bits."""
    return Quantity.from_json(amount).round_up(-3).int64(-3)


@lru_cache(maxsize=1024)
def faults(limits: ResourceItems, requests: ResourceItems, of_pod: bool = False) -> tuple[ResourceFault, ...]:
    """Return the faults of a container's limits and requests, or of pod-level ones."""
    found = [fault for name, amount in limits for fault in _amount_faults("limits", name, amount, of_pod)]
    limit_of = dict(limits)
    for name, amount in requests:
        found += _amount_faults("requests", name, amount, of_pod)
        kind = kind_of(name)
        if name not in limit_of:
            if not kind.shared:
                found.append(ResourceFault(LIMIT_MISSING, "requests", name))
        elif kind.shared and thousandths(amount) > thousandths(limit_of[name]):
            found.append(ResourceFault(REQUEST_ABOVE_LIMIT, "requests", name))
        elif not kind.shared and thousandths(amount) != thousandths(limit_of[name]):
            found.append(ResourceFault(REQUEST_DIFFERS_FROM_LIMIT, "requests", name))
    requested = limit_of.keys() | dict(requests).keys()
    if not requested & OF_PODS and any(name.startswith(PAGES) for name in requested):
        found.append(ResourceFault(HUGE_PAGES, "", ""))
    return tuple(found)


def _amount_faults(kind: str, name: str, amount: Any, of_pod: bool) -> list[ResourceFault]:
    """Return the faults of one amount, regardless of the others."""
    if name in OF_PODS and thousandths(amount) >= 0:
        return []
    rules, milli = kind_of(name), thousandths(amount)
    allowed = rules.allowed and (not of_pod or rules.pages or name in OF_PODS)
    wrong = {
        RESOURCE_NAME: not allowed,
        OUT_OF_RANGE: milli < 0,
        FRACTIONAL_RESOURCE: rules.whole and (milli if milli < MOST else _milli_value(amount)) % 1000,
        HUGE_PAGES: rules.pages and not _whole_pages(name, milli),
    }
    return [ResourceFault(declared, kind, name) for declared, is_wrong in wrong.items() if is_wrong]


def _whole_pages(name: str, milli: int) -> bool:
    """Return whether an amount is a multiple of the page size in the resource's name."""
    try:
        size = thousandths(name.removeprefix(PAGES))
    except QuantityError:
        return False
    return size > 0 and size % 1000 == 0 and -(-milli // 1000) % (size // 1000) == 0
