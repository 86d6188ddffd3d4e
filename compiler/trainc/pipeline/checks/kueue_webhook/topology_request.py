"""The rules of Kueue's webhook for the topology that the pods of a replicated job request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.gostrings import parse_bool
from trainc.kubernetes.violations import field_of, listed, shown
from trainc.pipeline.checks.kueue_webhook.annotated_pods import (
    PREFERRED,
    REQUIRED,
    UNCONSTRAINED,
    AnnotatedPods,
    node_label_violations,
    without_domain,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.violations import Violation

TOPOLOGY_REQUEST: Final = Declaration("topology-request", ("kueue",), "Invalid topology request for Kueue")


def violations(pods: AnnotatedPods) -> Iterator[Violation]:
    """Yield the violations of the annotations that request a topology; the pods can have one of them."""
    first, *others = pods.has(REQUIRED, PREFERRED, UNCONSTRAINED) or [""]
    if others:
        yield pods.violation(
            others[0],
            TOPOLOGY_REQUEST,
            f"the pods can have one topology request, but have {listed(map(without_domain, [first, *others]))}",
            "remove all but one of them",
            field=field_of(pods.path),
            of_key=True,
            related=(("the other request", pods.at(first)),),
        )
    yield from node_label_violations(pods, TOPOLOGY_REQUEST, REQUIRED, PREFERRED)
    unconstrained = pods.annotations.get(UNCONSTRAINED, "true")
    if parse_bool(unconstrained) is None:
        message = f"{without_domain(UNCONSTRAINED)} must be a boolean, not {shown(unconstrained)}"
        yield pods.violation(UNCONSTRAINED, TOPOLOGY_REQUEST, message, 'use "true"')
