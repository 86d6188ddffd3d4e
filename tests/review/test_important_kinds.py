"""Kinds that give rights, run code or delete data are important; so is every kind that trainc does not know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from committing import commit
from environments import JOB
from files import write
from running import run

from trainc.cli.common.options import REVIEWS
from trainc.compilation.important_objects import is_important
from trainc.diagnostics import ObjectId

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


CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: file-{0}}}\n"
BINDING = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {{name: admins-{0}}}\n"
BINDING += "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}}\n"


def added(*documents: str) -> None:
    """Commit a TrainJob, then add files with a document each."""
    write("jobs/a.yaml", JOB.format(name="a"))
    commit()
    for number, document in enumerate(documents):
        write(f"jobs/{number:05}.yaml", document.format(number))


@pytest.mark.parametrize("form", REVIEWS)
@pytest.mark.parametrize("config_maps", [25, 250])
def test_a_list_that_is_cut_has_counts_and_all_important_objects(
    form: str, config_maps: int, empty_repository: Path
) -> None:
    added(*[CONFIG_MAP] * config_maps, BINDING)
    text = run("diff", "HEAD", "--format", form).out
    if form == "json":
        rows = [row["object"] for row in json.loads(text)["notCompared"]]
        assert sum(row["kind"] == "ConfigMap" for row in rows) == config_maps
    assert f"admins-{config_maps}" in text
    if "more\n" in text:
        head = text[: text.index("file-")]
        assert f"{config_maps} ConfigMaps" in head
        assert "ClusterRoleBinding" in head


@pytest.mark.parametrize("form", REVIEWS)
def test_changed_objects_of_important_kinds_are_never_cut(form: str, empty_repository: Path) -> None:
    """Of a rendered folder, all changes have one cause: they are unknown."""
    write("rendered/a.yaml", "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\n")
    for number in range(20):
        write(f"rendered/m{number}.yaml", CONFIG_MAP.format(number) + "data: {a: b}\n")
        write(f"rendered/r{number}.yaml", BINDING.format(number))
    commit()
    for number in range(20):
        write(f"rendered/m{number}.yaml", CONFIG_MAP.format(number) + "data: {a: c}\n")
        write(f"rendered/r{number}.yaml", BINDING.format(number) + "subjects: [{kind: User, name: eve}]\n")
    text = run("diff", "HEAD", "--format", form, "--", "rendered").out
    assert all(f"admins-{number}" in text for number in range(20))


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_edits_of_a_copied_document_are_one_entry(form: str, empty_repository: Path) -> None:
    write("trainc.yaml", "passthrough: true\n")
    added()
    write("jobs/map.yaml", CONFIG_MAP.format(1) + "data: {a: x, b: x}\n")
    commit()
    write("jobs/map.yaml", CONFIG_MAP.format(1) + "data: {a: y, b: y}\n")
    text = run("diff", "HEAD", "--format", form).out
    name = {"text": "jobs/map.yaml:4: ConfigMap file-1\n", "markdown": "`jobs/map.yaml:4` `ConfigMap file-1`: 2 fields"}
    assert text.count(name[form]) == 1
    assert text.count("data.a") == 1


def test_a_comment_with_too_many_important_objects_has_their_counts(empty_repository: Path) -> None:
    added(*[BINDING] * 2_000, CONFIG_MAP)
    text = run("diff", "HEAD", "--format", "markdown").out
    assert (
        text
        == """\
### 2,001 not compared

`HEAD` → `the working tree`

Changed: 2,000 ClusterRoleBindings and 1 ConfigMap.

**Too large for a comment**: read `trainc diff --format html`.
"""
    )
