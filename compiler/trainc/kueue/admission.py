"""Admission: whether Kueue can ever admit a JobSet, by the objects of the repository.

Reads    a JobSet in its stored form, and a cluster.
Returns  a verdict: admitted with its flavors in an empty cluster, never admitted with the reason in one sentence with
         the sums, the field of the JobSet and the quotas of the queue, or undecided with the object that the repository
         lacks.
Source   Kueue v0.19 with its default settings: the reconcilers of workloads and ClusterQueues, ValidateAdmissibility,
         and the scheduler. Verified against recorded answers of the real Kueue.

"Never" is only said if the manifests alone decide it. An object that is missing here can exist in the cluster, so it
leaves the verdict open, and so do the state of AdmissionChecks, the nodes of a topology, and DeviceClass mappings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBS_OF_JOBSET, POD
from trainc.base.records import NamedTuple
from trainc.base.texts import plural
from trainc.diagnostics import Place
from trainc.kubernetes.trees import Tree, get
from trainc.kubernetes.violations import listed
from trainc.kueue import podsets
from trainc.kueue.capacity import MOST_LEVELS, Capacity
from trainc.kueue.flavors import Assigner, selector_keys, selector_part, selects
from trainc.kueue.kueue_objects import text_of
from trainc.pipeline.objects import QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Document, Path
    from trainc.kueue.flavors import Assigned, Assignment, Misfit
    from trainc.kueue.kueue_objects import Cluster, ClusterQueue, CohortNode, LocalQueue
    from trainc.kueue.podsets import PodSet

DEFAULT: Final = "default"
"""The LocalQueue of JobSets without a queue label in its namespace."""
MOST_POD_SETS: Final = 18
PRIORITY: Final = "kueue.x-k8s.io/priority-class"
LABEL: Final[tuple[str, ...]] = ("metadata", "labels", QUEUE)
BUILT_IN: Final = frozenset({"system-cluster-critical", "system-node-critical"})
"""The PriorityClasses of every cluster."""
NAMESPACE: Final = "kubernetes.io/metadata.name"
"""The label that the API server sets on each namespace."""


class Verdict(NamedTuple):
    """The result for one JobSet."""

    queue: str = ""
    """The LocalQueue's name; empty for a JobSet that Kueue does not manage."""
    cluster_queue: str = ""
    """The ClusterQueue's name, if the repository has the LocalQueue."""
    flavors: dict[str, Assigned] | None = None
    """The flavors of each pod set by resource, if the JobSet is admitted to an empty cluster."""
    never: Never | None = None
    undecided: str = ""
    """The reason why neither is known."""


class Admission:
    """The admission of JobSets by the queues of one repository."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.capacity = Capacity(cluster)
        unreadable = ((kind, name) for kind, _, name in cluster.unreadable)
        self._broken = min((key for key in unreadable if key[0] in ("ClusterQueue", "Cohort")), default=())
        """Kind and name of the first ClusterQueue or Cohort that has errors."""

    def queue_of(self, jobset: Tree) -> str:
        """Return the name of a JobSet's LocalQueue: that of its label, else `default` if its namespace has one."""
        named = get(jobset, LABEL, "")
        default = (get(jobset, ("metadata", "namespace"), ""), DEFAULT) in self.cluster.local_queues
        return named or (DEFAULT if default else "")

    def verdict(self, jobset: Tree) -> Verdict:
        """Return whether a JobSet can be admitted."""
        name = self.queue_of(jobset)
        if not name:
            return Verdict()
        verdict = Verdict(queue=name)
        local = self.cluster.local_queues.get((get(jobset, ("metadata", "namespace"), ""), name))
        if local is None:
            return verdict._replace(undecided=f"the given paths do not have its LocalQueue {name}")
        verdict = verdict._replace(cluster_queue=local.cluster_queue)
        queue = self.cluster.queues.get(local.cluster_queue)
        sets = podsets.pod_sets(jobset, self.cluster)
        if never := self._before_flavors(jobset, name, local, queue, sets):
            return verdict._replace(never=never)
        if queue is None:
            return verdict._replace(undecided=f"the given paths do not have its ClusterQueue {local.cluster_queue}")
        if missing := self._missing_object(queue):
            return verdict._replace(undecided=missing)
        assignment = Assigner(queue, self.cluster, self.capacity).assign(sets)
        return self._with_flavors(verdict, jobset, queue, sets, assignment)

    def _with_flavors(
        self, verdict: Verdict, jobset: Tree, queue: ClusterQueue, sets: list[PodSet], assignment: Assignment
    ) -> Verdict:
        """Return the verdict after the assignment of flavors."""
        if not assignment.complete:
            return verdict._replace(undecided="the flavors have too many combinations")
        if any(one.pod.get("resourceClaims") for one in sets):
            return verdict._replace(undecided="Kueue's settings decide about the DeviceClasses of its resource claims")
        if assignment.flavors is None:
            of_quota = any(misfit.rule == "quota" for misfit in assignment.misfits)
            if of_quota and (missing := self._missing_quota(queue)):
                return verdict._replace(undecided=missing)
            return verdict._replace(never=assignment_reason(queue, assignment, self.cluster))
        if not queue.groups:
            message = f"ClusterQueue {queue.name} has no resourceGroups, so it admits nothing"
            return verdict._replace(never=Never(LABEL, message, "add resourceGroups to the queue"))
        return verdict._replace(
            flavors=assignment.flavors, undecided=next(self._reasons_not_admitted(jobset, queue, sets, assignment), "")
        )

    def _before_flavors(
        self, jobset: Tree, name: str, local: LocalQueue, queue: ClusterQueue | None, sets: list[PodSet]
    ) -> Never | None:
        """Return the first reason that does not depend on flavors."""
        if len(sets) > MOST_POD_SETS:
            message = f"the JobSet has {plural(len(sets), 'replicated job')}; Kueue's maximum is {MOST_POD_SETS}"
            return Never(("spec", "replicatedJobs"), message, "use fewer replicated jobs")
        if local.stopped:
            place = nearest_field(local.document, "spec", "stopPolicy")
            help = "remove the stopPolicy, or use another queue"
            return Never(LABEL, f"LocalQueue {name} is stopped", help, (("the stopPolicy", place),))
        if queue is None:
            return None
        document = queue.node.document
        if queue.stopped:
            place = nearest_field(document, "spec", "stopPolicy")
            help = "remove the stopPolicy, or use another queue"
            return Never(LABEL, f"ClusterQueue {queue.name} is stopped", help, (("the stopPolicy", place),))
        if self.capacity.is_cyclic(queue.node.parent):
            place = nearest_field(document, "spec")
            message = f"ClusterQueue {queue.name} is inactive: its cohort {queue.node.parent} is in a cycle of cohorts"
            return Never(LABEL, message, "remove a parentName of the cycle", (("the queue", place),))
        if not self._selects(queue, jobset):
            namespace = get(jobset, ("metadata", "namespace"), "")
            message = f"ClusterQueue {queue.name} does not select namespace {namespace}"
            help = "change its namespaceSelector (null selects nothing, {} every namespace), or the namespace's labels"
            place = nearest_field(document, "spec", "namespaceSelector")
            return Never(LABEL, message, help, (("the selector", place),))
        for excess in podsets.excesses(sets, self.cluster, get(jobset, ("metadata", "namespace"), "")):
            return Never(excess.path, excess.message, "change the resources, or the LimitRange")
        return None

    def _selects(self, queue: ClusterQueue, jobset: Tree) -> bool:
        """Return whether the queue selects the namespace; True if that is unknown."""
        selector, (labels, known) = queue.selector, self._labels(jobset)
        if selector is None or known:
            return selects(selector, labels)
        return selects(selector_part(selector, {*labels}), labels)

    def _labels(self, jobset: Tree) -> tuple[dict[str, str], bool]:
        """Return the known labels of the JobSet's namespace, and whether they are all."""
        namespace = get(jobset, ("metadata", "namespace"), "")
        tree = self.cluster.others.get("Namespace", {}).get(("", namespace))
        given = get(tree, ("metadata", "labels"), {})
        return given | ({NAMESPACE: namespace} if namespace else {}), tree is not None

    def _missing_object(self, queue: ClusterQueue) -> str:
        """Return the first object that the queue needs and the repository lacks, as a reason."""
        for name in queue.flavors:
            if name not in self.cluster.flavors:
                return f"the given paths do not have ResourceFlavor {name} of ClusterQueue {queue.name}"
            topology = self.cluster.flavors[name].topology
            if topology and not self.cluster.has("Topology", topology):
                return f"the given paths do not have Topology {topology} of ResourceFlavor {name}"
        if self.capacity.is_too_deep(queue.node.parent):
            return f"the cohorts of ClusterQueue {queue.name} have more than {MOST_LEVELS} levels, trainc's maximum"
        names = self.capacity.parents(queue.node.parent)
        broken = [name for name in names if ("Cohort", "", name) in self.cluster.unreadable]
        return f"Cohort {broken[0]} has errors" if broken else ""

    def knows_cohorts(self, node: CohortNode) -> bool:
        """Return whether the repository decides how much a queue of a cohort can borrow."""
        cluster, capacity = self.cluster, self.capacity
        several = any(kind in ("ClusterQueue", "Cohort") for kind, _, _ in cluster.alternatives)
        return not (several or self._broken or capacity.is_alone(node) or not capacity.parents(node.parent))

    def _missing_quota(self, queue: ClusterQueue) -> str:
        """Return an object from which a queue could borrow and that the repository lacks or that has errors."""
        if not queue.node.parent:
            return ""
        if self.capacity.is_alone(queue.node):
            return f"the given paths have no other ClusterQueue of its cohort {queue.node.parent}"
        return f"{' '.join(self._broken)} has errors" if self._broken else ""

    def _reasons_not_admitted(
        self, jobset: Tree, queue: ClusterQueue, sets: list[PodSet], assignment: Assignment
    ) -> Iterator[str]:
        """Yield the reasons why a JobSet that fits may not be admitted."""
        if assignment.needs_nodes and any(one.pods for one in sets):
            yield "the cluster's nodes decide about its topology"
        if queue.checks:
            yield f"AdmissionCheck {queue.checks[0]} decides"
        labels, known = self._labels(jobset)
        if not known and selector_keys(queue.selector) - labels.keys():
            yield f"the given paths do not have the Namespace with the labels that ClusterQueue {queue.name} selects"
        kind, name = priority_of(jobset)
        if name and name not in BUILT_IN and not self.cluster.has(kind, name):
            yield f"the given paths do not have {kind} {name}"


def priority_of(jobset: Tree) -> tuple[str, str]:
    """Return kind and name of the priority class that Kueue looks up: the label's, else the first pod set's."""
    if name := get(jobset, ("metadata", "labels", PRIORITY), ""):
        return "WorkloadPriorityClass", name
    for job in get(jobset, JOBS_OF_JOBSET, []):
        if name := get(job, (*POD, "priorityClassName"), ""):
            return "PriorityClass", name
    return "PriorityClass", ""


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
