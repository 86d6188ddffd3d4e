"""Messages about invalid resources. Imported when one is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.data import data_table
from trainc.base.fixes import addition, rename, safe_if
from trainc.base.suggestions import PLAIN_RESOURCES, is_certain, nearest_name
from trainc.kubernetes import names
from trainc.kubernetes.quantity import Quantity, QuantityError
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import cluster_field
from trainc.kubernetes.validation.resource_rules import (
    FRACTIONAL_RESOURCE,
    LIMIT_MISSING,
    MOST,
    OF_PODS,
    PAGES,
    REQUEST_ABOVE_LIMIT,
    REQUEST_DIFFERS_FROM_LIMIT,
    RESOURCE_NAME,
    kind_of,
    thousandths,
)
from trainc.kubernetes.violations import OUT_OF_RANGE, shown

if TYPE_CHECKING:
    from trainc.base.fixes import Fix
    from trainc.kubernetes.trees import At, Path, Tree
    from trainc.kubernetes.validation.combinators import PodViolations
    from trainc.kubernetes.validation.resource_rules import ResourceFault

OVERHEAD: Final = "overhead"
_EXACT: Final = frozenset({"cores", "cpus", "gpu", "gpus", "mem", "ram", "tpu", "tpus"})
"""The words that mean one resource; storage can be a volume, and huge pages have several sizes."""
_LISTS: Final = {"limits": "limit", "requests": "request"}


def report(
    violations: PodViolations, at: At, value: Tree, faults: tuple[ResourceFault, ...], *, owner: str = "containers"
) -> None:
    """Report invalid resources. `value` has limits and requests; an overhead is passed as limits only."""
    for fault in faults:
        if not fault.kind:
            message = "huge pages are requested without cpu or memory"
            violations.report(fault.declared, at, message, "add a request or a limit of cpu or memory")
            continue
        amount = str(value[fault.kind][fault.resource])
        here = (at if owner == OVERHEAD else (at, fault.kind), fault.resource)
        if fault.declared in _COMBINED:
            _request_and_limit(violations, at, here, fault, amount, value.get("limits") or {})
            continue
        field = f"{cluster_field(at, fault.kind)}[{fault.resource}]"
        subject = f"the {OVERHEAD if owner == OVERHEAD else _LISTS[fault.kind]} of {fault.resource}"
        if fault.declared is RESOURCE_NAME:
            message, help = _name(fault.resource, owner, path_of(here))
            violations.report(fault.declared, here, message, help, field=field, key=True)
        elif fault.declared is OUT_OF_RANGE:
            message = f"{subject} must be at least 0, not {amount}"
            violations.report(fault.declared, here, message, "use 0 or more", field=field)
        elif fault.declared is FRACTIONAL_RESOURCE and thousandths(amount) >= MOST:
            message = f"{subject} is too large for the API server's integers: {amount}"
            violations.report(fault.declared, here, message, f"use at most {MOST // 1000}", field=field)
        elif fault.declared is FRACTIONAL_RESOURCE:
            message = f"{subject} must be an integer, not {amount}"
            help = f"use an integer, for example {max(1, -(-thousandths(amount) // 1000))}"
            violations.report(fault.declared, here, message, help, field=field)
        else:
            message, help = _pages(fault.resource, subject, amount)
            violations.report(fault.declared, here, message, help, field=field)


_COMBINED: Final = (LIMIT_MISSING, REQUEST_ABOVE_LIMIT, REQUEST_DIFFERS_FROM_LIMIT)


def _request_and_limit(
    violations: PodViolations, at: At, here: At, fault: ResourceFault, amount: str, limits: Tree
) -> None:
    """Report a request that conflicts with its limit; the API server's fields omit the resource."""
    name, limit = fault.resource, str(limits.get(fault.resource))
    if fault.declared is LIMIT_MISSING:
        message = f"{name} is requested without a limit, which is required"
        title = f"add {name}: {amount} to limits; the request defaults to the limit"
        place, same = path_of((at, "limits")), int(amount) if amount.isdecimal() else amount
        fix = addition((*place, name), same, title) if limits else addition(place, {name: same}, title)
        violations.report(fault.declared, here, message, fix, field=cluster_field(at, "limits"))
        return
    if fault.declared is REQUEST_ABOVE_LIMIT:
        message = f"request of {amount} {name} exceeds the limit of {limit}"
        help = f"lower the request to {limit}, or raise the limit to {amount}"
    else:
        message = f"request of {amount} {name} must equal the limit of {limit}"
        help = "set both to one amount, or set only the limit; the request defaults to it"
    related = (("the limit", ((at, "limits"), name)),)
    violations.report(fault.declared, here, message, help, field=cluster_field(at, "requests"), related=related)


def _name(name: str, owner: str, path: Path) -> tuple[str, str | Fix]:
    """Return the message and the help for an invalid resource name."""
    meant = data_table("synonyms")["resources"].get(name.lower())
    correction = meant or nearest_name(name, PLAIN_RESOURCES, likeness=0.8)
    help: str | Fix
    if correction and (owner != "pods" or correction in OF_PODS):
        certain = name.lower() in _EXACT or is_certain(name, correction, PLAIN_RESOURCES)
        help = rename(path, correction, applicability=safe_if(certain))
    elif name.startswith("requests."):
        help = f"use {name.removeprefix('requests.')}; the prefix is for quotas"
    elif owner == "pods":
        help = "move it to a container; pod-level resources can be cpu, memory and huge pages"
    else:
        help = (
            "use cpu, memory, ephemeral-storage, huge pages such as hugepages-2Mi, or a device with its domain, "
            "such as nvidia.com/gpu"
        )
    if names.qualified_name_errors(name):
        return f"resource {shown(name)} {names.fault_of_key(name)}", help
    if owner == "pods" and kind_of(name).allowed:
        return f"{name} is not allowed in pod-level resources", help
    if "/" in name:
        return f"{name} is not a valid device name", help
    return f"{shown(name)} is not a container resource", help


def _pages(name: str, subject: str, amount: str) -> tuple[str, str]:
    """Return the message and the help for a fraction of a huge page or an invalid page size."""
    size = name.removeprefix(PAGES)
    try:
        page = thousandths(size)
    except QuantityError:
        page = 0
    if page <= 0 or page % 1000:
        return f"{name} has no valid page size", "use a page size of the nodes, such as hugepages-2Mi or hugepages-1Gi"
    count = max(1, -(-thousandths(amount) // page))
    rounded = Quantity(count * page // 1000, 0, Quantity.parse(size).format)
    return f"{subject} must be a multiple of {size}, not {amount}", f"use a multiple of {size}, for example {rounded}"
