"""Flavor assignment: which flavor each pod set gets in an empty cluster, by Kueue's own order of attempts.

Reads    the pod sets of a JobSet, its ClusterQueue, the flavors and the cohort trees.
Returns  the flavor of each pod set and resource; or the reasons of the first attempt why a pod set fits no flavor.
Source   Kueue v0.19, pkg/scheduler/flavorassigner: assignFlavors, findFlavorForPodSets, LastTriedFlavorIdx; and
         checkFlavorForPodSets and flavorSelector: of a pod's selectors, only keys of the flavor's own labels count.
         Kubernetes 1.36, tolerations and required node affinity.

All resources of a group come from one flavor, the first that fits. If a later pod set fits nowhere, Kueue tries again:
each earlier pod set continues, for each resource, behind the flavor that it had, or from the first if that was the last
one; the others start from the first. It ends when no pod set can continue. So it misses some combinations that fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.gostrings import parse_int
from trainc.kubernetes.trees import get
from trainc.kueue.kueue_objects import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kubernetes.trees import Tree
    from trainc.kueue.capacity import Capacity
    from trainc.kueue.kueue_objects import Cell, Cluster, ClusterQueue, Flavor, ResourceGroup
    from trainc.kueue.podsets import PodSet

ATTEMPTS: Final = 10_000
"""More attempts than any realistic queue needs. Kueue itself has no limit."""
Assigned = dict[str, str]
"""The flavor of each resource."""
Tried = tuple[tuple[tuple[str, int], ...], ...]
"""For each pod set, the index of the flavor that each resource had; -1 if it was the group's last."""
EFFECTS: Final = ("NoSchedule", "NoExecute")
REQUIRED: Final = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")


class Misfit(NamedTuple):
    """A reason why a pod set cannot have a flavor, or any flavor if that is empty."""

    flavor: str
    rule: str
    """`uncovered`, `taint`, `labels`, `quota` or `topology`."""
    message: str
    resource: str = ""
    before: int = 0
    """The requests of earlier pod sets."""
    request: int = 0
    capacity: int = 0


class Assignment(NamedTuple):
    """The result of all attempts."""

    flavors: dict[str, Assigned] | None
    """The flavors of each pod set by name; None if the JobSet never fits."""
    failed: PodSet | None = None
    """The pod set that did not fit in the first attempt."""
    misfits: tuple[Misfit, ...] = ()
    """Its reasons, in the order of the flavors."""
    needs_nodes: bool = False
    """Whether the flavors fit, but a topology decides, which depends on the cluster's nodes."""
    complete: bool = True
    """Whether all attempts were made."""


class _Attempt(NamedTuple):
    """The result of one attempt."""

    flavors: dict[int, Assigned]
    tried: Tried
    failed: PodSet | None = None
    misfits: tuple[Misfit, ...] = ()


class Assigner:
    """The assignment of flavors in one queue."""

    def __init__(self, queue: ClusterQueue, cluster: Cluster, capacity: Capacity) -> None:
        self._queue = queue
        self._flavors = cluster.flavors
        self._topologies = cluster.others.get("Topology", {})
        self._capacity = capacity
        self._only_topologies = all(self._flavors[name].topology for name in queue.flavors)

    def assign(self, pod_sets: list[PodSet]) -> Assignment:
        """Return the flavors of the first attempt that succeeds, or the reasons of the first one."""
        seen: set[Tried] = set()
        tried: Tried = ()
        first: _Attempt | None = None
        while len(seen) < ATTEMPTS:
            attempt = self._attempt(pod_sets, tried)
            if attempt.failed is None:
                return Assignment(
                    {one.name: attempt.flavors.get(one.job, {}) for one in pod_sets},
                    needs_nodes=any(self._requests_topology(one) for one in pod_sets),
                )
            first = first or attempt
            tried = attempt.tried
            if tried in seen or all(index == -1 for indices in tried for _, index in indices):
                return Assignment(None, first.failed, first.misfits)
            seen.add(tried)
        return Assignment(None, complete=False)

    def _attempt(self, pod_sets: list[PodSet], last: Tried) -> _Attempt:
        usage: dict[Cell, int] = {}
        flavors: dict[int, Assigned] = {}
        tried: list[tuple[tuple[str, int], ...]] = []
        groups: dict[str, list[PodSet]] = {}
        for one in pod_sets:
            groups.setdefault(one.group, []).append(one)
        for members in groups.values():
            requests: dict[str, int] = {}
            for one in members:
                for name, value in self._requests(one).items():
                    requests[name] = requests.get(name, 0) + value
            start = dict(last[members[0].job]) if members[0].job < len(last) else {}
            found, indices, misfits = self._assign_group(members, requests, usage, start)
            if misfits:
                return _Attempt(flavors, tuple(tried), members[0], misfits)
            for one in members:
                mine = self._requests(one)
                flavors[one.job] = {name: flavor for name, flavor in found.items() if name in mine}
                tried.append(tuple((name, indices[name]) for name in flavors[one.job]))
                for name, flavor in flavors[one.job].items():
                    usage[flavor, name] = usage.get((flavor, name), 0) + mine[name]
        return _Attempt(flavors, tuple(tried))

    def _requests(self, one: PodSet) -> dict[str, int]:
        """Return the requests of a pod set; with `pods`, if the queue covers them."""
        return one.requests | ({"pods": one.pods} if self._queue.group_of("pods") else {})

    def _requests_topology(self, one: PodSet) -> bool:
        return one.topology or self._only_topologies

    def _assign_group(
        self, members: list[PodSet], requests: dict[str, int], usage: dict[Cell, int], start: dict[str, int]
    ) -> tuple[Assigned, dict[str, int], tuple[Misfit, ...]]:
        """Return flavors and indices by resource for pod sets that share them, or the reasons why there are none."""
        found: Assigned = {}
        indices: dict[str, int] = {}
        for resource, value in sorted(requests.items()):
            group = self._queue.group_of(resource)
            if group is None:
                if value == 0:
                    continue
                covered = Misfit(
                    "", "uncovered", f"ClusterQueue {self._queue.name} does not cover {resource}", resource
                )
                return {}, {}, (covered,)
            if resource in found:
                continue
            wanted = {name: amount for name, amount in requests.items() if name in group.resources}
            flavor, index, misfits = self._find(members, group, wanted, usage, start.get(resource, -1) + 1)
            if not flavor:
                return {}, {}, misfits
            found |= dict.fromkeys(wanted, flavor)
            indices |= dict.fromkeys(wanted, index)
        return found, indices, ()

    def _find(
        self, members: list[PodSet], group: ResourceGroup, requests: dict[str, int], usage: dict[Cell, int], start: int
    ) -> tuple[str, int, tuple[Misfit, ...]]:
        """Return the flavor and its index for the next attempt, or the misfits of all flavors."""
        misfits: list[Misfit] = []
        best, lowest, index = "", 0, -1
        for index in range(start, len(group.flavors)):
            name = group.flavors[index]
            reasons = self._flavor_misfits(self._flavors[name], members, group) or self._resources_over_quota(
                name, requests, usage
            )
            misfits += reasons
            if reasons:
                continue
            height = max(
                self._capacity.height(self._queue.node, (name, resource), usage.get((name, resource), 0) + value)
                for resource, value in requests.items()
            )
            if not best or height < lowest:
                best, lowest = name, height
            if height == 0 or not self._queue.borrows_last:
                break
        return best, -1 if index == len(group.flavors) - 1 else index, tuple(misfits)

    def _flavor_misfits(self, flavor: Flavor, members: list[PodSet], group: ResourceGroup) -> list[Misfit]:
        """Return the reason why the pods cannot use a flavor, if there is one."""
        for one in members:
            if message := self._topology(flavor, one, group):
                return [Misfit(flavor.name, "topology", message)]
            if taint := untolerated_taint(one.pod, flavor):
                text = f"{taint['key']}{'=' + taint['value'] if taint.get('value') else ''}:{taint['effect']}"
                return [Misfit(flavor.name, "taint", f"flavor {flavor.name} has the taint {text}")]
            if not matches_labels(one.pod, flavor.labels):
                labels = ", ".join(f"{key}={value}" for key, value in sorted(flavor.labels.items()))
                return [Misfit(flavor.name, "labels", f"flavor {flavor.name} has the node labels {labels}")]
        return []

    def _topology(self, flavor: Flavor, one: PodSet, group: ResourceGroup) -> str:
        """Return the reason why a flavor's topology, or its lack of one, excludes a pod set."""
        if not self._requests_topology(one):
            return f"flavor {flavor.name} only has topology-aware scheduling" if flavor.topology else ""
        if not one.topology:
            return ""
        if not flavor.topology:
            overlaps = any(name in group.resources for name in one.each)
            return f"flavor {flavor.name} has no topology" if overlaps else ""
        levels = (self._topologies.get(("", flavor.topology)) or {}).get("spec", {}).get("levels") or []
        known = {level.get("nodeLabel") for level in levels}
        missing = [level for level in one.levels if level not in known]
        return f"the topology of flavor {flavor.name} has no level {missing[0]}" if missing else ""

    def _resources_over_quota(self, flavor: str, requests: dict[str, int], usage: dict[Cell, int]) -> list[Misfit]:
        """Return the resources for which the queue can never have enough of a flavor."""
        found = []
        for resource, value in requests.items():
            before = usage.get((flavor, resource), 0)
            capacity = self._capacity.maximum(self._queue.node, (flavor, resource))
            if before + value > capacity:
                message = f"flavor {flavor} has at most {text_of(resource, capacity)} {resource}"
                found.append(Misfit(flavor, "quota", message, resource, before, value, capacity))
        return found


def untolerated_taint(pod: Tree, flavor: Flavor) -> Tree | None:
    """Return the flavor's first taint that neither the pod nor the flavor tolerates."""
    tolerations = [*(pod.get("tolerations") or ()), *flavor.tolerations]
    for taint in flavor.taints:
        if taint["effect"] in EFFECTS and not any(_tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def _tolerates(toleration: Tree, taint: Tree) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    same = (toleration.get("value") or "") == (taint.get("value") or "")
    return operator == "Equal" and bool(toleration.get("key")) and same


def matches_labels(pod: Tree, labels: Mapping[str, str]) -> bool:
    """Return whether a pod's node selector and required node affinity match a flavor's labels."""
    selector = pod.get("nodeSelector") or {}
    if any(key in labels and labels[key] != value for key, value in selector.items()):
        return False
    terms = []
    for term in get(pod, REQUIRED) or ():
        known = [one for one in term.get("matchExpressions") or () if one.get("key") in labels]
        if not known:
            return True  # terms are alternatives, and this one has no condition on the flavor
        terms.append(known)
    return not terms or any(all(_expression_holds(one, labels) for one in term) for term in terms)


def selects(selector: Tree | None, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector matches; None matches nothing, an empty one everything."""
    if selector is None:
        return False
    given = selector.get("matchLabels") or {}
    listed = selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in given.items()) and all(
        _expression_holds(one, labels) for one in listed
    )


def selector_keys(selector: Tree | None) -> set[str]:
    """Return the label keys that a selector reads."""
    found = selector or {}
    return {*(found.get("matchLabels") or ()), *(one["key"] for one in found.get("matchExpressions") or ())}


def selector_part(selector: Tree, known: set[str]) -> Tree:
    """Return the part of a selector that only reads known keys."""
    return {
        "matchLabels": {key: value for key, value in (selector.get("matchLabels") or {}).items() if key in known},
        "matchExpressions": [one for one in selector.get("matchExpressions") or () if one["key"] in known],
    }


def _expression_holds(expression: Tree, labels: Mapping[str, str]) -> bool:
    """Return whether an expression holds for some labels."""
    key: str = expression["key"]
    value = labels.get(key)
    values: list[str] = expression.get("values") or []
    operator: str = expression.get("operator", "")
    if operator == "In":
        return value in values
    if operator == "NotIn":
        return value is None or value not in values
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) == (operator == "Exists")
    texts = value, values[0] if len(values) == 1 else None
    mine, bound = (parse_int(text) if isinstance(text, str) else None for text in texts)
    if mine is None or bound is None or operator not in ("Gt", "Lt"):
        return False
    return mine > bound if operator == "Gt" else mine < bound
