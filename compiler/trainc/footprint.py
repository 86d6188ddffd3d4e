"""Footprint: how much of a cluster some JobSets take when all their pods run at once.

Reads    manifests: JobSets, compiled or written by hand, and the PodGroups beside them. What the API server would fill
         in may be missing; what is no JobSet, or not of the type that the schema asks for, counts as nothing.
Returns  pods, nodes, GPUs and the requests of all pods as exact quantities: of a replicated job, of a JobSet, of many,
         and of many by queue. A JobSet that is suspended counts as it will run; devices claimed of a ResourceClaim have
         no number, and are left out.
Source   Kubernetes 1.36, a pod's effective requests (`kubernetes.pods`), and how many pods a Job runs at a time; JobSet
         v0.12.0, the default of replicas; Kueue, the label that names a LocalQueue; Volcano, the queue of a PodGroup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.kubernetes.pods import CONTAINERS, Amounts, defaulted, requests, total
from trainc.kubernetes.quantity import Quantity, QuantityError
from trainc.kubernetes.trees import Tree, get
from trainc.lint.no_gang import QUEUE as KUEUE
from trainc.objects import ancestor
from trainc.passes.store import VERSION
from trainc.plan import NODE, gpus
from trainc.schedulers import volcano

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Footprint(NamedTuple):
    """What some pods take together. Compares by value: 1000m of cpu are 1."""

    pods: int = 0
    nodes: int = 0
    """Of these, the pods that train: those of the trainer jobs, and of a job that is called `node`."""
    gpus: int = 0
    """Whatever has `gpu` in its name: in each pod the first such resource, as everywhere (`plan.gpus`)."""
    resources: Amounts = {}  # noqa: RUF012 (never changed)
    """What the pods request, resource by resource; nothing that is zero."""

    def __add__(self, other: Footprint) -> Footprint:  # type: ignore[override]
        """Both together."""
        return Footprint(
            self.pods + other.pods,
            self.nodes + other.nodes,
            self.gpus + other.gpus,
            total(self.resources, other.resources),
        )


NOTHING: Final = Footprint()


class Job(NamedTuple):
    """A replicated job: pods alike."""

    name: str
    pods: int
    """How many run at once, of all replicas."""
    trains: bool
    requests: Amounts
    """What one pod asks for; nothing that is zero."""

    @property
    def footprint(self) -> Footprint:
        """What its pods take together."""
        if not self.pods:
            return NOTHING
        together = {name: quantity.mul(self.pods) for name, quantity in self.requests.items()}
        return Footprint(
            pods=self.pods,
            nodes=self.pods if self.trains else 0,
            gpus=self.pods * gpus({"requests": {name: str(quantity) for name, quantity in self.requests.items()}}),
            resources=together,
        )


def jobs(jobset: Any) -> list[Job]:
    """The replicated jobs of a JobSet, in the order of its list."""
    return [_job(tree) for tree in _items(get(jobset, ("spec", "replicatedJobs"))) if isinstance(tree, dict)]


def of(jobset: Any) -> Footprint:
    """What all pods of a JobSet take together."""
    return sum((job.footprint for job in jobs(jobset)), NOTHING)


def by_queue(objects: Iterable[Any]) -> dict[str, Footprint]:
    """What the JobSets among some objects take, by the queue that they wait in, in the order of its name.

    "" is no queue. A LocalQueue of Kueue is of a namespace and written `namespace/name` where the JobSet names one; a
    queue of Volcano is of the cluster.
    """
    given = [tree for tree in objects if isinstance(tree, dict)]
    groups = {_key(tree, get(tree, ("metadata", "name"))): tree for tree in given if is_group_of_volcano(tree)}
    found: dict[str, Footprint] = {}
    for jobset in filter(is_jobset, given):
        queue = queue_of(jobset, groups)
        found[queue] = found.get(queue, NOTHING) + of(jobset)
    return dict(sorted(found.items()))


def queue_of(jobset: Tree, groups: Mapping[tuple[str, str], Tree]) -> str:
    """The queue that a JobSet waits in: Kueue's; else that of its PodGroup, if that is there, or its annotation.

    groups     the PodGroups of Volcano by namespace and name
    """
    if queue := _word(get(jobset, ("metadata", "labels", KUEUE))):
        namespace = _word(get(jobset, ("metadata", "namespace")))
        return f"{namespace}/{queue}" if namespace else queue
    for job in _items(get(jobset, ("spec", "replicatedJobs"))):
        named = get(job, ("template", "spec", "template", "metadata", "annotations", volcano.MARK.key))
        if group := groups.get(_key(jobset, named)):
            return _word(get(group, ("spec", "queue")))
    return _word(get(jobset, ("metadata", "annotations", volcano.QUEUE)))


def is_jobset(tree: Any) -> bool:
    """Whether a manifest is a JobSet, of whatever version."""
    return get(tree, ("kind",)) == "JobSet" and _group(tree) == VERSION.partition("/")[0]


def is_group_of_volcano(tree: Any) -> bool:
    """Whether a manifest is a PodGroup of Volcano."""
    return get(tree, ("kind",)) == "PodGroup" and _group(tree) == volcano.VERSION.partition("/")[0]


def _group(tree: Tree) -> str:
    return _word(get(tree, ("apiVersion",))).partition("/")[0]


def _key(tree: Tree, name: Any) -> tuple[str, str]:
    return _word(get(tree, ("metadata", "namespace"))), _word(name)


def _job(tree: Tree) -> Job:
    name, spec = _word(tree.get("name")), get(tree, ("template", "spec"))
    parallelism = _count(get(spec, ("parallelism",)))
    at_once = min(parallelism, _count(get(spec, ("completions",)), parallelism))
    asked = requests(defaulted(_asking(get(spec, ("template", "spec")))))
    return Job(
        name=name,
        pods=_count(tree.get("replicas")) * at_once,
        trains=name == NODE or ancestor(tree) == "trainer",
        requests={resource: quantity for resource, quantity in sorted(asked.items()) if not quantity.is_zero},
    )


def _asking(pod: Any) -> Tree:
    """What of a pod spec says how much it asks for, without what is no amount."""
    lists = {key: [_with_amounts(container) for container in _items(get(pod, (key,)))] for key in CONTAINERS}
    return lists | _with_amounts(pod) | {"overhead": _amounts(get(pod, ("overhead",)))}


def _with_amounts(holder: Any) -> Tree:
    """Of a container or a pod spec, its restartPolicy and its resources."""
    asked = {kind: _amounts(get(holder, ("resources", kind))) for kind in ("limits", "requests")}
    return {"restartPolicy": get(holder, ("restartPolicy",)), "resources": asked}


def _amounts(resources: Any) -> Amounts:
    found: Amounts = {}
    for name, amount in (resources if isinstance(resources, dict) else {}).items():
        try:
            found[_word(name)] = Quantity.from_json(amount)
        except QuantityError:
            continue  # the schema's pattern lets some pass that are none
    return found


def _count(value: Any, default: int = 1) -> int:
    """A number of Jobs or pods; none is below zero."""
    return max(0, value) if type(value) is int else default


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""
