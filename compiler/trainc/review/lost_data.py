"""Objects whose deletion loses data.

Reads    a removed object, and the objects that stay.
Returns  whether a tool that prunes deletes data with it: a volume, a credential, all objects of a namespace or of a
         kind, or the ConfigMap of a job that stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBS_OF_JOBSET, JOBSET, POD
from trainc.kubernetes.pod_references import references
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.diagnostics import ObjectId
    from trainc.kubernetes.trees import Tree

WITH_DATA: Final = frozenset(
    {
        ("", "Namespace"),
        ("", "PersistentVolumeClaim"),
        ("", "Secret"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
    }
)
"""The API groups and kinds of the objects that have data of their own."""
DELETED: Final = "deleted with its data by a tool that prunes"


def loses_data(id: ObjectId, used: frozenset[tuple[str, str]]) -> bool:
    """Return whether the deletion of an object loses data; `used` are the ConfigMaps of `used_config_maps`."""
    group, slash, _ = id.apiVersion.partition("/")
    kind = (group if slash else "", id.kind)
    return kind in WITH_DATA or (kind == ("", "ConfigMap") and (id.namespace, id.name) in used)


def used_config_maps(objects: Iterable[Tree]) -> frozenset[tuple[str, str]]:
    """Return the namespaces and names of the ConfigMaps that the pods of JobSets refer to."""
    found = set[tuple[str, str]]()
    for tree in objects:
        jobs = get(tree, JOBS_OF_JOBSET) if tree.get("kind") == JOBSET.kind else None
        for job in jobs if isinstance(jobs, list) else ():
            pod = get(job, POD)
            if isinstance(pod, dict):
                namespace = get(tree, ("metadata", "namespace"), "")
                found.update((namespace, each.name) for each in references(pod) if each.kind == "ConfigMap")
    return frozenset(found)
