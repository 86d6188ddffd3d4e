"""`validate --among`: a subset of a folder, without diagnostics for the other files."""

from __future__ import annotations

from pathlib import Path

import pytest
from files import write
from running import run

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: NAME}
spec:
  runtimeRef: {name: RUNTIME}
  trainer: {numNodes: NODES}
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: team}
spec:
  mlPolicy: {torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: NODE
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
                containers:
                - {name: node, image: "ghcr.io/acme/train:1", resources: {limits: {cpu: 4, memory: 8Gi}}}
"""


def job_text(name: str, *, runtime: str = "team", nodes: str = "1") -> str:
    return JOB.replace("NAME", name).replace("RUNTIME", runtime).replace("NODES", nodes)


FILES = {
    "jobs/good.yaml": job_text("good"),
    "jobs/two.yaml": job_text("two", nodes="many") + "---\n" + job_text("lost", runtime="gone"),
    "jobs/wrong.yaml": job_text("wrong", nodes="many"),
    "jobs/copy.yaml": job_text("good"),
    "platform/team.yaml": RUNTIME.replace("NODE", "node"),
    "chart/templates/job.yaml": "{{ if .Values.train }}\nkind: TrainJob\n{{ end }}\n",
    "playbook.yaml": "- hosts: all\n- !vault secret\n",
    ".hidden/job.yaml": job_text("hidden"),
}
ALL = ["jobs/two.yaml wrong-type", "jobs/two.yaml runtime-not-found", "jobs/wrong.yaml wrong-type"]
"""Only faults of the TrainJobs: unreadable files and duplicates elsewhere are not reported."""


@pytest.fixture(autouse=True)
def project(empty_root: Path) -> Path:
    for name, text in FILES.items():
        write(empty_root / name, text)
    (empty_root / "trainc.yaml").write_text("lint: {strict: false}\n")
    return empty_root


def places(*args: str) -> list[str]:
    """Return `file id` of every error, then the exit code."""
    done = run("validate", *args)
    lines = [line for line in done.out.splitlines() if ": error[" in line]
    return [f"{line.partition(':')[0]} {line.partition('[')[2].partition(']')[0]}" for line in lines] + [str(done.code)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(["jobs/good.yaml"], ["jobs/good.yaml duplicate-trainjob", "1"], id="a name that is taken"),
        pytest.param(["jobs/copy.yaml"], ["jobs/good.yaml duplicate-trainjob", "1"], id="the first of that name"),
        pytest.param(["jobs/wrong.yaml"], ["jobs/wrong.yaml wrong-type", "1"], id="a fault of its own"),
        pytest.param([".hidden/job.yaml"], ["0"], id="hidden, but asked for"),
        pytest.param(["playbook.yaml"], ["0"], id="none of ours"),
        pytest.param(["chart/values.yaml"], ["chart/values.yaml unreadable", "1"], id="not there"),
        pytest.param(
            ["chart/templates/job.yaml"], ["chart/templates/job.yaml template-not-rendered", "1"], id="a template"
        ),
        pytest.param(["./jobs/../jobs/wrong.yaml"], ["jobs/wrong.yaml wrong-type", "1"], id="another spelling"),
        pytest.param(["platform/team.yaml"], [*ALL, "1"], id="a runtime"),
        pytest.param(["platform"], [*ALL, "1"], id="a folder with a runtime"),
        pytest.param(["trainc.yaml", "playbook.yaml"], [*ALL, "1"], id="the settings"),
    ],
)
def test_diagnostics(files: list[str], expected: list[str]) -> None:
    assert places("--among", ".", *files) == expected


def test_another_folder_has_other_runtimes() -> None:
    assert places("--among", "platform", "jobs/copy.yaml") == ["0"]
    assert places("--among", "chart", "jobs/copy.yaml") == ["jobs/copy.yaml runtime-not-found", "1"]
    assert places("--among", "chart", "-r", "platform", "jobs/copy.yaml") == ["0"]


PROJECT = [
    "sources: [jobs]\nruntimes: {paths: [platform]}\n",
    "sources: [jobs]\nenvironments: {dev: {runtimes: {paths: [platform]}}}\n",
]


@pytest.mark.parametrize("text", PROJECT)
@pytest.mark.parametrize("folder", [".", "jobs"])
def test_files_outside_the_project_are_skipped(text: str, folder: str) -> None:
    """`trainc validate` does not read them either."""
    Path("trainc.yaml").write_text(text)
    Path("examples").mkdir()
    Path("examples/copy.yaml").write_text(job_text("wrong", nodes="many"))
    Path("examples/team.yaml").write_text(RUNTIME.replace("NODE", "NODE_"))
    examples = ["examples/copy.yaml", "examples/team.yaml", "examples/gone.yaml", "chart/templates/job.yaml"]
    assert places("--among", folder, *examples) == ["0"]
    # The name "wrong" is not taken by an example.
    assert places("--among", folder, *examples, "jobs/wrong.yaml") == ["jobs/wrong.yaml wrong-type", "1"]
    assert places("--among", ".", "platform/team.yaml", "jobs/copy.yaml")[-1] == "1"


def test_the_settings_of_another_project_skip_nothing() -> None:
    Path("other").mkdir()
    Path("other/trainc.yaml").write_text("lint: {strict: false}\n")
    assert places("--among", ".", "--config", "other/trainc.yaml", "jobs/wrong.yaml") == [
        "jobs/wrong.yaml wrong-type",
        "1",
    ]


def test_a_runtime_of_the_project_affects_every_job() -> None:
    Path("jobs/copy.yaml").unlink()
    for settings in ("sources: [jobs]\nruntimes: {paths: [platform]}\n", "sources: [jobs, platform]\n"):
        Path("trainc.yaml").write_text(settings)
        for folder in (".", "jobs"):
            assert places("--among", folder, "platform/team.yaml") == [*ALL, "1"]


def test_what_was_checked_are_the_files() -> None:
    Path("jobs/copy.yaml").unlink()
    done = run("validate", "--among", ".", "jobs/good.yaml", "playbook.yaml", "--report", "junit=report.xml")
    assert (done.code, done.out) == (0, "no problems found: 1 TrainJob, 1 runtime\n")
    assert Path("report.xml").read_text().count("<testcase ") == 1


def test_the_settings_are_those_of_the_folder() -> None:
    Path("jobs/good.yaml").unlink()
    Path("jobs/copy.yaml").write_text(job_text("good") + "  unknown: 1\n")
    Path("trainc.yaml").write_text("lint: {strict: true}\nfieldValidation: warn\n")
    done = run("validate", "--among", ".", ".hidden/job.yaml", "jobs/copy.yaml")
    assert done.code == 1
    assert done.out.splitlines()[-2] == (
        "1 error (including 1 warning turned into an error by lint.strict in trainc.yaml) in 1 file (checked 2 files)"
    )
    Path("trainc.yaml").write_text("lint: 1\n")
    assert places("--among", ".", "jobs/copy.yaml") == ["trainc.yaml wrong-type", "1"]


def test_without_files_there_is_nothing_to_check() -> None:
    done = run("validate", "--among", ".")
    assert (done.code, done.out) == (2, "")
    assert "--among requires PATH: the files to check." in done.err


def test_a_link_is_the_file_that_it_leads_to() -> None:
    Path("jobs/copy.yaml").unlink()
    Path("jobs/link.yaml").symlink_to("wrong.yaml")
    Path("linked").symlink_to("jobs")
    for file in ("jobs/wrong.yaml", "jobs/link.yaml", "linked/wrong.yaml", "./jobs/../jobs/wrong.yaml"):
        assert places("--among", ".", file) == ["jobs/wrong.yaml wrong-type", "1"]


def test_names_are_compared_with_the_affixes_of_the_environment() -> None:
    Path("trainc.yaml").write_text("environments: {dev: {namePrefix: p-}}\n")
    assert places("--among", ".", "jobs/copy.yaml") == ["jobs/good.yaml duplicate-trainjob", "1"]
    Path("jobs/copy.yaml").write_text(job_text("p-good"))
    assert places("--among", ".", "jobs/copy.yaml") == ["0"]
