"""Claims of devices: those that a pod declares, and those that its containers use.

Two claims of one name, in a pod or a container, the schema has refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation.findings import Findings, label, required, spelled, subdomain

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

RESOURCE_CLAIM_MISSING: Final = Declaration(
    "resource-claim-missing", ("job",), "A container uses a resource claim that the pod does not have"
)
RESOURCE_CLAIM_SOURCE: Final = Declaration("resource-claim-source", ("job",), "A resource claim has no source, or two")

SOURCES: Final = ("resourceClaimName", "resourceClaimTemplateName")


def declared(found: Findings, at: At, claims: list[Tree]) -> None:
    """The claims of a pod: each of one source."""
    for index, claim in enumerate(claims):
        here = (at, index)
        if name := claim.get("name"):
            label(found, (here, "name"), name)
        else:
            required(found, here, claim, "name")
        sources = [source for source in SOURCES if source in claim]
        for source in sources:
            subdomain(found, (here, source), claim[source])
        if len(sources) != 1:
            from trainc.kubernetes.structural.remedies import shown

            has = f"{SOURCES[0]} and" if sources else f"neither {SOURCES[0]} nor"
            message = f"the claim {shown(name or '')} has {has} {SOURCES[1]}, and must have one of them"
            found.complain(RESOURCE_CLAIM_SOURCE, here, message, "write one of them")


def used(found: Findings, at: At, claims: list[Tree]) -> None:
    """The claims that a container uses. The cluster's fields lack the name."""
    declared = [name for claim in found.pod.get("resourceClaims") or () if (name := claim.get("name"))]
    for index, claim in enumerate(claims):
        here = (at, index)
        name = claim.get("name")
        if not name:
            from trainc.kubernetes.validation import complaints

            complaints.missing(found, (here, "name"), "write that of a claim of the pod", field=spelled(here))
            continue
        if request := claim.get("request"):
            label(found, (here, "request"), request)
        if name not in declared:
            _missing(found, here, name, declared)


def _missing(found: Findings, at: At, name: str, declared: list[str]) -> None:
    from trainc.kubernetes.structural.remedies import listed, shown
    from trainc.nearest import nearest

    near = nearest(name, declared)
    if near:
        help = f"did you mean {near}?"
    elif declared:
        help = f"the pod has {listed(declared)}; add {name} to its resourceClaims"
    else:
        help = f"add {name} to the pod's resourceClaims"
    message = f"the container uses the claim {shown(name)}, which the pod does not have"
    found.complain(RESOURCE_CLAIM_MISSING, (at, "name"), message, help, field=spelled(at))
