"""Kinds that give rights, run code or delete data are important; so is every kind that trainc does not know."""

from __future__ import annotations

import pytest

from trainc.diagnostics import ObjectId
from trainc.review.important_kinds import is_important

IMPORTANT = [
    "rbac.authorization.k8s.io/v1 ClusterRoleBinding",
    "rbac.authorization.k8s.io/v1 RoleBinding",
    "rbac.authorization.k8s.io/v1beta1 Role",
    "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration",
    "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding",
    "apiextensions.k8s.io/v1 CustomResourceDefinition",
    "apiregistration.k8s.io/v1 APIService",
    "networking.k8s.io/v1 NetworkPolicy",
    "v1 Namespace",
    "v1 ServiceAccount",
    "v1 Secret",
    "v1 Pod",
    "v1 PersistentVolumeClaim",
    "v1 ReplicationController",
    "apps/v1 DaemonSet",
    "batch/v1 CronJob",
    "batch/v1 Job",
    "argoproj.io/v1alpha1 Application",
    "kubeflow.org/v1 PyTorchJob",
    "acme.io/v1 Unknown",
    "acme.io/v1 ConfigMap",
]
ORDINARY = [
    "v1 ConfigMap",
    "v1 Service",
    "kueue.x-k8s.io/v1beta1 LocalQueue",
    "kueue.x-k8s.io/v1beta2 LocalQueue",
    "scheduling.x-k8s.io/v1alpha1 PodGroup",
    "jobset.x-k8s.io/v1alpha2 JobSet",
    "trainer.kubeflow.org/v1alpha1 TrainJob",
]


@pytest.mark.parametrize("kind", IMPORTANT)
def test_important(kind: str) -> None:
    assert is_important(ObjectId(*kind.split()))


@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary(kind: str) -> None:
    assert not is_important(ObjectId(*kind.split()))
