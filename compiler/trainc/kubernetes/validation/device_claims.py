"""Device claims: the ones that a pod declares and the ones that its containers use.

The schema has already rejected duplicate claim names within a pod or a container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import PodViolations, cluster_field, label, required_fields, subdomain
from trainc.kubernetes.violations import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import At, Tree

RESOURCE_CLAIM_MISSING: Final = Declaration("resource-claim-missing", ("job",), "Unknown resource claim", fix="safe")
RESOURCE_CLAIM_SOURCE: Final = Declaration(
    "resource-claim-source", ("job",), "Resource claim without exactly one source"
)

SOURCES: Final = ("resourceClaimName", "resourceClaimTemplateName")


def declared(violations: PodViolations, at: At, claims: list[Tree]) -> None:
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


def used(violations: PodViolations, at: At, claims: list[Tree]) -> None:
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
