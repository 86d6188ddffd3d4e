"""Pod sets: the pods of a JobSet's replicated jobs, as Kueue counts them.

Reads    a JobSet in its stored form; the LimitRanges and RuntimeClasses of a repository.
Returns  a pod set for each replicated job, with its requests in Kueue's units after the LimitRanges' defaults; and the
         violations of limits and LimitRanges, with which Kueue does not admit a JobSet.
Source   Kueue v0.19: the JobSet integration (PodSets), pkg/workload/resources.go, pkg/util/limitrange. Kubernetes
         1.36: the defaults of LimitRanges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.pod_resources import Amounts, amounts, requests
from trainc.kubernetes.trees import Tree, get
from trainc.kueue.kueue_objects import amount
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.diagnostics import Path
    from trainc.kueue.kueue_objects import Cluster

CONTAINERS: Final = ("initContainers", "containers")
TOPOLOGY: Final = "kueue.x-k8s.io/podset-"
LEVELS: Final = ("required-topology", "preferred-topology", "slice-required-topology")
UNCONSTRAINED: Final = "unconstrained-topology"


class PodSet(NamedTuple):
    """The pods of one replicated job."""

    job: int
    """The replicated job's index."""
    name: str
    pods: int
    """The number of pods."""
    pod: Tree
    """The pod spec, with the defaults of LimitRanges, and requests from limits."""
    given: Tree
    """The pod spec in the JobSet."""
    each: dict[str, int]
    """One pod's requests. A written zero is in it."""
    annotations: dict[str, str]

    @property
    def path(self) -> Path:
        """The path of the pod spec in the JobSet."""
        return ("spec", *pod_spec(self.job))

    @property
    def requests(self) -> dict[str, int]:
        """The requests of all pods."""
        return {name: value * self.pods for name, value in self.each.items()}

    @property
    def topology(self) -> bool:
        """Whether an annotation requests topology-aware scheduling."""
        keys = (*LEVELS, UNCONSTRAINED, "slice-size", "slice-required-topology-constraints")
        return any(f"{TOPOLOGY}{key}" in self.annotations for key in keys)

    @property
    def levels(self) -> list[str]:
        """The topology levels that annotations name."""
        return [self.annotations[f"{TOPOLOGY}{key}"] for key in LEVELS if f"{TOPOLOGY}{key}" in self.annotations]

    @property
    def group(self) -> str:
        """The pod sets with the same group get the same flavors; without a group, it is the index."""
        named = self.annotations.get(f"{TOPOLOGY}group-name")
        placed = any(f"{TOPOLOGY}{key}" in self.annotations for key in LEVELS[:2])
        return f"group {named}" if named is not None and placed else str(self.job)


class Excess(NamedTuple):
    """A container or pod whose resources are outside of their bounds."""

    path: Path
    message: str


def pod_sets(jobset: Tree, cluster: Cluster) -> list[PodSet]:
    """Return the pod sets of a JobSet, in list order."""
    ranges = Ranges.in_namespace(cluster, get(jobset, ("metadata", "namespace"), ""))
    found = []
    for index, job in enumerate(get(jobset, ("spec", "replicatedJobs"), [])):
        spec = get(job, ("template", "spec"), {})
        parallelism = _count(spec.get("parallelism"), 1)
        at_once = min(parallelism, _count(spec.get("completions"), parallelism))
        template = spec.get("template") or {}
        given = template.get("spec") or {}
        pod = _adjusted(given, ranges, cluster)
        each = {name: max(0, amount(name, quantity)) for name, quantity in sorted(requests(pod).items())}
        notes = get(template, ("metadata", "annotations"), {})
        count = _count(job.get("replicas"), 1) * at_once
        found.append(PodSet(index, job["name"], count, pod, given, each, notes))
    return found


def _count(value: Any, default: int) -> int:
    return value if type(value) is int else default


class Ranges(NamedTuple):
    """The LimitRanges of a namespace, combined."""

    container: dict[str, Amounts]
    """The lowest `max`, the highest `min`, and the first `default` and `defaultRequest`."""
    pod: dict[str, Amounts]

    @classmethod
    def in_namespace(cls, cluster: Cluster, namespace: str) -> Ranges:
        """Return the combination of a namespace's LimitRanges, which Kueue lists by name."""
        found = cls({}, {})
        for (where, _), tree in sorted(cluster.others.get("LimitRange", {}).items()):
            for item in get(tree, ("spec", "limits"), []) if where == namespace else ():
                kept = {"Container": found.container, "Pod": found.pod}.get(item.get("type"))
                if kept is not None:
                    _combine(kept, _with_defaults(item))
        return found


def _with_defaults(item: Tree) -> dict[str, Amounts]:
    """Return an item of a LimitRange as the API server stores it."""
    keys = ("max", "min", "default", "defaultRequest")
    maximum, minimum, default, request = (amounts(item.get(key)) for key in keys)
    if item["type"] == "Container":
        default = maximum | default
        request = minimum | default | request
    return dict(zip(keys, (maximum, minimum, default, request), strict=True))


def _combine(kept: dict[str, Amounts], item: dict[str, Amounts]) -> None:
    """Merge an item into the earlier ones."""
    for key, more in item.items():
        known = kept.setdefault(key, {})
        for name, quantity in more.items():
            old = known.get(name)
            if old is None or (key == "max" and quantity < old) or (key == "min" and quantity > old):
                known[name] = quantity


def _adjusted(pod: Tree, ranges: Ranges, cluster: Cluster) -> Tree:
    """Return a pod spec with its RuntimeClass's overhead, LimitRange defaults, and requests from limits."""
    runtime_class = pod.get("runtimeClassName")
    if runtime_class and not pod.get("overhead"):
        known = cluster.others.get("RuntimeClass", {}).get(("", runtime_class))
        pod = pod | {"overhead": get(known, ("overhead", "podFixed"), {})}
    changed = {key: [_filled(one, ranges.container) for one in pod[key]] for key in CONTAINERS if pod.get(key)}
    return (_filled(pod, ranges.pod) if pod.get("resources") else pod) | changed


def _filled(holder: Tree, defaults: dict[str, Amounts]) -> Tree:
    resources = holder.get("resources") or {}
    limits = defaults.get("default", {}) | amounts(resources.get("limits"))
    requested = limits | defaults.get("defaultRequest", {}) | amounts(resources.get("requests"))
    return holder | {"resources": resources | {"limits": limits, "requests": requested}}


def excesses(pod_sets: Iterable[PodSet], cluster: Cluster, namespace: str) -> Iterator[Excess]:
    """Yield the resources outside of limits and LimitRanges, limits first."""
    ranges = Ranges.in_namespace(cluster, namespace)
    listed = list(pod_sets)
    for one in listed:
        holders = [*_containers(one), *([(one.path, one.pod)] if one.pod.get("resources") else [])]
        for path, holder in holders:
            limits = holder["resources"]["limits"]
            for name in _names_with_more(holder["resources"]["requests"], limits):
                yield Excess((*path, "resources"), f"{name} request exceeds its limit of {limits[name]}")
    for one in listed:
        for path, holder in _containers(one):
            limits, requested = holder["resources"]["limits"], holder["resources"]["requests"]
            at = (*path, "resources")
            yield from _out_of_bounds(
                at, "container", ranges.container, _merged(min, requested, limits), limits, requested
            )
        whole = requests(one.pod)
        yield from _out_of_bounds(one.path, "pod", ranges.pod, whole, whole, {})


def _out_of_bounds(
    path: Path, word: str, bounds: dict[str, Amounts], least: Amounts, limits: Amounts, requested: Amounts
) -> Iterator[Excess]:
    maximum, minimum = bounds.get("max", {}), bounds.get("min", {})
    for name in _names_with_more(_merged(max, requested, limits), maximum):
        yield Excess(path, f"the {word} has more {name} than the LimitRange's maximum of {maximum[name]}")
    for name in _names_with_more(minimum, least):
        yield Excess(path, f"the {word} has less {name} than the LimitRange's minimum of {minimum[name]}")


def _merged(choose: Callable[..., Any], one: Amounts, other: Amounts) -> Amounts:
    return one | {name: choose(one[name], quantity) if name in one else quantity for name, quantity in other.items()}


def _containers(one: PodSet) -> Iterator[tuple[Path, Tree]]:
    for key in CONTAINERS:
        for index, container in enumerate(one.pod.get(key) or ()):
            yield (*one.path, key, index), container


def _names_with_more(some: Amounts, others: Amounts) -> list[str]:
    """Return the names with more in the first than in the second, in Kueue's units; only names in both count."""
    return sorted(name for name, q in some.items() if name in others and amount(name, q) > amount(name, others[name]))
