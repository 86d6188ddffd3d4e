"""The API server's validation of the volume claims that JobSet creates from volumeClaimPolicies.

Reads    a JobSet as it is stored.
Returns  the claim, the violation, whose field is relative to the claim, and the path of the claim's template.
Source   JobSet v0.12.0: a claim has the template's labels, annotations and spec. Kubernetes 1.36: the validation of a
         PersistentVolumeClaim. JobSet's schema and webhook check only the name. Without its claims, the controller
         creates no Jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import ObjectId
from trainc.kubernetes import objectmeta
from trainc.kubernetes.trees import get
from trainc.kubernetes.validation.claimtemplates import claim_spec
from trainc.kubernetes.validation.combinators import PodViolations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree
    from trainc.kubernetes.violations import Violation


def violations(jobset: Tree) -> Iterator[tuple[ObjectId, Violation, Path]]:
    """Yield the violations of each claim; its name is checked by JobSet's webhook (`checks.jobset.claims`)."""
    owner, namespace = (jobset["metadata"].get(key, "") for key in ("name", "namespace"))
    for p, policy in enumerate(jobset["spec"]["volumeClaimPolicies"]):
        for t, template in enumerate(policy.get("templates") or ()):
            metadata = template.get("metadata") or {}
            claim = ObjectId("v1", "PersistentVolumeClaim", namespace, f"{metadata.get('name', '')}-{owner}")
            for violation in _template_violations(metadata, get(template, ("spec",), {})):
                yield claim, violation, ("spec", "volumeClaimPolicies", p, "templates", t)


def _template_violations(metadata: Tree, spec: Tree) -> Iterator[Violation]:
    """Yield the violations of a template's labels, annotations and spec."""
    copied = {key: metadata[key] for key in ("annotations", "labels") if metadata.get(key)}
    if copied:
        yield from objectmeta.check(copied | {"name": "claim"}, namespaced=True)
    found = PodViolations({})
    claim_spec(found, (None, "spec"), spec)
    yield from found.violations
