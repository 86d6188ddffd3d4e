"""Important objects: those that may give rights, run code or delete data, and those whose deletion loses data.

Reads    the identity of an object; of a removed one, also the objects that stay.
Returns  whether a format lists the object first, and never leaves it out of a list that is too long. A kind is
         important unless it is in `ORDINARY`: trainc does not know what a controller does with an object of another
         group. A JobSet also runs code, but a review is about JobSets, which have entries.
         Whether a tool that prunes deletes data with the object: a volume, a credential, all objects of a namespace or
         of a kind, or the ConfigMap of a job that stays.
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

ORDINARY: Final = {
    "": {"ConfigMap", "Endpoints", "Event", "LimitRange", "ResourceQuota", "Service"},
    "autoscaling": {"HorizontalPodAutoscaler"},
    "coordination.k8s.io": {"Lease"},
    "discovery.k8s.io": {"EndpointSlice"},
    "events.k8s.io": {"Event"},
    "gateway.networking.k8s.io": {"Gateway", "GRPCRoute", "HTTPRoute"},
    "jobset.x-k8s.io": {"JobSet"},
    "kueue.x-k8s.io": {
        *("AdmissionCheck", "ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor"),
        *("Topology", "Workload", "WorkloadPriorityClass"),
    },
    "monitoring.coreos.com": {"PodMonitor", "PrometheusRule", "ServiceMonitor"},
    "networking.k8s.io": {"Ingress", "IngressClass"},
    "policy": {"PodDisruptionBudget"},
    "scheduling.k8s.io": {"PriorityClass"},
    "scheduling.volcano.sh": {"PodGroup", "Queue"},
    "scheduling.x-k8s.io": {"PodGroup"},
    "trainer.kubeflow.org": {"ClusterTrainingRuntime", "TrainJob", "TrainingRuntime"},
}
"""The kinds that give no rights, run no code of their own and keep no data, by API group."""
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


def is_important(id: ObjectId) -> bool:
    """Return whether objects of a kind may give rights, run code or delete data.

    >>> from trainc.diagnostics import ObjectId
    >>> is_important(ObjectId("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", name="admins"))
    True
    >>> is_important(ObjectId("v1", "Namespace", name="ml")), is_important(ObjectId("v1", "ConfigMap", name="files"))
    (True, False)
    """
    return id.kind not in ORDINARY.get(id.apiVersion.rpartition("/")[0], ())


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
