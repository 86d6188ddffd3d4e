"""Admission where several objects of one name have different specs, as in `dev/` and `prod/`.

Reads    a JobSet, and a cluster with alternatives.
Returns  the verdict that holds for each combination of the alternatives that decide about the JobSet, or an undecided
         one. A cluster has only some of the combinations: a verdict that holds for all of them also holds for those.
         And the keys of the objects that decide about a JobSet, also invalid ones: LocalQueue, ClusterQueue,
         flavors and their topologies, cohorts above and their other members, from which the queue can borrow; the
         namespace, its LimitRanges, and the RuntimeClasses.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import EACH
from trainc.kubernetes.trees import get, values_at
from trainc.kueue.admission import DEFAULT, LABEL, Admission

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree
    from trainc.kueue.admission import Verdict
    from trainc.kueue.kueue_objects import Cluster, Key

MOST: Final = 64
"""The number of combinations that are tried."""
COHORT: Final = (("spec", "cohortName"), ("spec", "cohort"))
PARENT: Final = (("spec", "parentName"), ("spec", "parent"))
FLAVORS: Final = (("spec", "resourceGroups", EACH, "flavors", EACH, "name"),)
REFERENCES: Final = {
    "LocalQueue": (("ClusterQueue", (("spec", "clusterQueue"),)),),
    "ClusterQueue": (("Cohort", COHORT), ("ResourceFlavor", FLAVORS)),
    "Cohort": (("Cohort", PARENT), ("ResourceFlavor", FLAVORS)),
    "ResourceFlavor": (("Topology", (("spec", "topologyName"),)),),
}
"""The kinds that the objects of a kind refer to, each with the paths of the names; all of them are cluster-scoped."""


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


class DecidingObjects:
    """The references between the objects of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._documents = cluster.documents
        self._members: dict[Key, list[Key]] = {}
        """The ClusterQueues and Cohorts of a Cohort, and the LimitRanges of a Namespace."""
        for key, documents in cluster.documents.items():
            for owner in _owners(key, documents):
                self._members.setdefault(owner, []).append(key)
        self._runtime_classes = [key for key in cluster.documents if key[0] == "RuntimeClass"]

    def keys(self, jobsets: Iterable[Tree]) -> set[Key]:
        """Return the keys of the objects that decide about some JobSets."""
        found: set[Key] = set()
        pending = [key for jobset in jobsets for key in self._first_keys(jobset)]
        while pending:
            key = pending.pop()
            if key not in found:
                found.add(key)
                pending += [*_references(self._documents.get(key, ())), *self._members.get(key, ())]
        return found

    def _first_keys(self, jobset: Tree) -> Iterator[Key]:
        namespace = get(jobset, ("metadata", "namespace"), "")
        yield "LocalQueue", namespace, get(jobset, LABEL, DEFAULT)
        yield "Namespace", "", namespace
        yield from self._runtime_classes


def _owners(key: Key, documents: Iterable[Document]) -> Iterator[Key]:
    """Yield the objects that an object is a member of."""
    kind, namespace, _ = key
    if kind == "LimitRange":
        yield "Namespace", "", namespace
    elif kind in ("ClusterQueue", "Cohort"):
        yield from (other for other in _references(documents) if other[0] == "Cohort")


def _references(documents: Iterable[Document]) -> Iterator[Key]:
    for document in documents:
        for kind, paths in REFERENCES.get(document.value["kind"], ()):
            for path in paths:
                for _, name in values_at(document.value, path):
                    if isinstance(name, str):
                        yield kind, "", name
