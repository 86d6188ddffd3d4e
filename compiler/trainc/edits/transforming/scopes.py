"""The kinds that have no namespace.

Reads    the identity of an object, and the CustomResourceDefinitions of a run.
Returns  whether objects of its kind are in a namespace. As in kustomize, an unknown kind is.
Source   Kubernetes 1.36 (`kubectl api-resources --namespaced=false`), Trainer v2.3, Kueue v0.19.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.diagnostics import Document, ObjectId

CLUSTER_SCOPED: Final[Mapping[str, frozenset[str]]] = {
    "": frozenset({"ComponentStatus", "Namespace", "Node", "PersistentVolume"}),
    "admissionregistration.k8s.io": frozenset(
        {
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        }
    ),
    "apiextensions.k8s.io": frozenset({"CustomResourceDefinition"}),
    "apiregistration.k8s.io": frozenset({"APIService"}),
    "authentication.k8s.io": frozenset({"SelfSubjectReview", "TokenReview"}),
    "authorization.k8s.io": frozenset({"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"}),
    "certificates.k8s.io": frozenset({"CertificateSigningRequest", "ClusterTrustBundle"}),
    "flowcontrol.apiserver.k8s.io": frozenset({"FlowSchema", "PriorityLevelConfiguration"}),
    "internal.apiserver.k8s.io": frozenset({"StorageVersion"}),
    "kueue.x-k8s.io": frozenset(
        {
            "AdmissionCheck",
            "ClusterQueue",
            "Cohort",
            "MultiKueueCluster",
            "MultiKueueConfig",
            "ProvisioningRequestConfig",
            "ResourceFlavor",
            "Topology",
            "WorkloadPriorityClass",
        }
    ),
    "networking.k8s.io": frozenset({"IPAddress", "IngressClass", "ServiceCIDR"}),
    "node.k8s.io": frozenset({"RuntimeClass"}),
    "rbac.authorization.k8s.io": frozenset({"ClusterRole", "ClusterRoleBinding"}),
    "resource.k8s.io": frozenset({"DeviceClass", "DeviceTaintRule", "ResourceSlice"}),
    "scheduling.k8s.io": frozenset({"PriorityClass"}),
    "storage.k8s.io": frozenset({"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"}),
    "storagemigration.k8s.io": frozenset({"StorageVersionMigration"}),
    "trainer.kubeflow.org": frozenset({"ClusterTrainingRuntime"}),
}
"""The kinds by API group. A group's versions have the same kinds."""


def is_namespaced(id: ObjectId, defined: Mapping[tuple[str, str], bool]) -> bool:
    """Return whether an object is in a namespace; a document that is not a named object is not.

    defined   the scopes of the kinds that the run's documents define
    """
    if not (id.apiVersion and id.kind and id.name):
        return False
    group, slash, _ = id.apiVersion.partition("/")
    key = (group if slash else "", id.kind)
    return defined[key] if key in defined else key[1] not in CLUSTER_SCOPED.get(key[0], ())


def namespaced_kinds(documents: Iterable[Document]) -> dict[tuple[str, str], bool]:
    """Return whether the kinds of CustomResourceDefinitions are namespaced, by API group and kind."""
    found = {}
    for document in documents:
        if document.value.get("kind") == "CustomResourceDefinition":
            group, kind = (get(document.value, ("spec", *path)) for path in (("group",), ("names", "kind")))
            if isinstance(group, str) and isinstance(kind, str):
                found[group, kind] = get(document.value, ("spec", "scope")) != "Cluster"
    return found
