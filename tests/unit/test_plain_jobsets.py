"""JobSets in the files: which are inputs, what a build changes in them, and what the versions of JobSet accept."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from files import write
from running import run

import trainc
from trainc.base.releases import DEFAULT_RELEASE, JOBSET_VERSIONS, with_jobset
from trainc.compilation.run import Options
from trainc.settings import DEFAULT

WRONG = """apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a}
spec:
  replicatedJobs:
  - name: worker
    template:
      spec:
        template:
          spec:
            restartPolicy: Always
            containers: [{name: main, image: "train:1.0", resources: {limits: {nvidia.com/gpu: 1}}}]
"""
RIGHT = WRONG.replace("Always", "Never")
TRAINJOB = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a}
spec: {runtimeRef: {name: torch-distributed}, trainer: {image: "train:1.0"}}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def errors(*paths: str) -> list[str]:
    return [found.id for found in trainc.check(list(paths)).diagnostics if found.severity == "error"]


def test_a_jobset_of_the_files_is_an_input() -> None:
    write("jobs/a.yaml", WRONG)
    assert errors("jobs") == ["restart-policy"]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("rendered/a.yaml", id="in the output folder"),
        pytest.param("jobs/a.yaml", id="of a TrainJob"),
    ],
)
def test_an_output_is_none(path: str) -> None:
    write("trainc.yaml", "output: rendered\n")
    write("jobs/trainjob.yaml", TRAINJOB)
    write(path, WRONG)
    assert errors(".") == []


def test_a_build_that_would_write_both_is_an_error() -> None:
    write("jobs/trainjob.yaml", TRAINJOB)
    write("jobs/jobset.yaml", RIGHT)
    done = run("build", "jobs", "--passthrough")
    assert (done.code, "error[duplicate-object]" in done.err) == (1, True)


@pytest.mark.parametrize("placeholder", ["${IMAGE}", "<your image>", '"{{ .Values.image }}"'])
def test_a_template_is_a_note(placeholder: str) -> None:
    write("jobs/a.yaml", WRONG.replace('"train:1.0"', placeholder).replace("Always", "Never"))
    found = trainc.check(["jobs"]).diagnostics
    assert [(each.severity, each.id) for each in found] == [("note", "template-not-rendered")]


def test_the_fields_of_the_server_are_ignored() -> None:
    exported = yaml.safe_load(RIGHT)
    exported["metadata"] |= {"uid": "x", "managedFields": [{"manager": "kubectl"}], "generation": 2}
    exported["status"] = {"restarts": 1, "conditions": [{}]}
    write("jobs/a.yaml", yaml.safe_dump(exported))
    assert errors("jobs") == []


def test_a_build_changes_what_the_settings_say() -> None:
    write(
        "trainc.yaml",
        """passthrough: true
namespace: ml
nameSuffix: -x
labels: {team: a}
images: [{name: train, newTag: "2.0"}]
accelerators: {nvidia.com/gpu: {env: [{name: A, value: "1"}]}}
delivery: {suspend: true, nameSuffixHash: true}
patches:
- target: {kind: JobSet, name: a}
  patch: {spec: {failurePolicy: {maxRestarts: 3}}}
""",
    )
    write("jobs/a.yaml", RIGHT)
    [built] = yaml.safe_load_all(run("build", ".").out)
    wanted = yaml.safe_load(RIGHT.replace("train:1.0", "train:2.0"))
    wanted["metadata"] |= {"namespace": "ml", "labels": {"team": "a"}}
    wanted["spec"]["failurePolicy"] = {"maxRestarts": 3}
    pod = wanted["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"][0]["env"] = [{"name": "A", "value": "1"}]
    assert built == wanted


def test_a_build_without_settings_copies_the_text() -> None:
    write("jobs/a.yaml", f"# A comment\n{RIGHT}")
    assert run("build", "jobs", "--passthrough").out == f"# A comment\n{RIGHT}"
    assert "error[no-trainjob]" in run("build", "jobs").err


@pytest.mark.parametrize("version", JOBSET_VERSIONS)
def test_the_fields_of_a_version(version: str) -> None:
    write("jobs/a.yaml", RIGHT.replace("- name: worker", "- name: worker\n    groupName: a"))
    settings = DEFAULT._replace(release=with_jobset(DEFAULT_RELEASE, version))
    found = trainc.check(["jobs"], options=Options(settings=settings)).diagnostics
    assert [each.id for each in found] == ([] if version != "0.8" else ["unknown-field"])


def test_a_version_of_the_settings() -> None:
    write("trainc.yaml", 'jobsetVersion: "0.8"\n')
    write("jobs/a.yaml", RIGHT.replace("- name: worker", "- name: worker\n    groupName: a"))
    [found] = trainc.check(["."]).diagnostics
    assert (found.id, found.help.partition(":")[0]) == ("unknown-field", "JobSet v0.10 has it")


@pytest.mark.parametrize("command", ["pods", "graph", "explain", "queues"])
def test_a_command_shows_it(command: str) -> None:
    write("jobs/a.yaml", RIGHT)
    done = run(command, "jobs")
    assert done.code == 0
    assert "JobSet a" in done.out or "a: 1 pod" in done.out or "no ClusterQueue" in done.err


def test_the_result_of_a_check() -> None:
    write("jobs/a.yaml", RIGHT)
    result = trainc.check(["jobs"])
    assert [(job.name, job.runtime, job.objects[0]["kind"]) for job in result.jobsets] == [("a", None, "JobSet")]
    assert (result.jobs, result.objects) == ((), ())
