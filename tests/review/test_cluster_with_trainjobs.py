"""`trainc diff` in a project with `output: none`, whose cluster gets the TrainJobs and makes the JobSets."""

from __future__ import annotations

from pathlib import Path

import pytest
from committing import commit
from environments import JOB
from files import write
from running import run
from syrupy.assertion import SnapshotAssertion

KEPT = "an existing job does not get this change: delete the TrainJob first (a running one loses its training)\n"
BESIDE = "an existing job does not get this change, because of another one\n"
NEW_JOBS = "applies to new jobs: running jobs keep the old value\n"
IMMUTABLE = ("command: [python]", "command: [python3]")
PATCH = """\
  runtimePatches:
  - manager: acme.io/pools
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template: {spec: {template: {spec: {nodeSelector: {pool: a100}}}}}
"""
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: own, namespace: ml}
spec:
  replicatedJobs:
  - name: node
    template:
      spec:
        template: {spec: {restartPolicy: Never, containers: [{name: node, image: "acme/own:1", command: [python]}]}}
"""
TRAINJOB = JOB.replace("{{name: plain}}", "{{name: torch-distributed}}")
PYTORCHJOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: old, namespace: ml}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: "acme/old:1", command: [python]}]}}}
"""


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> Path:
    """Return a committed project with a TrainJob, a JobSet and a PyTorchJob."""
    (empty_repository / "jobs").mkdir()
    Path("trainc.yaml").write_text("sources: [jobs]\noutput: none\nlegacy: {kinds: [PyTorchJob]}\n")
    for name, text in {
        "train": TRAINJOB.format(name="train"),
        "own": JOBSET,
        "old": PYTORCHJOB,
    }.items():
        Path(f"jobs/{name}.yaml").write_text(text)
    commit()
    return empty_repository


def edit(path: str, *edits: tuple[str, str]) -> None:
    text = Path(path).read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    Path(path).write_text(text)


def test_the_trainjob_must_be_deleted() -> None:
    edit("jobs/train.yaml", IMMUTABLE)
    out = run("diff").out
    assert "\n1 TrainJob must be recreated: a running one loses its training\n" in out
    assert KEPT in out
    assert "--name-suffix-hash" not in out


def test_a_change_beside_an_immutable_one() -> None:
    edit("jobs/train.yaml", IMMUTABLE)
    Path("jobs/train.yaml").write_text(Path("jobs/train.yaml").read_text() + PATCH)
    assert BESIDE in run("diff").out


def test_a_patch_applies_to_new_jobs() -> None:
    Path("jobs/train.yaml").write_text(Path("jobs/train.yaml").read_text() + PATCH)
    out = run("diff").out
    assert NEW_JOBS in out
    assert "must be recreated" not in out


def test_a_suspension_stops_the_job() -> None:
    edit("jobs/train.yaml", ("spec:\n", "spec:\n  suspend: true\n"))
    assert "stops the job: its pods are deleted\n" in run("diff").out


@pytest.mark.parametrize(("name", "kind"), [("own", "JobSet"), ("old", "PyTorchJob")])
def test_an_object_that_no_trainjob_makes(name: str, kind: str) -> None:
    edit(f"jobs/{name}.yaml", (f"acme/{name}:1", f"acme/{name}:2"))
    out = run("diff").out
    assert f"\n1 {kind} must be recreated: a running one loses its training\n" in out
    assert KEPT.replace("TrainJob", kind) in out


def test_the_labels_of_a_jobset_apply_in_place() -> None:
    edit("jobs/own.yaml", ("name: own,", "name: own, labels: {a: b},"))
    assert "applied in place\n" in run("diff").out


def test_a_trainjob_that_moves_to_another_project() -> None:
    environments = "environments: {dev: {namespace: ml-dev}, prod: {namespace: ml}}\n"
    write("a/trainc.yaml", f"output: none\n{environments}")
    write("b/trainc.yaml", f"output: none\n{environments}")
    write("a/train.yaml", TRAINJOB.format(name="moved"))
    commit()
    Path("a/train.yaml").rename("b/train.yaml")
    edit("b/train.yaml", IMMUTABLE)
    done = run("diff", "HEAD", "--", "a", "b")
    assert done.code == 0, done.err
    out = done.out
    assert "\n2 TrainJobs must be recreated: running ones lose their training\n" in out
    assert KEPT in out


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_a_project_that_renders(form: str) -> None:
    edit("trainc.yaml", ("output: none", "output: rendered"))
    commit()
    edit("jobs/train.yaml", IMMUTABLE)
    out = run("diff", "--format", form).out
    assert "1 JobSet must be recreated" in out
    assert "delete the TrainJob" not in out


IMAGES = """\
environments:
  dev: {namespace: ml}
  prod:
    namespace: ml-prod
    images: [{name: acme/train, newTag: "TAG"}]
"""


def test_a_setting_of_what_is_rendered_changes_nothing(snapshot: SnapshotAssertion) -> None:
    settings = Path("trainc.yaml").read_text()
    Path("trainc.yaml").write_text(settings + IMAGES.replace("TAG", "2.0"))
    commit()
    Path("trainc.yaml").write_text(settings + IMAGES.replace("TAG", "3.0"))
    assert run("diff").out == snapshot
    assert run("validate").out == snapshot


def test_a_change_to_rendering_shows_it() -> None:
    settings = Path("trainc.yaml").read_text()
    Path("trainc.yaml").write_text(settings + IMAGES.replace("acme/train", "ghcr.io/acme/app"))
    commit()
    edit("trainc.yaml", ("output: none", "output: rendered"))
    assert "image: ghcr.io/acme/app:v1 -> ghcr.io/acme/app:TAG\n" in run("diff").out


RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: own, labels: {trainer.kubeflow.org/framework: torch}}
spec:
  mlPolicy: POLICY
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: "acme/own:1", command: [python]}]}}}
"""


@pytest.mark.parametrize(
    "policy",
    ["{tensorflow: {}}", "{torch: {elasticPolicy: {minNodes: 1, maxNodes: 2}}}", "{mpi: {mpiImplementation: MPICH}}"],
)
def test_a_policy_that_only_trainc_compiles(policy: str, snapshot: SnapshotAssertion) -> None:
    Path("jobs/runtime.yaml").write_text(RUNTIME.replace("POLICY", policy))
    edit("jobs/train.yaml", ("torch-distributed", "own"))
    result = run("validate", "-q")
    assert result.code == 1
    assert result.out == snapshot
    edit("trainc.yaml", ("output: none", "output: rendered"))
    assert run("validate", "-q").code == 0


def test_a_runtime_that_only_trainc_has(snapshot: SnapshotAssertion) -> None:
    edit("jobs/train.yaml", ("torch-distributed", "torch-distributed-shm"))
    result = run("validate", "-q")
    assert result.code == 1
    assert result.out == snapshot
    assert run("runtimes", "export", "torch-distributed-shm", "-o", "jobs").code == 0
    assert run("validate", "-q").code == 0


def test_a_runtime_that_no_cluster_runs(snapshot: SnapshotAssertion) -> None:
    edit("jobs/train.yaml", ("torch-distributed", "mxnet-distributed"))
    assert run("validate", "-q").out == snapshot


def test_changes_that_the_cluster_rejects(snapshot: SnapshotAssertion) -> None:
    write("jobs/more.yaml", TRAINJOB.format(name="more"))
    commit()
    edit("jobs/train.yaml", IMMUTABLE)
    edit("jobs/more.yaml", IMMUTABLE)
    assert run("diff").out.splitlines()[:4] == snapshot


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_the_cluster_gets_other_objects(form: str) -> None:
    edit("trainc.yaml", ("output: none", "output: rendered"))
    assert (
        "clusters get JobSets instead of TrainJobs: let the TrainJobs finish, and delete them first"
        in run("diff", "--format", form).out
    )
    commit()
    edit("trainc.yaml", ("output: rendered", "output: none"))
    assert (
        "clusters get TrainJobs instead of JobSets: let the JobSets finish, and delete them first"
        in run("diff", "--format", form).out
    )


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_an_output_folder_without_the_changes(form: str) -> None:
    stale = "rendered has none of these changes: clusters get them after the next build"
    edit("trainc.yaml", ("output: none", "output: rendered"))
    assert run("build").code == 0
    commit()
    edit("jobs/train.yaml", IMMUTABLE)
    assert stale in run("diff", "--format", form).out
    commit()
    assert stale in run("diff", "HEAD~1..HEAD", "--format", form).out
    assert run("build").code == 0
    assert stale not in run("diff", "HEAD~1", "--format", form).out
    commit()
    assert stale not in run("diff", "HEAD~2..HEAD", "--format", form).out
    assert stale not in run("diff", "HEAD", "--format", form).out


def test_an_output_folder_in_a_subfolder(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Path("trainc.yaml").read_text().replace("output: none", "output: rendered")
    write("sub/trainc.yaml", settings)
    write("sub/jobs/train.yaml", TRAINJOB.format(name="train"))
    monkeypatch.chdir("sub")
    assert run("build").code == 0
    commit()
    edit("jobs/train.yaml", IMMUTABLE)
    assert "rendered has none of these changes" in run("diff").out
    monkeypatch.chdir("..")
    assert "sub/rendered has none of these changes" in run("diff", "HEAD", "sub").out


def test_the_last_file_of_a_source_is_removed() -> None:
    for path in Path("jobs").iterdir():
        path.unlink()
    Path("jobs").rmdir()
    result = run("diff")
    assert result.code == 0
    assert "\n- removed ml/own (JobSet)  jobs/own.yaml\n" in result.out


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_an_immutable_field_that_changes_no_jobset(form: str) -> None:
    Path("jobs/runtime.yaml").write_text(RUNTIME.replace("POLICY", "{torch: {}}"))
    edit("jobs/train.yaml", ("torch-distributed", "own"))
    commit()
    edit("jobs/runtime.yaml", ("name: own,", "name: other,"))
    edit("jobs/train.yaml", ("name: own", "name: other"))
    out = run("diff", "--format", form).out
    assert "nothing changes" in out
    assert "the cluster rejects the change of 1 TrainJob until it is deleted: " in out
    assert "spec.runtimeRef" in out


def test_a_rejected_change_in_a_release_that_accepts_it() -> None:
    edit("jobs/train.yaml", IMMUTABLE)
    rejected = "the cluster rejects the change of 1 TrainJob until it is deleted: train (spec.trainer)\n"
    assert rejected in run("diff").out
    settings = Path("trainc.yaml").read_text()
    Path("trainc.yaml").write_text(f'{settings}trainerVersion: "2.1"\n')
    commit()
    edit("jobs/train.yaml", ("command: [python3]", "command: [python]"))
    assert "the cluster rejects" not in run("diff").out


def test_a_queue_can_change_while_the_trainjob_is_suspended() -> None:
    edit("jobs/train.yaml", ("{name: train}", "{name: train, labels: {kueue.x-k8s.io/queue-name: a}}"))
    commit()
    edit("jobs/train.yaml", ("queue-name: a", "queue-name: b"))
    assert "the cluster accepts this change only while the TrainJob is suspended: Kueue rejects it" in run("diff").out


def test_the_controller_creates_the_secret() -> None:
    Path("jobs/mpi.yaml").write_text(TRAINJOB.format(name="mpi").replace("torch-distributed", "deepspeed-distributed"))
    assert "secret-expected" not in run("validate", "-v").out
    edit("trainc.yaml", ("output: none", "output: rendered"))
    assert "secret-expected" in run("validate", "-v").out


def test_environments_of_files_as_they_are() -> None:
    settings = Path("trainc.yaml").read_text()
    Path("trainc.yaml").write_text(f"{settings}environments: {{dev: {{}}, prod: {{namespacePrefix: prod-}}}}\n")
    commit()
    assert run("validate", "-q").code == 0
    Path("trainc.yaml").write_text(f"{settings}environments: {{dev: {{}}}}\n")
    assert run("diff").code == 0
