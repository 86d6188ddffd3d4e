"""A project without TrainJobs renders its copied documents: `diff` and `build` agree on them, and on lost data."""

from __future__ import annotations

from pathlib import Path

import pytest
from committing import git
from running import run

SETTINGS = """\
passthrough: true
output: rendered
environments:
  dev: {namespaceSuffix: -dev}
  prod: {}
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, namespace: nlp}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: "registry.example/a:1", numNodes: 1}
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: nlp}
spec: {accessModes: [ReadWriteOnce]}
"""
LOST = "deleted with its data by a tool that prunes"


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> None:
    Path("trainc.yaml").write_text(SETTINGS)
    Path("job.yaml").write_text(JOB)
    Path("claim.yaml").write_text(CLAIM)
    assert run("build").code == 0
    git("add", "-A", at=empty_repository)
    git("commit", "-qm", "a job and its claim", at=empty_repository)


def test_the_claims_stay_when_the_last_job_is_removed() -> None:
    Path("job.yaml").unlink()
    shown = run("diff").out
    assert "\n2 to remove\n" in shown
    assert LOST not in shown
    built = run("build")
    assert "rendered/dev: 0 written, 1 removed, 1 unchanged" in built.err
    assert LOST not in built.err


def test_a_build_says_once_which_removed_objects_lose_data() -> None:
    Path("claim.yaml").unlink()
    assert LOST in run("diff").out
    built = run("build").err
    assert f"rendered/dev: removed PersistentVolumeClaim nlp-dev/data: {LOST}\n" in built
    assert f"rendered/prod: removed PersistentVolumeClaim nlp/data: {LOST}\n" in built
    assert LOST not in run("build").err


VARIABLE = "env: [{name: A, valueFrom: {configMapKeyRef: {name: tokens, key: a}}}]"
OTHERS = {
    "ConfigMap nlp/tokens": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tokens, namespace: nlp}\n",
    "ConfigMap nlp/unused": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unused, namespace: nlp}\n",
    "Namespace nlp": "apiVersion: v1\nkind: Namespace\nmetadata: {name: nlp}\n",
    "Secret nlp/bucket": "apiVersion: v1\nkind: Secret\nmetadata: {name: bucket, namespace: nlp}\n",
    "Service nlp/web": "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: nlp}\n",
    "CustomResourceDefinition corpora.acme.io": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    "metadata: {name: corpora.acme.io}\n",
}
LOSSLESS = {"ConfigMap nlp/unused", "Service nlp/web"}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("with_job", [False, True])
def test_diff_and_build_mark_the_removal_of_the_same_objects(name: str, with_job: bool) -> None:
    Path("trainc.yaml").write_text("passthrough: true\noutput: rendered\n")
    Path("job.yaml").write_text(JOB.replace("numNodes: 1", f"numNodes: 1, {VARIABLE}"))
    Path("other.yaml").write_text(OTHERS[name])
    assert run("build").code == 0
    git("add", "-A", at=Path.cwd())
    git("commit", "-qm", "one more", at=Path.cwd())
    Path("other.yaml").unlink()
    if with_job:
        Path("job.yaml").unlink()
    # Without the job that reads it, the ConfigMap is lost with nothing that needs it.
    is_lost = name not in LOSSLESS and not (with_job and name == "ConfigMap nlp/tokens")
    assert (f"- removed {name}  other.yaml: {LOST}\n" in run("diff").out) == is_lost
    assert (f"rendered: removed {name}: {LOST}\n" in run("build").err) == is_lost


def test_a_setting_decides_what_is_omitted() -> None:
    assert "omitted" not in run("build", "--passthrough").err
    Path("trainc.yaml").write_text('passthrough: ["other.yaml"]\n')
    assert "omitted" not in run("build", "job.yaml", "claim.yaml", "-o", "-").err
    Path("trainc.yaml").write_text("")
    assert "omitted 1 document of other kinds" in run("build", "job.yaml", "claim.yaml").err
