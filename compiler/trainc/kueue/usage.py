"""The queues of a repository: their quotas, and the JobSets that use them.

Reads    JobSets in their stored form, or the plans of the compiled TrainJobs; the Kueue objects among the documents of
         other kinds.
Returns  a `QueueUse` per ClusterQueue that has JobSets and whose quota the repository decides, and one per cohort from
         which several of these queues borrow. The quota of a resource is the maximum of all flavors together, borrowing
         included, in an empty cluster: requests beyond it never run at the same time. And a `Summary` per ClusterQueue,
         with a row for each resource, as a table or as JSON: the flavors of a capacity are in the order in which they
         are tried, and requests beyond the quota are marked.

The quota of a queue is not known with different specs in several files, in a cohort whose other members are not in the
repository, or with an error in one of its cohorts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import EACH
from trainc.base.records import NamedTuple
from trainc.base.texts import escape, table
from trainc.kubernetes.quantity import QuantityError
from trainc.kubernetes.trees import get, values_at
from trainc.kueue import kueue_objects, podsets
from trainc.kueue.admission import Admission
from trainc.kueue.alternatives import Alternatives
from trainc.kueue.kueue_objects import UNLIMITED, text_of
from trainc.pipeline.objects import QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree
    from trainc.kueue.admission import Verdict
    from trainc.kueue.kueue_objects import ClusterQueue
    from trainc.pipeline.plan import Plan


Amounts = dict[str, int]
"""Amounts by resource, in Kueue's units."""


class QueueUse(NamedTuple):
    """The requests and the quota of one ClusterQueue, or of the queues of one cohort together."""

    kind: str
    """`ClusterQueue` or `Cohort`."""
    name: str
    quota: Amounts
    requested: Amounts
    """The requests of all JobSets, of the resources that have a quota."""
    used: Amounts | None = None
    """What all workloads of the queue use now; None if it is not known."""
    before: QueueUse | None = None
    """The same queue before a change; None if nothing used it, or if its quota was not known."""

    @property
    def exceeded(self) -> list[str]:
        """The resources of which the JobSets request more than the quota."""
        return [name for name in self.requested if self.excess(name)]

    def excess(self, resource: str) -> int:
        """Return the amount of a resource that the JobSets request beyond the quota, or 0."""
        return max(0, self.requested.get(resource, 0) - self.quota.get(resource, 0))

    def shown(self, resource: str) -> str:
        """Return the requests of a resource beside its quota: `100 of 64`."""
        return f"{text_of(resource, self.requested[resource])} of {text_of(resource, self.quota[resource])}"

    @classmethod
    def from_requests(cls, name: str, quota: Amounts, requested: Mapping[str, int]) -> QueueUse:
        """Return the use of a ClusterQueue; requests of resources without a quota do not count."""
        return cls("ClusterQueue", name, quota, {each: requested[each] for each in quota if requested.get(each)})

    def with_requests_of(self, other: QueueUse) -> QueueUse:
        """Return the use with the requests of other JobSets beside the same quota."""
        before = self.before and other.before and self.before.with_requests_of(other.before)
        return self._replace(
            requested=_sum(self.requested, other.requested), before=before or self.before or other.before
        )


def queue_uses(jobsets: Iterable[Tree], documents: Iterable[Document]) -> list[QueueUse]:
    """Return the uses by kind and name, without the queues that no JobSet uses."""
    cluster, _ = kueue_objects.read(documents)
    if not cluster.queues:
        return []
    admission = Admission(cluster)
    members: dict[str, list[Tree]] = {}
    for jobset in jobsets:
        if queue := cluster_queue_of(jobset, admission):
            members.setdefault(queue, []).append(jobset)
    found = [
        QueueUse.from_requests(name, quota, requests_of(members[name], admission))
        for name in sorted(members)
        if (quota := quota_of(cluster.queues[name], admission)) is not None
    ]
    return [*found, *cohort_uses(found, admission)]


def current_use(queue: Tree) -> Amounts | None:
    """Return the amounts that a ClusterQueue in a cluster uses, of all flavors together; None without valid ones."""
    found: Amounts = {}
    try:
        for _, row in values_at(queue, ("status", "flavorsUsage", EACH, "resources", EACH)):
            found = _sum(found, {row["name"]: kueue_objects.amount_of(row["name"], row["total"])})
    except (KeyError, TypeError, QuantityError):
        return None
    return found if get(queue, ("status", "flavorsUsage")) is not None else None


def cluster_queue_of(jobset: Tree, admission: Admission) -> str:
    """Return the ClusterQueue of a JobSet; empty if it has none, or if the repository does not decide it."""
    namespace = jobset["metadata"].get("namespace", "")
    name, cluster = admission.queue_of(jobset), admission.cluster
    local = cluster.local_queues.get((namespace, name)) if name else None
    if local is None or ("LocalQueue", namespace, name) in cluster.alternatives:
        return ""
    return local.cluster_queue if local.cluster_queue in cluster.queues else ""


def requests_of(jobsets: Iterable[Tree], admission: Admission) -> Amounts:
    """Return the total requests of some JobSets, with the number of pods as `pods`."""
    found: Amounts = {}
    for jobset in jobsets:
        for one in podsets.pod_sets(jobset, admission.cluster):
            found = _sum(found, one.requests | {"pods": one.pods})
    return found


def quota_of(queue: ClusterQueue, admission: Admission) -> Amounts | None:
    """Return the maximum of each resource that a queue covers; None if the repository does not decide it."""
    cluster, node = admission.cluster, queue.node
    if ("ClusterQueue", "", queue.name) in cluster.alternatives:
        return None
    if node.parent and not admission.knows_cohorts(node):
        return None
    return {
        resource: min(UNLIMITED, sum(admission.capacity.maximum(node, (flavor, resource)) for flavor in group.flavors))
        for group in queue.groups
        for resource in group.resources
    }


def cohort_uses(uses: Iterable[QueueUse], admission: Admission) -> list[QueueUse]:
    """Return the use of each tree of cohorts in which several queues have JobSets, by the name of its root."""
    queues, capacity = admission.cluster.queues, admission.capacity
    trees: dict[str, list[QueueUse]] = {}
    for use in uses:
        for root in capacity.parents(queues[use.name].node.parent)[-1:]:
            trees.setdefault(root, []).append(use)
    found = []
    for root, members in sorted(trees.items()):
        nodes = [queues[use.name].node for use in members]
        quota: Amounts = {}
        for flavor, resource in dict.fromkeys(cell for node in nodes for cell in node.quotas):
            quota = _sum(quota, {resource: capacity.joint_maximum(nodes, (flavor, resource))})
        total: Amounts = {}
        for use in members:
            total = _sum(total, use.requested)
        if len(members) > 1:
            found.append(QueueUse("Cohort", root, quota, total))
    return found


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> Amounts:
    found = dict(one)
    for name, amount in other.items():
        found[name] = min(UNLIMITED, found.get(name, 0) + amount)
    return found


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
