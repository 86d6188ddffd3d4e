"""Why a JobSet fits no flavor of its queue, in one sentence with the sums.

Reads    the misfits of the first attempt.
Returns  the reason, with the field of the JobSet and the quotas in the queue's manifest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.records import NamedTuple
from trainc.base.texts import plural
from trainc.diagnostics import Place
from trainc.kubernetes.violations import listed
from trainc.kueue.kueue_objects import text_of

if TYPE_CHECKING:
    from trainc.diagnostics import Document, Path
    from trainc.kueue.flavors import Assignment, Misfit
    from trainc.kueue.kueue_objects import Cluster, ClusterQueue
    from trainc.kueue.podsets import PodSet


class Never(NamedTuple):
    """The reason why a JobSet is never admitted."""

    path: Path
    """The field of the JobSet."""
    message: str
    help: str = ""
    related: tuple[tuple[str, Place], ...] = ()
    """Places in the queue's manifests, each with a label."""


def assignment_reason(queue: ClusterQueue, assignment: Assignment, cluster: Cluster) -> Never:
    """Return the reason for a failed assignment."""
    one, misfits = assignment.failed, assignment.misfits
    assert one is not None
    quotas = [misfit for misfit in misfits if misfit.rule == "quota"]
    first = misfits[0]
    resources = {misfit.resource for misfit in quotas}
    if first.rule == "uncovered":
        message = f"requests {_asked(one, first.resource)} {first.resource}; {first.message}"
        help, path = f"add {first.resource} to the queue's coveredResources, or do not request it", first.resource
    elif len(quotas) == len(misfits) and len(resources) == 1:
        message = _sum(one, quotas)
        help, path = "request less, or raise the quota", first.resource
    else:
        listed = "; ".join(dict.fromkeys(misfit.message for misfit in misfits))
        totals = ", ".join(f"{text_of(m.resource, m.request)} {m.resource}" for m in _first_misfits(quotas))
        message = f"requests {totals}, but {listed}" if totals else f"fits no flavor of the queue: {listed}"
        help, path = _help(misfits), quotas[0].resource if quotas else ""
    return Never(
        _field(one, path),
        f'job "{one.name}" {message}',
        help,
        tuple(_places(queue, misfits, cluster)),
    )


def _sum(one: PodSet, quotas: list[Misfit]) -> str:
    resource, request, before = quotas[0].resource, quotas[0].request, quotas[0].before
    names = listed(misfit.flavor for misfit in quotas)
    most = listed(text_of(resource, misfit.capacity) for misfit in quotas)
    earlier = f" in addition to {text_of(resource, before)} of earlier jobs" if before else ""
    word = "flavor" if len(quotas) == 1 else "flavors"
    gives = "gives" if len(quotas) == 1 else "give"
    each = one.each.get(resource)
    pods = f" ({plural(one.pods, 'pod')} of {text_of(resource, each)})" if each and one.pods > 1 else ""
    return (
        f"requests {text_of(resource, request)} {resource}{pods}{earlier}; the queue's {word} {names} {gives} at most "
        f"{most}"
    )


def _first_misfits(quotas: list[Misfit]) -> list[Misfit]:
    """Return the first misfit of each resource."""
    return list({misfit.resource: misfit for misfit in reversed(quotas)}.values())[::-1]


def _help(misfits: tuple[Misfit, ...]) -> str:
    rules = {misfit.rule for misfit in misfits}
    if rules == {"taint"}:
        return "add the toleration to the ResourceFlavor, which adds it to the pods"
    if rules == {"labels"}:
        return "change the node selector or affinity to match a flavor's labels"
    if rules == {"topology"}:
        return "use a queue whose flavors have a topology, or change the annotation"
    return "request less, raise a quota, or use another queue"


def _asked(one: PodSet, resource: str) -> str:
    return text_of(resource, one.requests.get(resource, 0))


def _field(one: PodSet, resource: str) -> Path:
    """Return the first request or limit of a resource in a pod set, else its pod spec."""
    for key in ("containers", "initContainers"):
        for index, container in enumerate(one.given.get(key) or ()):
            resources = container.get("resources") or {}
            for kind in ("requests", "limits"):
                if resource in (resources.get(kind) or {}):
                    return (*one.path, key, index, "resources", kind, resource)
    return one.path


def _places(queue: ClusterQueue, misfits: tuple[Misfit, ...], cluster: Cluster) -> list[tuple[str, Place]]:
    """Return the first place in the queue's manifests for each flavor; at most three."""
    found: dict[tuple[str, str], tuple[str, Place]] = {}
    for misfit in misfits:
        quota = queue.node.quotas.get((misfit.flavor, misfit.resource))
        if misfit.rule == "quota" and quota is not None:
            found.setdefault((misfit.flavor, misfit.rule), (f"the quota of flavor {misfit.flavor}", quota.place))
        elif misfit.rule == "uncovered" and queue.groups:
            found.setdefault(("", misfit.rule), ("the covered resources", queue.groups[0].place))
        elif misfit.flavor:
            key = {"taint": "nodeTaints", "labels": "nodeLabels"}.get(misfit.rule, "topologyName")
            place = nearest_field(cluster.flavors[misfit.flavor].document, "spec", key)
            found.setdefault((misfit.flavor, misfit.rule), (f"flavor {misfit.flavor}", place))
    return list(found.values())[:3] or [("the queue", nearest_field(queue.node.document, "spec"))]


def nearest_field(document: Document | None, *path: str | int) -> Place:
    """Return the place of a field that may be missing: then it is that of its parent."""
    assert document is not None
    return Place(document, path)
