"""What a pod asks for as a whole, beside its containers, and the overhead of its runtime class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes import pods
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.validation.findings import Findings, spelled
from trainc.kubernetes.validation.resources import PAGES, faults, thousandths

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

POD_RESOURCES: Final = Declaration(
    "pod-resources", ("job",), "A pod as a whole asks for less than its containers, or for what only they can have"
)


def of_pod(found: Findings, at: At, value: Tree) -> None:
    """The pod's own resources, and those of its containers beside them."""
    limits, requests = value.get("limits") or {}, value.get("requests") or {}
    if wrong := faults(tuple(limits.items()), tuple(requests.items()), of_pod=True):
        from trainc.kubernetes.validation import amounts

        amounts.complain(found, at, value, wrong, whose="pods")
    if "claims" in value:
        from trainc.kubernetes.validation import claims

        message = "the pod as a whole uses resource claims, which only containers can"
        found.complain(POD_RESOURCES, (at, "claims"), message, "write them at the containers that use them")
        claims.used(found, (at, "claims"), value["claims"])
    _together(found, at, value)
    _one_by_one(found, at, limits)


def overhead(found: Findings, at: At, value: Tree) -> None:
    """The overhead of the pod, which the cluster takes for limits of a container."""
    if wrong := faults(tuple(value.items()), ()):
        from trainc.kubernetes.validation import amounts

        amounts.complain(found, at, {"limits": value}, wrong, whose=amounts.OVERHEAD)


def _together(found: Findings, at: At, value: Tree) -> None:
    """All containers' requests together, and their limits on huge pages, against what the pod has."""
    for kind in ("requests", "limits"):
        own = value.get(kind) or {}
        asked = pods.of_containers(_rounded(found.pod), kind) if own else {}
        for name, amount in own.items():
            together = asked.get(name)
            if together is None or (kind == "limits" and not name.startswith(PAGES)):
                continue
            if together.milli_value() > thousandths(amount):
                what = f"the pod's {kind.removesuffix('s')} of {name}"
                found.complain(
                    POD_RESOURCES,
                    ((at, kind), name),
                    f"{what} is {amount}, and its containers together have {together}",
                    f"raise it to {together}, or lower theirs",
                    field=f"{spelled(at, kind)}[{name}]",
                )


def _one_by_one(found: Findings, at: At, limits: Tree) -> None:
    """The limits of each container, of which none may be above the pod's."""
    assert at is not None
    for index, container in enumerate(found.pod.get("containers") or () if limits else ()):
        for name, amount in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and thousandths(amount) > thousandths(limits[name]):
                place = (((((at[0], "containers"), index), "resources"), "limits"), name)
                found.complain(
                    POD_RESOURCES,
                    place,
                    f"the limit of {name} is {amount}, which is above that of the whole pod, {limits[name]}",
                    f"lower it to {limits[name]}, or raise the pod's limit to {amount}",
                    field=f"{spelled(at, 'containers', index)}[{name}].limits",
                    related=(("the pod's limit", ((at, "limits"), name)),),
                )


def _rounded(pod: Tree) -> Tree:
    """A pod whose containers' amounts are rounded as the API server does before it adds them up."""
    made = {}
    for key in pods.CONTAINERS:
        made[key] = [
            container
            | {
                "resources": {
                    kind: {name: Quantity.from_json(amount).round_up(pods.MILLI) for name, amount in some.items()}
                    for kind, some in (container.get("resources") or {}).items()
                    if kind != "claims"
                }
            }
            for container in pod.get(key) or ()
        ]
    return made
