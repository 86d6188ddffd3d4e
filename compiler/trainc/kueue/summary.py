"""The queues of a repository: their maximum capacity, and the JobSets that use them.

Reads    the compiled TrainJobs, and the documents of other kinds.
Returns  a row per ClusterQueue and resource, as a table or as JSON. Requests are those of all JobSets of the queue
         together; the flavors of a capacity are in the order in which they are tried.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.base.texts import escape, table
from trainc.kueue import kueue_objects, podsets
from trainc.kueue.admission import Admission
from trainc.kueue.alternatives import Alternatives
from trainc.kueue.kueue_objects import text_of
from trainc.pipeline.objects import QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree
    from trainc.kueue.admission import Verdict
    from trainc.kueue.kueue_objects import ClusterQueue
    from trainc.pipeline.plan import Plan

HEADER: Final = ("QUEUE", "COHORT", "RESOURCE", "CAPACITY", "REQUESTED", "JOBS")
UNKNOWN: Final = "?"
"""The capacity of a queue whose cohorts have too many levels."""


class QueueRow(NamedTuple):
    """One resource of one ClusterQueue."""

    resource: str
    capacity: dict[str, str]
    """The maximum of each flavor, in order."""
    requested: str


class Summary(NamedTuple):
    """One ClusterQueue."""

    queue: str
    cohort: str
    local_queues: list[str]
    """As `namespace/name`."""
    jobs: list[str]
    """The TrainJobs in its LocalQueues, as `namespace/name`."""
    rows: list[QueueRow]


def summaries(plans: Iterable[Plan], documents: Iterable[Document]) -> list[Summary]:
    """Return the ClusterQueues by name, and last, with an empty name, the TrainJobs whose queue is not known."""
    cluster, _ = kueue_objects.read(documents)
    admission = Admission(cluster)
    members: dict[str, list[Plan]] = {}
    for plan in plans:
        target = admission.verdict(plan.objects[0]).cluster_queue
        if target or plan.labels.get(QUEUE):
            members.setdefault(target if target in cluster.queues else "", []).append(plan)
    local: dict[str, list[str]] = {}
    for (namespace, name), one in sorted(cluster.local_queues.items()):
        local.setdefault(one.cluster_queue, []).append(_qualified_name(namespace, name))
    found = [
        Summary(
            queue=name,
            cohort=queue.node.parent,
            local_queues=local.get(name, []),
            jobs=[_qualified_name(plan.job.namespace, plan.job.name) for plan in members.get(name, ())],
            rows=_rows(queue, admission, members.get(name, [])),
        )
        for name, queue in sorted(cluster.queues.items())
    ]
    if unknown := members.get(""):
        queues = {_qualified_name(plan.job.namespace, plan.labels.get(QUEUE, "")) for plan in unknown}
        jobs = [_qualified_name(plan.job.namespace, plan.job.name) for plan in unknown]
        found.append(Summary("", "", sorted(queues), jobs, []))
    return found


def _rows(queue: ClusterQueue, admission: Admission, plans: list[Plan]) -> list[QueueRow]:
    requested: dict[str, int] = {}
    for plan in plans:
        for one in podsets.pod_sets(plan.objects[0], admission.cluster):
            for name, value in (one.requests | {"pods": one.pods}).items():
                requested[name] = requested.get(name, 0) + value
    capacity = admission.capacity
    is_too_deep = capacity.is_too_deep(queue.node.parent)
    return [
        QueueRow(
            resource,
            {
                flavor: UNKNOWN if is_too_deep else text_of(resource, capacity.maximum(queue.node, (flavor, resource)))
                for flavor in group.flavors
            },
            text_of(resource, requested.get(resource, 0)),
        )
        for group in queue.groups
        for resource in group.resources
    ]


def _qualified_name(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def rendered(summaries: list[Summary]) -> str:
    """Return the queues as a table."""
    rows = [HEADER]
    for one in summaries:
        if not one.queue:
            continue
        for number, row in enumerate(one.rows or [QueueRow("-", {}, "-")]):
            capacity = ", ".join(f"{flavor}={most}" for flavor, most in row.capacity.items()) or "-"
            first = (one.queue, one.cohort or "-") if not number else ("", "")
            count = str(len(one.jobs)) if not number else ""
            rows.append((*first, row.resource, capacity, row.requested, count))
    text = "".join(f"{escape(line)}\n" for line in table(rows)) if len(rows) > 1 else ""
    unknown = [job for one in summaries if not one.queue for job in one.jobs]
    return text + "".join(f"{escape(job)}: its queue is not in the given paths\n" for job in unknown)


def as_json(summaries: list[Summary]) -> str:
    """Return the queues as a JSON list."""
    return json.dumps(rows(summaries), indent=2, ensure_ascii=False) + "\n"


def rows(summaries: Iterable[Summary]) -> list[Tree]:
    """Return the queues as values of JSON."""
    return [
        {
            "queue": one.queue or None,
            "cohort": one.cohort or None,
            "localQueues": one.local_queues,
            "jobs": one.jobs,
            "resources": [row._asdict() for row in one.rows],
        }
        for one in summaries
    ]


def verdicts(plans: Iterable[Plan], documents: Iterable[Document]) -> dict[int, Verdict]:
    """Return the verdict on each JobSet, by the identity of the JobSet."""
    admission = Alternatives(kueue_objects.read(documents)[0])
    return {id(plan.objects[0]): admission.verdict(plan.objects[0]) for plan in plans}
