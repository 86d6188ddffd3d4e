"""Important kinds: those whose objects may give rights, run code or delete data.

Reads    the identity of an object.
Returns  whether its kind is important. A format lists important objects first, and never leaves one out of a list that
         is too long. A kind is important unless it is in `ORDINARY`: trainc does not know what a controller does with
         an object of another group. A JobSet also runs code, but a review is about JobSets, which have entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from trainc.diagnostics import ObjectId

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


def is_important(id: ObjectId) -> bool:
    """Return whether objects of a kind may give rights, run code or delete data.

    >>> from trainc.diagnostics import ObjectId
    >>> is_important(ObjectId("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", name="admins"))
    True
    >>> is_important(ObjectId("v1", "Namespace", name="ml")), is_important(ObjectId("v1", "ConfigMap", name="files"))
    (True, False)
    """
    return id.kind not in ORDINARY.get(id.apiVersion.rpartition("/")[0], ())
