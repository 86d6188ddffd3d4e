"""Merge two sets of resource requirements, as a TrainJob's resourcesPerNode overrides those of the runtime's container.

Reads two ResourceRequirements; returns a new one in the form of Kubernetes' Go types: with canonical quantities, and
without empty fields.
Source: kubeflow/trainer v2.3.0 and the strategic merge of Kubernetes 1.36; verified against their recorded answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.kubernetes.quantity import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kubernetes.trees import Tree


def merge_resources(base: Tree, override: Tree) -> Tree:
    """Return `base` overridden by `override`: limits and requests resource by resource, claims by name.

    Raises QuantityError for an amount that is not a quantity.
    """
    merged = {
        "limits": _amounts(base.get("limits"), override.get("limits")),
        "requests": _amounts(base.get("requests"), override.get("requests")),
        "claims": _claims(base.get("claims") or [], override.get("claims") or []),
    }
    return {field: value for field, value in merged.items() if value}


def _amounts(base: Mapping[str, Any] | None, override: Mapping[str, Any] | None) -> Tree:
    return {resource: canonical(amount) for resource, amount in {**(base or {}), **(override or {})}.items()}


def _claims(base: list[Tree], override: list[Tree]) -> list[Tree]:
    """Return the claims of both, merged by name, in the order of a strategic merge.

    A claim repeated on one side stays repeated if the other side has no claims; otherwise it is merged into the first.
    """
    claims = [_claim(claim) for claim in base]
    patch = [_claim(claim) for claim in override]
    if not claims or not patch:
        return claims or patch
    for claim in patch:
        place = next((i for i, known in enumerate(claims) if known["name"] == claim["name"]), None)
        if place is None:
            claims.append(claim)
        else:
            claims[place] = {**claims[place], **claim}
    return _in_order(claims, [claim["name"] for claim in base], [claim["name"] for claim in override])


def _claim(claim: Tree) -> Tree:
    request = claim.get("request")
    return {"name": claim.get("name") or "", **({"request": request} if request else {})}


def _in_order(claims: list[Tree], before: list[str], patch: list[str]) -> list[Tree]:
    """Return `claims` in patch order; one that the patch lacks precedes the next patched claim if it did `before`."""
    kept = [claim for claim in claims if claim["name"] not in patch]
    ordered: list[Tree] = []
    for claim in sorted((c for c in claims if c["name"] in patch), key=lambda c: patch.index(c["name"])):
        name = claim["name"]
        while kept and name in before and before.index(kept[0]["name"]) < before.index(name):
            ordered.append(kept.pop(0))
        ordered.append(claim)
    return ordered + kept
