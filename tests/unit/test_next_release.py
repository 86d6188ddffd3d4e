"""A release with a renamed field, a moved one, a new default, a removed one and one of another type: `next_release`."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import next_release
import pytest

HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: train}\nspec:\n"
OLD = f"""{HEAD}  runtimeRef: {{name: torch-distributed}}
  suspend: true  # until the data is there
  activeDeadlineSeconds: 3600
  managedBy: kueue.x-k8s.io/multikueue
  trainer:
    numNodes: 2
    # one per GPU
    numProcPerNode: 4
"""
NEW = f"""{HEAD}  runtimeRef: {{name: torch-distributed}}
  runPolicy:
    suspend: true  # until the data is there
  activeDeadlineSeconds: "3600"
  trainer:
    numNodes: 2
    # one per GPU
    processesPerNode: 4
"""
RUNTIME = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: three}
spec:
  mlPolicy: {numNodes: 3, torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: acme/train:v1}]}}}
"""
MPI = f"""{HEAD}  runtimeRef: {{kind: TrainingRuntime, name: solver}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {{name: solver}}
spec:
  mlPolicy:
    numNodes: 2
    # one per core
    mpi: {{mpiImplementation: OpenMPI, FIELD: 3}}
  template:
    spec:
      replicatedJobs:
      - name: launcher
        template: &job
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec: {{template: {{spec: {{containers: [{{name: node, image: acme/solver:v1}}]}}}}}}
      - {{name: node, template: *job}}
"""
PYTORCHJOB = """apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  runPolicy: {suspend: true, activeDeadlineSeconds: 3600}
  nprocPerNode: "4"
  pytorchReplicaSpecs:
    Master: {replicas: 1, restartPolicy: OnFailure, template: &pod {spec: {containers: [
      {name: pytorch, image: acme/train:v1, command: [torchrun, train.py]}]}}}
    Worker: {replicas: 1, restartPolicy: OnFailure, template: *pod}
"""


class Project:
    """A folder, and commands for the release."""

    def __init__(self, release: next_release.Release, folder: Path) -> None:
        self.release, self.folder = release, folder

    def write(self, text: str, name: str = "job.yaml") -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def read(self) -> str:
        return (self.folder / "job.yaml").read_text(encoding="utf-8")

    def run(self, *args: str, version: str = "2.5") -> str:
        """Return the output of a command, and its messages."""
        done = self.release.run(*args, "--trainer-version", version, cwd=self.folder)
        assert "Traceback" not in done.err
        return done.out + done.err

    def objects(self, *args: str) -> str:
        """Return the output of `build`."""
        return self.release.run("build", *args, "--trainer-version", "2.5", cwd=self.folder).out


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> next_release.Release:
    return next_release.create_release(tmp_path_factory.mktemp("release"))


@pytest.fixture
def project(release: next_release.Release, tmp_path: Path) -> Project:
    return Project(release, tmp_path)


def test_three_files_have_the_rows() -> None:
    assert len(next_release.ROWS) <= 3


def test_the_fields_of_the_release_have_their_effects(project: Project) -> None:
    project.write(NEW)
    built = project.run("build", "job.yaml")
    assert 'name: PET_NPROC_PER_NODE\n                value: "4"' in built
    assert "activeDeadlineSeconds: 3600" in built
    assert "\n  suspend: true\n" in built


def test_an_older_document_compiles_to_the_same_objects(project: Project) -> None:
    project.write(OLD)
    old = project.objects("job.yaml")
    project.write(NEW)
    assert project.objects("job.yaml") == old != ""


def test_a_default_of_the_release(project: Project) -> None:
    project.write(f"{HEAD}  runtimeRef: {{kind: TrainingRuntime, name: three}}\n  trainer: {{numProcPerNode: 4}}\n")
    project.write(RUNTIME, "runtime.yaml")
    assert "parallelism: 3" in project.run("build", ".", version="2.4")
    assert "parallelism: 1" in project.run("build", ".")
    preview = project.run("diff", ".", version="2.4..2.5")
    assert "parallelism: 3 -> 1" in preview


def test_a_document_of_an_older_release(project: Project) -> None:
    project.write(OLD)
    found = project.run("validate", "job.yaml").partition("\n\n")[2]
    assert [line for line in found.splitlines() if line.startswith(("job.yaml", "  help"))][:4] == [
        "job.yaml:6:3: error[older-dialect]: spec.suspend belongs to Trainer v2.3; a Trainer v2.5 cluster refuses it",
        "  help: run `trainc upgrade --write job.yaml` to convert it to runPolicy.suspend",
        "job.yaml:8:3: warning[no-counterpart]: spec.managedBy is dropped: Trainer v2.5 has no such field",
        "  help: remove it",
    ]


@pytest.mark.parametrize(
    ("field", "help"),
    [
        pytest.param("trainer: {procesesPerNode: 4}", "did you mean processesPerNode?", id="a typo"),
        pytest.param("trainer: {nproc_per_node: 4}", "did you mean processesPerNode?", id="a synonym"),
        pytest.param("numProcPerNode: 4", "use trainer.processesPerNode, its Trainer v2.5 form", id="misplaced"),
        pytest.param("trainer: {processesPerNode: 0}", "processesPerNode must be at least 1, not 0", id="a value"),
    ],
)
def test_hints_name_the_fields_of_the_release(project: Project, field: str, help: str) -> None:
    project.write(f"{HEAD}  runtimeRef: {{name: torch-distributed}}\n  runPolicy: {{suspend: false}}\n  {field}\n")
    assert help in project.run("validate", "job.yaml")


@pytest.mark.parametrize(
    ("field", "help"),
    [
        ("trainer: {processesPerNode: 4}", "use trainer.numProcPerNode, its Trainer v2.4 form"),
        ("runPolicy: {suspend: true}", "use suspend, its Trainer v2.4 form"),
        ('activeDeadlineSeconds: "60"', "remove the quotes: 60"),
    ],
)
def test_a_field_of_the_release_for_an_older_one(project: Project, field: str, help: str) -> None:
    project.write(f"{HEAD}  runtimeRef: {{name: torch-distributed}}\n  {field}\n")
    assert help in project.run("validate", "job.yaml", version="2.4")


def test_the_preview_of_an_upgrade_without_effects(project: Project) -> None:
    project.write(OLD)
    preview = project.run("diff", "job.yaml", version="2.4..2.5")
    assert preview.startswith("Trainer v2.4 -> Trainer v2.5\nnothing changes: 1 object is unchanged")
    assert "warning[no-counterpart]: spec.managedBy is dropped" in preview


def test_upgrade(project: Project) -> None:
    project.write(OLD)
    found = project.run("upgrade", "--write", "job.yaml")
    assert project.read() == NEW
    assert found == dedent(
        """\
        job.yaml: TrainJob train: Trainer v2.3 -> v2.5
          spec.trainer.numProcPerNode -> spec.trainer.processesPerNode
          spec.suspend -> spec.runPolicy.suspend
          spec.managedBy is removed
          spec.activeDeadlineSeconds: 3600
        job.yaml: rewritten; it compiles to the same bytes
        """
    )
    assert "nothing to upgrade" in project.run("upgrade", "--write", "job.yaml")


def test_upgrade_over_two_dialects(project: Project) -> None:
    project.write(
        f"{HEAD}  runtimeRef: {{name: torch-distributed}}\n  suspend: true\n  trainer: {{numProcPerNode: 4}}\n"
        "  podTemplateOverrides:\n  - targetJobs: [{name: node}]\n    spec: {serviceAccountName: a}  # ours\n"
    )
    assert "error[" not in project.run("upgrade", "--write", "job.yaml")
    new = project.read()
    assert "runtimePatches:\n" in new
    assert "spec: {serviceAccountName: a}  # ours" in new
    assert "  runPolicy:\n    suspend: true\n" in new


def test_fixes(project: Project) -> None:
    project.write(
        f"{HEAD}  runtimeRef: {{name: torch-distributed}}\n  runPolicy: {{suspend: true}}\n"
        '  trainer: {numNodes: "2", nprocPerNode: 4}\n'
    )
    project.run("validate", "--fix", "job.yaml")
    assert "  trainer: {numNodes: 2, processesPerNode: 4}\n" in project.read()


def test_migrate_writes_the_fields_of_the_release(project: Project) -> None:
    project.write(PYTORCHJOB)
    migrated = project.run("migrate", "job.yaml")
    assert 'activeDeadlineSeconds: "3600"' in migrated
    assert "runPolicy:\n    suspend: true" in migrated
    assert "processesPerNode: 4" in migrated


@pytest.mark.parametrize(
    ("text", "field"), [(NEW, "spec.trainer.processesPerNode"), (OLD, "spec.trainer.numProcPerNode")]
)
def test_explain_names_the_field_as_it_is_written(project: Project, text: str, field: str) -> None:
    project.write(text)
    found = project.run("explain", "job.yaml", "**.env[PET_NPROC_PER_NODE].value")
    assert f"the torch framework, from {field}\n" in found


def test_a_field_of_runtimes_is_renamed(project: Project) -> None:
    project.write(MPI.replace("FIELD", "numProcPerNode"))
    old = project.objects("job.yaml")
    assert "slots=3" in old
    found = project.run("validate", "job.yaml")
    assert (
        "job.yaml:14:39: error[older-runtime]: spec.mlPolicy.mpi.numProcPerNode belongs to Trainer v2.3; a Trainer "
        "v2.5 cluster refuses it"
    ) in found
    assert "help: run `trainc upgrade --write job.yaml` to convert it to mlPolicy.mpi.processesPerNode" in found
    upgraded = project.run("upgrade", "--write", "job.yaml")
    assert upgraded.startswith(
        "job.yaml: TrainingRuntime solver: Trainer v2.3 -> v2.5\n"
        "  spec.mlPolicy.mpi.numProcPerNode -> spec.mlPolicy.mpi.processesPerNode\n"
    )
    assert project.read() == MPI.replace("FIELD", "processesPerNode")
    assert project.objects("job.yaml") == old
    assert "older-runtime" not in project.run("validate", "job.yaml")


def test_the_installed_runtimes_have_the_names_of_the_release(project: Project) -> None:
    project.write(f"{HEAD}  runtimeRef: {{name: deepspeed-distributed}}\n  trainer: {{numNodes: 2}}\n")
    assert "slots=" in project.objects("job.yaml")
    assert "older-runtime" not in project.run("validate", "job.yaml")


@pytest.mark.parametrize(
    ("version", "field", "expected"),
    [
        ("2.5", "processesPerNode: 0", "error[minimum-count]: processesPerNode must be at least 1, not 0"),
        ("2.5", "proccesesPerNode: 3", "did you mean processesPerNode?"),
        ("2.4", "processesPerNode: 3", "use mlPolicy.mpi.numProcPerNode, its Trainer v2.4 form"),
    ],
)
def test_hints_about_a_runtime_name_the_fields_of_the_release(
    project: Project, version: str, field: str, expected: str
) -> None:
    project.write(MPI.replace("FIELD: 3", field))
    assert expected in project.run("validate", "job.yaml", version=version)


def test_the_evidence_is_that_of_the_release(project: Project) -> None:
    shown = project.release.run("--version", "-v", cwd=project.folder).out
    assert "2.4 (from its release notes and its source of 2026-08-21), 2.5 (--trainer-version)" in shown
    assert re.search(r"^Names of replicated jobs  +code  +code  +code  +notes  +code$", shown, re.MULTILINE)
