"""The queues of a repository: their maximum capacity, and the JobSets that use them.

Reads    the compiled TrainJobs, and the documents of other kinds.
Returns  a row per ClusterQueue and resource, as a table or as JSON. Requests are those of all JobSets of the queue
         together; the flavors of a capacity are in the order in which they are tried. Requests beyond the quota of all
         flavors together are marked. Several queues of one cohort also have a row together.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.base.texts import escape, table
from trainc.kueue import kueue_objects
from trainc.kueue.admission import Admission
from trainc.kueue.alternatives import Alternatives
from trainc.kueue.kueue_objects import text_of
from trainc.kueue.usage import QueueUse, cohort_uses, quota_of, requests_of
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
    quota: str
    """The maximum of all flavors together, borrowing included; `?` if the repository does not decide it."""
    exceeded: bool
    """Whether the requests exceed the quota, so that not all JobSets can run at the same time."""


class Summary(NamedTuple):
    """One ClusterQueue, or several queues of a cohort together."""

    queue: str
    """Empty for several queues, and for the TrainJobs whose queue is not known."""
    cohort: str
    local_queues: list[str]
    """As `namespace/name`."""
    jobs: list[str]
    """The TrainJobs in its LocalQueues, as `namespace/name`."""
    rows: list[QueueRow]


def summaries(plans: Iterable[Plan], documents: Iterable[Document]) -> list[Summary]:
    """Return the ClusterQueues by name, the cohorts with several of them, and the TrainJobs of unknown queues."""
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
    found, uses = list[Summary](), list[QueueUse]()
    for name, queue in sorted(cluster.queues.items()):
        plans_of_queue = members.get(name, [])
        jobs = [_qualified_name(plan.job.namespace, plan.job.name) for plan in plans_of_queue]
        requested = requests_of((plan.objects[0] for plan in plans_of_queue), admission)
        quota = quota_of(queue, admission)
        rows = _rows(queue, admission, requested, quota)
        found.append(Summary(name, queue.node.parent, local.get(name, []), jobs, rows))
        if quota is not None and plans_of_queue:
            uses.append(QueueUse.from_requests(name, quota, requested))
    found += [_cohort(use, found, admission) for use in cohort_uses(uses, admission)]
    if unknown := members.get(""):
        queues = {_qualified_name(plan.job.namespace, plan.labels.get(QUEUE, "")) for plan in unknown}
        jobs = [_qualified_name(plan.job.namespace, plan.job.name) for plan in unknown]
        found.append(Summary("", "", sorted(queues), jobs, []))
    return found


def _rows(
    queue: ClusterQueue, admission: Admission, requested: dict[str, int], quota: dict[str, int] | None
) -> list[QueueRow]:
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
            UNKNOWN if quota is None else text_of(resource, quota[resource]),
            quota is not None and requested.get(resource, 0) > quota[resource],
        )
        for group in queue.groups
        for resource in group.resources
    ]


def _cohort(use: QueueUse, queues: Iterable[Summary], admission: Admission) -> Summary:
    """Return the queues of a cohort together."""
    rows = [
        QueueRow(name, {}, text_of(name, amount), text_of(name, use.quota[name]), name in use.exceeded)
        for name, amount in use.requested.items()
    ]
    jobs = [job for one in queues if use.name in admission.capacity.parents(one.cohort) for job in one.jobs]
    return Summary("", use.name, [], jobs, rows)


def _qualified_name(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def rendered(summaries: list[Summary]) -> str:
    """Return the queues as a table."""
    rows = [HEADER]
    for one in summaries:
        if not (one.queue or one.cohort):
            continue
        for number, row in enumerate(one.rows or [QueueRow("-", {}, "-", "-", exceeded=False)]):
            capacity = ", ".join(f"{flavor}={most}" for flavor, most in row.capacity.items()) or row.quota
            first = (one.queue or "(together)", one.cohort or "-") if not number else ("", "")
            requested = f"{row.requested} of {row.quota}, exceeded" if row.exceeded else row.requested
            rows.append((*first, row.resource, capacity, requested, str(len(one.jobs)) if not number else ""))
    text = "".join(f"{escape(line)}\n" for line in table(rows)) if len(rows) > 1 else ""
    unknown = [job for one in summaries if not (one.queue or one.cohort) for job in one.jobs]
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
