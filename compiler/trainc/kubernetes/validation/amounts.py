"""The words for resources that are refused. Imported when some are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes import misnamed, names
from trainc.kubernetes.quantity import Quantity, QuantityError
from trainc.kubernetes.structural.remedies import shown
from trainc.kubernetes.validation.findings import spelled
from trainc.kubernetes.validation.resources import (
    FRACTIONAL_RESOURCE,
    LIMIT_MISSING,
    OF_PODS,
    PAGES,
    REQUEST_ABOVE_LIMIT,
    REQUEST_DIFFERS_FROM_LIMIT,
    RESOURCE_NAME,
    kind_of,
    thousandths,
)
from trainc.kubernetes.violations import OUT_OF_RANGE
from trainc.nearest import nearest

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree
    from trainc.kubernetes.validation.findings import Findings
    from trainc.kubernetes.validation.resources import Fault

MEANT: Final = {
    "cpus": "cpu",
    "cores": "cpu",
    "disk": "ephemeral-storage",
    "gpu": "nvidia.com/gpu",
    "gpus": "nvidia.com/gpu",
    "hugepages": "hugepages-2Mi",
    "mem": "memory",
    "ram": "memory",
    "storage": "ephemeral-storage",
    "tpu": "google.com/tpu",
    "tpus": "google.com/tpu",
}
"""What people write, and what they mean."""
USUAL: Final = ("cpu", "memory", "ephemeral-storage")
OVERHEAD: Final = "overhead"
_LISTS: Final = {"limits": "limit", "requests": "request"}


def complain(found: Findings, at: At, value: Tree, faults: tuple[Fault, ...], *, whose: str = "containers") -> None:
    """Say what is wrong with resources. `value` has limits and requests; that of an overhead is its limits alone."""
    for fault in faults:
        if not fault.kind:
            message = "huge pages are asked for without cpu or memory"
            found.complain(fault.declared, at, message, "add a request or a limit of cpu or memory")
            continue
        amount = str(value[fault.kind][fault.resource])
        here = (at if whose == OVERHEAD else (at, fault.kind), fault.resource)
        if fault.declared in _TOGETHER:
            _beside_limit(found, at, here, fault, amount, str((value.get("limits") or {}).get(fault.resource)))
            continue
        field = f"{spelled(at, fault.kind)}[{fault.resource}]"
        what = f"the {OVERHEAD if whose == OVERHEAD else _LISTS[fault.kind]} of {fault.resource}"
        if fault.declared is RESOURCE_NAME:
            message, help = _name(fault.resource, whose)
            found.complain(fault.declared, here, message, help, field=field, key=True)
        elif fault.declared is OUT_OF_RANGE:
            message = f"{what} is {amount}, and must be at least 0"
            found.complain(fault.declared, here, message, "for example 0", field=field)
        elif fault.declared is FRACTIONAL_RESOURCE:
            message = f"{what} is {amount}, and {fault.resource} comes in whole numbers"
            help = f"for example {max(1, -(-thousandths(amount) // 1000))}"
            found.complain(fault.declared, here, message, help, field=field)
        else:
            message, help = _pages(fault.resource, what, amount)
            found.complain(fault.declared, here, message, help, field=field)


_TOGETHER: Final = (LIMIT_MISSING, REQUEST_ABOVE_LIMIT, REQUEST_DIFFERS_FROM_LIMIT)


def _beside_limit(found: Findings, at: At, here: At, fault: Fault, amount: str, limit: str) -> None:
    """A request that its limit does not allow; the cluster's fields lack the resource."""
    name = fault.resource
    if fault.declared is LIMIT_MISSING:
        message = f"{name} is requested without a limit, and must have one"
        help = f"write it below limits; a request of the same amount follows by itself: {name}: {amount}"
        found.complain(fault.declared, here, message, help, field=spelled(at, "limits"))
        return
    if fault.declared is REQUEST_ABOVE_LIMIT:
        message = f"the request of {name} is {amount}, which is above its limit of {limit}"
        help = f"lower the request to {limit}, or raise the limit to {amount}"
    else:
        message = f"the request of {name} is {amount} and its limit {limit}, and they must be the same"
        help = "write one amount twice, or the limit alone: the request follows by itself"
    related = (("the limit", ((at, "limits"), name)),)
    found.complain(fault.declared, here, message, help, field=spelled(at, "requests"), related=related)


def _name(name: str, whose: str) -> tuple[str, str]:
    """A resource that cannot be asked for: what is wrong with its name, and the way out."""
    meant = MEANT.get(name.lower()) or nearest(name, USUAL, likeness=0.8)
    if meant and (whose != "pods" or meant in OF_PODS):
        help = f"did you mean {meant}?"
    elif name.startswith("requests."):
        help = f"write {name.removeprefix('requests.')}: the prefix is for quotas"
    elif whose == "pods":
        help = "write it at a container: a pod as a whole can ask for cpu, memory and huge pages"
    else:
        help = (
            "write cpu, memory, ephemeral-storage, huge pages of some size, or a device with its domain: nvidia.com/gpu"
        )
    if names.is_qualified_name(name):
        return f"the resource {shown(name)} {misnamed.fault_of_key(name)}", help
    if whose == "pods" and kind_of(name).allowed:
        return f"a pod as a whole cannot ask for {name}", help
    if "/" in name:
        return f"{name} is no name that a device can have", help
    return f"containers cannot ask for {shown(name)}, which is no resource of theirs", help


def _pages(name: str, what: str, amount: str) -> tuple[str, str]:
    """Huge pages in parts, or of no size."""
    size = name.removeprefix(PAGES)
    try:
        page = thousandths(size)
    except QuantityError:
        page = 0
    if page <= 0 or page % 1000:
        return f"{name} names no size of a page", "write one that the nodes have: hugepages-2Mi, hugepages-1Gi"
    count = max(1, -(-thousandths(amount) // page))
    rounded = Quantity(count * page // 1000, 0, Quantity.parse(size).format)
    return f"{what} is {amount}, which is no whole number of pages of {size}", f"for example {rounded}"
