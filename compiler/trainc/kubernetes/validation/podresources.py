"""Pod-level resources, which apply besides those of the containers; the runtime class overhead; device claims.

The schema has already rejected duplicate claim names within a pod or a container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes import pod_resources
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import PodViolations, cluster_field, label, required_fields, subdomain
from trainc.kubernetes.validation.resource_rules import PAGES, faults, thousandths
from trainc.kubernetes.violations import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import At, Tree

POD_RESOURCES: Final = Declaration("pod-resources", ("job",))
RESOURCE_CLAIM_MISSING: Final = Declaration("resource-claim-missing", ("job",), fix="safe")
RESOURCE_CLAIM_SOURCE: Final = Declaration("resource-claim-source", ("job",))
SOURCES: Final = ("resourceClaimName", "resourceClaimTemplateName")


def pod_level_resources(violations: PodViolations, at: At, value: Tree) -> None:
    """Check the pod-level resources, and compare the containers' resources with them."""
    limits, requests = value.get("limits") or {}, value.get("requests") or {}
    if wrong := faults(tuple(limits.items()), tuple(requests.items()), of_pod=True):
        from trainc.kubernetes.validation import resource_messages

        resource_messages.report(violations, at, value, wrong, owner="pods")
    if "claims" in value:
        message = "pod-level resources cannot use resource claims"
        violations.report(POD_RESOURCES, (at, "claims"), message, "move the claims to the containers that use them")
        used_claims(violations, (at, "claims"), value["claims"])
    _check_totals(violations, at, value)
    _check_limits(violations, at, limits)


def overhead(violations: PodViolations, at: At, value: Tree) -> None:
    """Check the pod's overhead, which the API server validates as a container's limits."""
    if wrong := faults(tuple(value.items()), ()):
        from trainc.kubernetes.validation import resource_messages

        resource_messages.report(violations, at, {"limits": value}, wrong, owner=resource_messages.OVERHEAD)


def _check_totals(violations: PodViolations, at: At, value: Tree) -> None:
    """Check that the containers' total requests and huge page limits do not exceed those of the pod."""
    for kind in ("requests", "limits"):
        pod_amounts = value.get(kind) or {}
        totals = pod_resources.containers_amounts(_rounded(violations.pod), kind) if pod_amounts else {}
        for name, amount in pod_amounts.items():
            total = totals.get(name)
            if total is None or (kind == "limits" and not name.startswith(PAGES)):
                continue
            if total.milli_value() > thousandths(amount):
                what = f"the pod's {kind.removesuffix('s')} of {name}"
                violations.report(
                    POD_RESOURCES,
                    ((at, kind), name),
                    f"{what} is {amount}, but the containers' total is {total}",
                    f"raise it to {total}, or lower the containers' {kind}",
                    field=f"{cluster_field(at, kind)}[{name}]",
                )


def _check_limits(violations: PodViolations, at: At, limits: Tree) -> None:
    """Check that no container's limit exceeds the pod's limit."""
    assert at is not None
    for index, container in enumerate(violations.pod.get("containers") or () if limits else ()):
        for name, amount in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and thousandths(amount) > thousandths(limits[name]):
                place = (((((at[0], "containers"), index), "resources"), "limits"), name)
                violations.report(
                    POD_RESOURCES,
                    place,
                    f"limit of {amount} {name} exceeds the pod-level limit of {limits[name]}",
                    f"lower it to {limits[name]}, or raise the pod's limit to {amount}",
                    field=f"{cluster_field(at, 'containers', index)}[{name}].limits",
                    related=(("the pod's limit", ((at, "limits"), name)),),
                )


def _rounded(pod: Tree) -> Tree:
    """Return a pod with the containers' amounts rounded as the API server rounds them before adding them up."""
    rounded = {}
    for key in pod_resources.CONTAINERS:
        rounded[key] = [
            container
            | {
                "resources": {
                    kind: {
                        name: Quantity.from_json(amount).round_up(pod_resources.MILLI)
                        for name, amount in amounts.items()
                    }
                    for kind, amounts in (container.get("resources") or {}).items()
                    if kind != "claims"
                }
            }
            for container in pod.get(key) or ()
        ]
    return rounded


def declared_claims(violations: PodViolations, at: At, claims: list[Tree]) -> None:
    """Check the claims of a pod: each must have exactly one source."""
    for index, claim in enumerate(claims):
        here = (at, index)
        if name := claim.get("name"):
            label(violations, (here, "name"), name)
        else:
            required_fields(violations, here, claim, "name")
        sources = [source for source in SOURCES if source in claim]
        for source in sources:
            subdomain(violations, (here, source), claim[source])
        if len(sources) != 1:
            has = f"both {SOURCES[0]} and" if sources else f"neither {SOURCES[0]} nor"
            message = f"resource claim {shown(name or '')} sets {has} {SOURCES[1]}, but must set exactly one"
            violations.report(
                RESOURCE_CLAIM_SOURCE, here, message, "remove one of them" if sources else "add one of them"
            )


def used_claims(violations: PodViolations, at: At, claims: list[Tree]) -> None:
    """Check the claims that a container uses. The API server's errors name the claim, not its `name`."""
    declared = {name: None for claim in violations.pod.get("resourceClaims") or () if (name := claim.get("name"))}
    missing: list[tuple[At, str]] = []
    for index, claim in enumerate(claims):
        here = (at, index)
        name = claim.get("name")
        if not name:
            violations.report_missing(
                (here, "name"), "use the name of one of the pod's claims", field=cluster_field(here)
            )
            continue
        if request := claim.get("request"):
            label(violations, (here, "request"), request)
        if name not in declared:
            missing.append((here, name))
    if missing:
        _report_missing(violations, missing, declared)


def _report_missing(violations: PodViolations, missing: list[tuple[At, str]], declared: Iterable[str]) -> None:
    from trainc.base.fixes import replaced_name
    from trainc.base.suggestions import KnownNames

    known = KnownNames(declared)
    one = f"{known.use(' and ')}, or " if known else ""
    for at, name in missing:
        near = replaced_name(path_of((at, "name")), name, known)
        help = near or f"{one}add {name} to the pod's resourceClaims"
        message = f"the container uses the resource claim {shown(name)}, which the pod does not declare"
        violations.report(RESOURCE_CLAIM_MISSING, (at, "name"), message, help, field=cluster_field(at))
