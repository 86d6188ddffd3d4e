"""The objects that decide about a JobSet's admission: those that its LocalQueue leads to.

Reads    the documents of a cluster, also invalid ones, so it expects no types.
Returns  the keys of the LocalQueue, its ClusterQueue, the flavors and their topologies, the cohorts above, the other
         members of these cohorts, from which the queue can borrow; and the keys of the namespace, its LimitRanges, and
         the RuntimeClasses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import EACH
from trainc.kubernetes.trees import get, values_at
from trainc.kueue.admission import DEFAULT, LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree
    from trainc.kueue.kueue_objects import Cluster, Key

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
