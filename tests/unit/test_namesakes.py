"""Objects of one name in several folders, and cluster-scoped objects with a namespace: what the API server accepts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from files import write_files
from manifests import job_text
from running import run

pytestmark = pytest.mark.usefixtures("empty_folder")

GROUP = "apiVersion: trainer.kubeflow.org/v1alpha1\n"
RUNTIME = (
    GROUP
    + """\
kind: ClusterTrainingRuntime
metadata: {name: team}
spec:
  mlPolicy: {numNodes: NODES, torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: "i:1", resources: {limits: {cpu: 1}}}]}}}
"""
)
PROJECT = "lint: {strict: false}\n"


def runtime_text(nodes: int | str, **changes: str) -> str:
    text = RUNTIME.replace("NODES", str(nodes))
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def team_job(name: str = "train", ref: str = "name: team") -> str:
    return job_text(f"name: {name}", ref)


def found(*arguments: str) -> list[str]:
    """Return `file severity id` of each diagnostic of `validate` but lint findings."""
    listed = json.loads(run("validate", *arguments, "--format", "json").out)
    return [
        f"{each['file']} {each['severity']} {each['id']}"
        for each in listed
        if each["stage"] != "lint" and each["id"] != "built-in-runtime"
    ]


def nodes(*arguments: str) -> dict[str, int]:
    """Return the number of pods of each compiled TrainJob."""
    done = run("build", "--format", "json", *arguments)
    assert done.code == 0, done.err
    return {
        each["metadata"]["name"]: each["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"]
        for each in json.loads(done.out)
    }


DEV_AND_PROD = {"dev/runtime.yaml": runtime_text(1), "prod/runtime.yaml": runtime_text(2)}


# Two runtimes of one name


def test_runtimes_with_equal_specs_are_no_fault() -> None:
    write_files(
        {
            "dev/r.yaml": runtime_text(2),
            "prod/r.yaml": runtime_text(2, team="team, labels: {a: b}"),
            "job.yaml": team_job(),
        }
    )
    assert found() == []
    assert nodes() == {"train": 2}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        pytest.param("dev/job.yaml", 1, id="its own folder"),
        pytest.param("prod/jobs/deep/job.yaml", 2, id="the nearest folder above"),
        pytest.param("prod/near/job.yaml", 3, id="its own folder before one above"),
    ],
)
def test_a_trainjob_takes_the_nearest_runtime(file: str, expected: int) -> None:
    write_files(DEV_AND_PROD | {"prod/near/runtime.yaml": runtime_text(3), file: team_job()})
    assert found() == []
    assert nodes() == {"train": expected}
    assert nodes("-r", "dev", "-r", "prod", file) == {"train": 1}, "levels are searched in order"


def test_folders_are_compared_by_absolute_path() -> None:
    write_files(DEV_AND_PROD | {"prod/job.yaml": team_job()})
    assert nodes("prod/job.yaml", str(Path("dev").resolve()), str(Path("prod").resolve())) == {"train": 2}


def test_a_folder_whose_name_is_a_prefix_is_not_above() -> None:
    write_files(
        {"dev/runtime.yaml": runtime_text(1), "dev-2/runtime.yaml": runtime_text(2), "dev-2/job.yaml": team_job()}
    )
    assert nodes() == {"train": 2}


@pytest.mark.parametrize(
    ("files", "places"),
    [
        pytest.param(DEV_AND_PROD, "dev/runtime.yaml:3:18 and prod/runtime.yaml:3:18", id="in other folders"),
        pytest.param(
            {"r.yaml": f"{runtime_text(1)}---\n{runtime_text(2)}"}, "r.yaml:3:18 and r.yaml:16:18", id="in one file"
        ),
    ],
)
def test_an_undecided_runtime_is_an_error_at_the_trainjob(files: dict[str, str], places: str) -> None:
    write_files(files | {"jobs/a.yaml": team_job("a"), "jobs/b.yaml": team_job("b")})
    assert found() == ["jobs/a.yaml error duplicate-runtime"]
    done = run("build")
    assert (done.code, done.out) == (1, "")
    assert f'with different specs are named "team", and none is nearer to the TrainJob: {places}' in done.err
    assert "(and 1 more TrainJob)" in done.err
    assert "help: rename one of them, or leave one out with --exclude\n" in done.err


def test_without_a_trainjob_two_runtimes_are_no_fault() -> None:
    write_files(DEV_AND_PROD | {"jobs/a.yaml": team_job(ref="name: torch-distributed")})
    assert found() == []


def test_each_runtime_of_a_name_is_checked() -> None:
    write_files(DEV_AND_PROD | {"prod/runtime.yaml": runtime_text("two"), "dev/job.yaml": team_job()})
    assert found() == ["prod/runtime.yaml error wrong-type"]


def test_runtimes_list_shows_each_runtime_of_a_name() -> None:
    write_files(DEV_AND_PROD)
    listed = json.loads(run("runtimes", "list", "--format", "json").out)
    assert [each["file"] for each in listed if each["name"] == "team"] == ["dev/runtime.yaml", "prod/runtime.yaml"]


@pytest.mark.parametrize("second", [1, 2])
def test_a_project_refuses_two_runtimes_of_one_name(second: int) -> None:
    write_files(
        {
            "trainc.yaml": PROJECT,
            "dev/r.yaml": runtime_text(1),
            "prod/r.yaml": runtime_text(second),
            "dev/job.yaml": team_job(),
        }
    )
    assert found() == ["prod/r.yaml error duplicate-runtime"]
    assert run("build").code == 1
    assert found("--no-config") == ["trainc.yaml note settings-replaced"]


# Two TrainJobs of one name


TWO_JOBS = DEV_AND_PROD | {"dev/job.yaml": team_job(), "prod/job.yaml": team_job()}


def test_validate_checks_both_trainjobs_of_a_name() -> None:
    write_files(TWO_JOBS)
    assert found() == ["prod/job.yaml warning duplicate-trainjob"]
    assert run("validate").code == 0


def test_both_trainjobs_of_a_name_have_their_errors() -> None:
    write_files(TWO_JOBS | {"dev/job.yaml": team_job(ref="name: one"), "prod/job.yaml": team_job(ref="name: two")})
    assert found() == [
        "dev/job.yaml error runtime-not-found",
        "prod/job.yaml warning duplicate-trainjob",
        "prod/job.yaml error runtime-not-found",
    ]


def test_a_subset_has_only_the_errors_of_its_own_trainjob() -> None:
    write_files(TWO_JOBS | {"dev/job.yaml": team_job(ref="name: one"), "prod/job.yaml": team_job(ref="name: two")})
    assert found("--among", ".", "prod/job.yaml") == [
        "prod/job.yaml warning duplicate-trainjob",
        "prod/job.yaml error runtime-not-found",
    ]


def test_two_trainjobs_of_a_name_in_one_file_are_an_error() -> None:
    write_files(
        {
            "a.yaml": team_job(ref="name: plain"),
            "b.yaml": f"{team_job(ref='name: plain')}---\n{team_job(ref='name: plain')}",
        }
    )
    assert found() == ["b.yaml warning duplicate-trainjob", "b.yaml error duplicate-trainjob"]


@pytest.mark.parametrize("command", ["build", "cmp generate"])
def test_commands_with_one_output_refuse_two_trainjobs_of_a_name(command: str) -> None:
    write_files(TWO_JOBS)
    done = run(*command.split())
    assert done.code == 1
    assert "prod/job.yaml:3:18: error[duplicate-trainjob]" in done.err


def test_the_help_names_the_ways_to_leave_one_out() -> None:
    write_files(TWO_JOBS)
    help = "help: rename one of them, leave one out with --exclude, or use environments in trainc.yaml\n"
    assert help in run("build").err
    assert nodes("--exclude", "prod/job.yaml") == {"train": 1}
    write_files({"job.yaml": f"{team_job()}---\n{team_job()}"})
    assert "help: rename or remove one of them\n" in run("build", "job.yaml", "-r", "dev").err


def test_a_project_refuses_two_trainjobs_of_a_name() -> None:
    write_files(TWO_JOBS | {"trainc.yaml": PROJECT, "prod/runtime.yaml": ""})
    assert found() == ["prod/job.yaml error duplicate-trainjob"]


# A cluster-scoped object with a namespace


def test_the_namespace_of_a_cluster_scoped_runtime_is_dropped() -> None:
    write_files({"runtime.yaml": runtime_text(2, team="team, namespace: platform"), "job.yaml": team_job()})
    assert found() == ["runtime.yaml warning invalid-namespace"]
    assert "; it is dropped" in run("validate").out
    assert nodes() == {"train": 2}
    assert nodes("job.yaml", "-r", "runtime.yaml") == {"train": 2}
    assert "platform" not in run("runtimes", "list", "runtime.yaml").out


def test_a_folder_of_sources_and_of_runtimes_reports_it_once() -> None:
    runtimes = {f"runtimes/{number}.yaml": runtime_text(number) for number in (1, 2)}
    settings = "sources: [jobs, runtimes]\nruntimes: {paths: [runtimes]}\n"
    write_files({"trainc.yaml": settings, "jobs/job.yaml": team_job(), **runtimes})
    assert 'two ClusterTrainingRuntimes are named "team"\n' in run("validate").out


def test_cluster_scoped_runtimes_of_two_namespaces_are_one() -> None:
    write_files(
        {
            f"{where}/r.yaml": runtime_text(number, team=f"team, namespace: {where}")
            for number, where in enumerate("ab", 1)
        }
    )
    write_files({"job.yaml": team_job()})
    assert "job.yaml error duplicate-runtime" in found()
