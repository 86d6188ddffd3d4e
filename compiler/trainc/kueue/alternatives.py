"""Admission where several objects of one name have different specs, as in `dev/` and `prod/`.

Reads    a JobSet, and a cluster with alternatives.
Returns  the verdict that holds for each combination of the alternatives that decide about the JobSet, or an undecided
         one. A cluster has only some of the combinations: a verdict that holds for all of them also holds for those.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final

from trainc.kubernetes.trees import get
from trainc.kueue.admission import LABEL, Admission
from trainc.kueue.deciding import DecidingObjects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Tree
    from trainc.kueue.admission import Verdict
    from trainc.kueue.kueue_objects import Cluster, Key

MOST: Final = 64
"""The number of combinations that are tried."""


class Alternatives:
    """The admission of JobSets by the queues of one repository, with every alternative."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.first = Admission(cluster)
        """The admission by the first object of each name."""
        self._objects: DecidingObjects | None = None
        self._keys: dict[tuple[str, str], tuple[Key, ...]] = {}
        self._admissions: dict[tuple[Key, ...], list[Admission]] = {}

    def deciding(self, jobsets: Iterable[Tree]) -> set[Key]:
        """Return the keys of the objects that decide about some JobSets."""
        if self._objects is None:
            self._objects = DecidingObjects(self.cluster)
        return self._objects.keys(jobsets)

    def verdict(self, jobset: Tree) -> Verdict:
        """Return whether a JobSet can be admitted."""
        first = self.first.verdict(jobset)
        if not self.cluster.alternatives:
            return first
        keys = self._keys_of(jobset)
        if not keys:
            return first
        if prod(len(self.cluster.alternatives[key]) for key in keys) > MOST:
            return _undecided(first, keys)
        verdicts = [admission.verdict(jobset) for admission in self._combinations(keys)]
        if all(verdict.never for verdict in verdicts):
            return first
        results = [(verdict.never, verdict.cluster_queue, verdict.flavors, verdict.undecided) for verdict in verdicts]
        return first if all(result == results[0] for result in results) else _undecided(first, keys)

    def _keys_of(self, jobset: Tree) -> tuple[Key, ...]:
        """Return the keys with alternatives that decide about a JobSet: one search for each queue of a namespace."""
        queue = get(jobset, ("metadata", "namespace"), ""), get(jobset, LABEL, "")
        if queue not in self._keys:
            deciding = self.deciding([jobset])
            self._keys[queue] = tuple(key for key in self.cluster.alternatives if key in deciding)
        return self._keys[queue]

    def _combinations(self, keys: tuple[Key, ...]) -> list[Admission]:
        """Return the admission for each combination of the alternatives of some keys, the first ones first."""
        if keys not in self._admissions:
            rows = product(*(self.cluster.alternatives[key] for key in keys))
            self._admissions[keys] = [
                Admission(self.cluster.with_objects(dict(zip(keys, row, strict=True)))) for row in rows
            ]
        return self._admissions[keys]


def _undecided(first: Verdict, keys: tuple[Key, ...]) -> Verdict:
    kind, _, name = keys[0]
    reason = f"the given paths have several {kind}s {name} with different specs"
    return first._replace(never=None, flavors=None, undecided=reason)
