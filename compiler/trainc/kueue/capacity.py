"""Maximum capacity: how much of a flavor and resource a ClusterQueue can ever have, borrowing from its cohort.

Reads    the ClusterQueues and Cohorts of a repository.
Returns  for a queue, its maximum capacity and the height in the cohort tree from which a request has to borrow; and the
         cycles of cohorts.
Source   Kueue v0.19, pkg/cache/scheduler/resource_node.go (potentialAvailable) and the preemption package
         (FindHeightOfLowestSubtreeThatFits), in an empty cluster.

The quota of a subtree is the node's own plus that of its children that they lend. A cohort without an object has no
quota of its own. Sums saturate at `UNLIMITED`, and nothing is subtracted from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kueue.kueue_objects import UNLIMITED, Cell, CohortNode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kueue.kueue_objects import Cluster

MOST_LEVELS: Final = 64
"""The most levels of a tree of cohorts in which quotas are summed: each level repeats the quotas of those below."""


class Capacity:
    """The cohort trees of a cluster. Sums are computed once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cohorts = cluster.cohorts
        self._children: dict[str, list[str]] = {}
        """The cohorts whose parent is a cohort."""
        for cohort in cluster.cohorts.values():
            if cohort.parent:
                self._children.setdefault(cohort.parent, []).append(cohort.name)
        self._members: dict[str, list[CohortNode]] = {}
        """The queues of each cohort."""
        for queue in cluster.queues.values():
            if queue.node.parent:
                self._members.setdefault(queue.node.parent, []).append(queue.node)
        self._subtrees: dict[str, dict[Cell, int]] = {}
        self._heights: dict[str, int] = {}
        self._levels: dict[str, tuple[str, int]] = {}
        """The root of each cohort, and its level below the root; the root is empty for a cycle."""
        self._deep_roots = {root for root, level in map(self._level, self._children) if level >= MOST_LEVELS - 1}

    def is_cyclic(self, name: str) -> bool:
        """Return whether a cohort is in, or below, a cycle of cohorts."""
        return bool(name) and not self._level(name)[0]

    def is_too_deep(self, name: str) -> bool:
        """Return whether the tree of a cohort has more than `MOST_LEVELS` levels."""
        return bool(name) and self._level(name)[0] in self._deep_roots

    def parents(self, name: str) -> list[str]:
        """Return a cohort and the cohorts above it, the root last; none for a cycle and for a tree that is too deep."""
        found: list[str] = []
        if self.is_cyclic(name) or self.is_too_deep(name):
            return found
        while name:
            found.append(name)
            name = self._parent(name)
        return found

    def _parent(self, name: str) -> str:
        cohort = self._cohorts.get(name)
        return cohort.parent if cohort is not None else ""

    def _level(self, name: str) -> tuple[str, int]:
        """Return the root and the level of a cohort. Those above it come first: each cohort is visited once."""
        path: dict[str, None] = {}
        above = name
        while above and above not in self._levels and above not in path:
            path[above] = None
            above = self._parent(above)
        is_root_new = not above
        root, level = self._levels.get(above, ("", 0))
        for each in reversed(path):
            root, level = (each, 0) if is_root_new and not root else (root, level + 1)
            self._levels[each] = root, level
        return self._levels[name]

    def is_alone(self, node: CohortNode) -> bool:
        """Return whether the repository has no other member of a queue's cohort and no object for the cohort."""
        name = node.parent
        return bool(name) and not (
            name in self._cohorts or self._children.get(name) or len(self._members.get(name, ())) > 1
        )

    def maximum(self, node: CohortNode, cell: Cell) -> int:
        """Return the maximum capacity of a queue; 0 for a cell without quota."""
        nominal = node.quotas[cell].nominal if cell in node.quotas else 0
        names = self.parents(node.parent)
        if not names:
            return nominal
        available = self._subtree(names[-1]).get(cell, 0)
        for name in reversed(names[:-1]):
            available = self._reachable_quota(self._node(name), cell, self._subtree(name).get(cell, 0), available)
        return self._reachable_quota(node, cell, nominal, available)

    def joint_maximum(self, nodes: Iterable[CohortNode], cell: Cell) -> int:
        """Return how much some queues of one tree can have together: the shared quota, and what they do not lend."""
        nodes = list(nodes)
        names = [self.parents(node.parent) for node in nodes]
        shared = self._subtree(names[0][-1]).get(cell, 0)
        own = [_local(node, cell, node.quotas[cell].nominal) for node in nodes if cell in node.quotas]
        between = dict.fromkeys(name for above in names for name in above[:-1])
        own += [_local(self._node(name), cell, self._subtree(name).get(cell, 0)) for name in between]
        return min(UNLIMITED, shared + sum(own))

    def height(self, node: CohortNode, cell: Cell, value: int) -> int:
        """Return the height of the lowest subtree with quota for a value: 0 if the queue need not borrow."""
        quota = node.quotas.get(cell)
        nominal = quota.nominal if quota is not None else 0
        names = self.parents(node.parent)
        if not names or nominal >= value:
            return 0
        rest = value - _local(node, cell, nominal)
        for name in names:
            subtree = self._subtree(name).get(cell, 0)
            if subtree >= rest:
                return self._height(name)
            rest -= _local(self._node(name), cell, subtree)
        return self._height(names[-1])

    @staticmethod
    def _reachable_quota(node: CohortNode, cell: Cell, subtree: int, of_parent: int) -> int:
        """Return what a node can have if its parent has `of_parent`."""
        available = _sum(_local(node, cell, subtree), of_parent)
        quota = node.quotas.get(cell)
        if quota is None or quota.borrowing is None:
            return available
        return min(_sum(subtree, quota.borrowing), available)

    def _node(self, name: str) -> CohortNode:
        return self._cohorts.get(name) or CohortNode(name, "", {})

    def _subtree(self, root: str) -> dict[Cell, int]:
        """Return the quotas of a cohort's subtree. Children come first, without recursion: trees can be deep."""
        if root not in self._subtrees:
            for name in reversed(self._cohorts_below(root)):
                self._add(name)
        return self._subtrees[root]

    def _cohorts_below(self, root: str) -> list[str]:
        """Return a cohort and the cohorts below it whose sums are not known, parents first."""
        found = [root]
        for name in found:
            found += (child for child in self._children.get(name, ()) if child not in self._subtrees)
        return found

    def _add(self, name: str) -> None:
        cohort = self._cohorts.get(name)
        total = {cell: quota.nominal for cell, quota in cohort.quotas.items()} if cohort is not None else {}
        children = self._children.get(name, ())
        parts = [(self._node(child), self._subtrees[child]) for child in children]
        parts += [
            (member, {cell: quota.nominal for cell, quota in member.quotas.items()})
            for member in self._members.get(name, ())
        ]
        for node, subtree in parts:
            for cell, quota in subtree.items():
                total[cell] = _sum(total.get(cell, 0), _difference(quota, _local(node, cell, quota)))
        self._subtrees[name] = total
        tallest = max((self._heights[child] + 1 for child in children), default=0)
        self._heights[name] = max(tallest, 1 if parts else 0)

    def _height(self, name: str) -> int:
        self._subtree(name)
        return self._heights[name]


def cycles(cluster: Cluster) -> list[list[CohortNode]]:
    """Return the cycles of cohorts, each once."""
    found: list[list[CohortNode]] = []
    done: set[str] = set()
    for name in cluster.cohorts:
        path: dict[str, None] = {}
        here = name
        while here in cluster.cohorts and here not in done and here not in path:
            path[here] = None
            here = cluster.cohorts[here].parent
        if here in path:
            names = list(path)
            found.append([cluster.cohorts[other] for other in names[names.index(here) :]])
        done |= path.keys()
    return found


def _local(node: CohortNode, cell: Cell, subtree: int) -> int:
    """Return the part of a node's quota that it does not lend."""
    quota = node.quotas.get(cell)
    return max(0, _difference(subtree, quota.lending)) if quota is not None and quota.lending is not None else 0


def _sum(one: int, other: int) -> int:
    return min(one + other, UNLIMITED)


def _difference(one: int, other: int) -> int:
    return one if one >= UNLIMITED else one - other
