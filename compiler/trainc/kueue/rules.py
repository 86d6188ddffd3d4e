"""The API server's rules for Kueue's objects beyond their schemas.

Reads    the spec of a valid ClusterQueue, Cohort or ResourceFlavor.
Returns  violations, at paths in the object.
Source   Kueue v0.19: the CEL rules of its CRDs and its webhooks (pkg/webhooks), for the fields that trainc reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.quantity import Quantity, QuantityError
from trainc.kubernetes.violations import QUANTITY, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree

QUEUE_QUOTA: Final = Declaration("queue-quota", ("schema",), severity="warning")
FLAVOR_TOLERATION: Final = Declaration("flavor-toleration", ("schema",), severity="warning")

GROUPS: Final = ("spec", "resourceGroups")
QUOTAS: Final = ("nominalQuota", "borrowingLimit", "lendingLimit")
ZERO: Final = Quantity(0)


def violations(kind: str, spec: Tree) -> Iterator[Violation]:
    """Yield the violations of an object whose fields have the right types."""
    if kind == "ResourceFlavor":
        yield from _flavor(spec)
    elif kind in ("ClusterQueue", "Cohort"):
        parent = any(spec.get(key) for key in ("cohortName", "cohort", "parentName", "parent"))
        word = "cohortName" if kind == "ClusterQueue" else "parentName"
        yield from _repeated(spec)
        for i, group in enumerate(spec.get("resourceGroups") or ()):
            for j, flavor in enumerate(group["flavors"]):
                path = (*GROUPS, i, "flavors", j)
                yield from _resources(path, flavor, group["coveredResources"])
                for k, resource in enumerate(flavor["resources"]):
                    yield from _quota((*path, "resources", k), resource, "" if parent else word, kind)


def _repeated(spec: Tree) -> Iterator[Violation]:
    """Allow each resource and each flavor in one group only."""
    seen: set[tuple[str, str]] = set()
    for i, group in enumerate(spec.get("resourceGroups") or ()):
        named: list[tuple[str, str, Path]] = [
            ("resource", name, ("coveredResources", j)) for j, name in enumerate(group["coveredResources"])
        ]
        named += [("flavor", flavor["name"], ("flavors", j, "name")) for j, flavor in enumerate(group["flavors"])]
        for word, name, there in named:
            if (word, name) in seen:
                message = f"{word} {name} is already in another resource group"
                yield Violation.at((*GROUPS, i, *there), QUEUE_QUOTA, message, "keep it in one resource group")
            seen.add((word, name))


def _resources(path: Path, flavor: Tree, covered: list[str]) -> Iterator[Violation]:
    """Require the quotas of each flavor in the order of coveredResources."""
    names = [resource["name"] for resource in flavor["resources"]]
    if names != covered:
        yield Violation.at(
            (*path, "resources"),
            QUEUE_QUOTA,
            f"flavor {flavor['name']} must have quotas for {', '.join(covered)}, not for {', '.join(names)}",
            "list the resources of coveredResources, in the same order",
        )


def _quota(path: Path, resource: Tree, missing: str, kind: str) -> Iterator[Violation]:
    """Require quotas of at least zero, limits only with a parent, and lending of at most the nominal quota."""
    values: dict[str, Quantity] = {}
    for key in QUOTAS:
        if resource.get(key) is None:
            continue
        try:
            values[key] = Quantity.from_json(resource[key])
        except QuantityError as error:
            yield Violation.at((*path, key), QUANTITY, str(error), "use a quantity such as 8 or 64Gi")
            continue
        if values[key] < ZERO:
            message = f"{key} of {resource['name']} must not be negative: {values[key]}"
            yield Violation.at((*path, key), QUEUE_QUOTA, message, "use 0 or more")
        elif missing and key != "nominalQuota":
            message = f"{key} of {resource['name']} requires a {missing}"
            yield Violation.at((*path, key), QUEUE_QUOTA, message, f"remove it, or set {missing}")
    lending, nominal = values.get("lendingLimit"), values.get("nominalQuota")
    if kind == "ClusterQueue" and lending is not None and nominal is not None and lending > nominal:
        message = f"lendingLimit of {resource['name']} is {lending}, more than the nominalQuota of {nominal}"
        yield Violation.at((*path, "lendingLimit"), QUEUE_QUOTA, message, "lend at most the nominal quota")


def _flavor(spec: Tree) -> Iterator[Violation]:
    """Check the combinations of fields in tolerations, and require a label for a topology."""
    if spec.get("topologyName") and not spec.get("nodeLabels"):
        message = "a flavor with a topologyName requires at least one label in nodeLabels"
        yield Violation.at(("spec", "topologyName"), FLAVOR_TOLERATION, message, "set nodeLabels")
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        path = ("spec", "tolerations", index)
        operator = toleration.get("operator", "Equal")
        message = help = ""
        if not toleration.get("key") and operator != "Exists":
            message, help = "a toleration without a key requires operator Exists", "set a key, or operator: Exists"
        elif operator == "Exists" and toleration.get("value"):
            message, help = "operator Exists must not have a value", "remove the value, or use operator: Equal"
        elif "tolerationSeconds" in toleration and toleration.get("effect") != "NoExecute":
            message, help = "tolerationSeconds requires effect NoExecute", "remove it, or set effect: NoExecute"
        if message:
            yield Violation.at(path, FLAVOR_TOLERATION, message, help)
