"""Footprint: the cluster resources that JobSets take when all their pods run at once.

Reads    manifests: compiled or handwritten JobSets and their PodGroups. Fields that the API server defaults may be
         missing. Other objects and values of the wrong type count as nothing.
Returns  pods, nodes, GPUs and the requests of all pods as exact quantities: for a replicated job, for a JobSet, for
         several JobSets, and by queue. A suspended JobSet counts as if it ran. Devices from ResourceClaims have no
         number and are not counted.
Source   Kubernetes 1.36, a pod's effective requests (`kubernetes.pod_resources`) and the number of pods that a Job runs
         at a time; JobSet v0.12.0, the default of replicas; Kueue, the label that names a LocalQueue; Volcano, a
         PodGroup's queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.base.kinds import JOBS_OF_JOBSET, JOBSET, POD_TEMPLATE
from trainc.kubernetes.pod_resources import CONTAINERS, Amounts, defaulted, requests, total
from trainc.kubernetes.quantity import Quantity, QuantityError
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.objects import QUEUE as KUEUE
from trainc.pipeline.objects import ancestor
from trainc.pipeline.plan import NODE, gpus
from trainc.pipeline.schedulers import volcano

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Footprint(NamedTuple):
    """The total of some pods. Quantities compare by value: 1000m of cpu equals 1."""

    pods: int = 0
    nodes: int = 0
    """The training pods: those of the trainer jobs and of a job named `node`."""
    gpus: int = 0
    """In each pod, the first resource with `gpu` in its name (`plan.gpus`)."""
    resources: Amounts = {}  # noqa: RUF012 (never changed)
    """The pods' requests by resource, without zeros."""

    def __add__(self, other: Footprint) -> Footprint:  # type: ignore[override]
        """Return the sum."""
        return Footprint(
            self.pods + other.pods,
            self.nodes + other.nodes,
            self.gpus + other.gpus,
            total(self.resources, other.resources),
        )


NOTHING: Final = Footprint()


class ReplicatedPods(NamedTuple):
    """A replicated job, whose pods are alike."""

    name: str
    pods: int
    """The number of pods that run at once, in all replicas."""
    trains: bool
    requests: Amounts
    """One pod's requests, without zeros."""

    @property
    def footprint(self) -> Footprint:
        """The total of its pods."""
        if not self.pods:
            return NOTHING
        resources = {name: quantity.mul(self.pods) for name, quantity in self.requests.items()}
        return Footprint(
            pods=self.pods,
            nodes=self.pods if self.trains else 0,
            gpus=self.pods * gpus({"requests": {name: str(quantity) for name, quantity in self.requests.items()}}),
            resources=resources,
        )


def jobs(jobset: Any) -> list[ReplicatedPods]:
    """Return the replicated jobs of a JobSet, in list order."""
    return [_job(tree) for tree in _items(get(jobset, JOBS_OF_JOBSET)) if isinstance(tree, dict)]


def jobset_footprint(jobset: Any) -> Footprint:
    """Return the total of a JobSet's pods."""
    return sum((job.footprint for job in jobs(jobset)), NOTHING)


def by_queue(objects: Iterable[Any]) -> dict[str, Footprint]:
    """Return the totals of the JobSets in some objects by queue, sorted by queue name.

    "" means no queue. Kueue's LocalQueue is namespaced and written `namespace/name` if the JobSet has a namespace;
    Volcano's queue is cluster-scoped.
    """
    trees = [tree for tree in objects if isinstance(tree, dict)]
    groups = {_key(tree, get(tree, ("metadata", "name"))): tree for tree in trees if is_group_of_volcano(tree)}
    found: dict[str, Footprint] = {}
    for jobset in filter(is_jobset, trees):
        queue = queue_of(jobset, groups)
        found[queue] = found.get(queue, NOTHING) + jobset_footprint(jobset)
    return dict(sorted(found.items()))


def queue_of(jobset: Tree, groups: Mapping[tuple[str, str], Tree]) -> str:
    """Return a JobSet's queue: Kueue's, otherwise its PodGroup's, otherwise the one in its Volcano annotation.

    Args:
        jobset: the JobSet.
        groups: Volcano's PodGroups by namespace and name.
    """
    if queue := _word(get(jobset, ("metadata", "labels", KUEUE))):
        namespace = _word(get(jobset, ("metadata", "namespace")))
        return f"{namespace}/{queue}" if namespace else queue
    for job in _items(get(jobset, JOBS_OF_JOBSET)):
        named = get(job, (*POD_TEMPLATE, "metadata", "annotations", volcano.MARK.key))
        if group := groups.get(_key(jobset, named)):
            return _word(get(group, ("spec", "queue")))
    return _word(get(jobset, ("metadata", "annotations", volcano.QUEUE)))


def is_jobset(tree: Any) -> bool:
    """Return whether a manifest is a JobSet of any version."""
    return get(tree, ("kind",)) == JOBSET.kind and _group(tree) == JOBSET.group


def is_group_of_volcano(tree: Any) -> bool:
    """Return whether a manifest is a Volcano PodGroup."""
    return get(tree, ("kind",)) == "PodGroup" and _group(tree) == volcano.VERSION.partition("/")[0]


def _group(tree: Tree) -> str:
    return _word(get(tree, ("apiVersion",))).partition("/")[0]


def _key(tree: Tree, name: Any) -> tuple[str, str]:
    return _word(get(tree, ("metadata", "namespace"))), _word(name)


def _job(tree: Tree) -> ReplicatedPods:
    name, spec = _word(tree.get("name")), get(tree, ("template", "spec"))
    parallelism = _count(get(spec, ("parallelism",)))
    at_once = min(parallelism, _count(get(spec, ("completions",)), parallelism))
    amounts = requests(defaulted(_resources(get(spec, ("template", "spec")))))
    return ReplicatedPods(
        name=name,
        pods=_count(tree.get("replicas")) * at_once,
        trains=name == NODE or ancestor(tree) == "trainer",
        requests={resource: quantity for resource, quantity in sorted(amounts.items()) if not quantity.is_zero},
    )


def _resources(pod: Any) -> Tree:
    """Return the parts of a pod spec that determine its requests, without invalid quantities."""
    lists = {key: [_with_amounts(container) for container in _items(get(pod, (key,)))] for key in CONTAINERS}
    return lists | _with_amounts(pod) | {"overhead": _amounts(get(pod, ("overhead",)))}


def _with_amounts(holder: Any) -> Tree:
    """Return the restartPolicy and resources of a container or a pod spec."""
    resources = {kind: _amounts(get(holder, ("resources", kind))) for kind in ("limits", "requests")}
    return {"restartPolicy": get(holder, ("restartPolicy",)), "resources": resources}


def _amounts(resources: Any) -> Amounts:
    found: Amounts = {}
    for name, amount in (resources if isinstance(resources, dict) else {}).items():
        try:
            found[_word(name)] = Quantity.from_json(amount)
        except QuantityError:
            continue  # the schema's pattern accepts some invalid quantities
    return found


def _count(value: Any, default: int = 1) -> int:
    """Return a number of Jobs or pods; a negative one counts as zero."""
    return max(0, value) if type(value) is int else default


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""
