"""The environments of a project on the command line: runs, folders, pruning and reports."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environments import JOB
from files import write
from running import run

from trainc.budget import BUDGETS, CI

ROOT = Path(__file__).parents[2]
SETTINGS = """\
sources: [jobs]
output: rendered
environments:
  dev: {namespace: ml-dev, nameSuffix: -dev}
  prod: {namespace: ml, exclude: [jobs/trial.yaml]}
"""


@pytest.fixture
def project(empty_root: Path) -> Path:
    """Return a project with two environments and three TrainJobs, one of which is not in prod."""
    (empty_root / "jobs" / "team").mkdir(parents=True)
    (empty_root / "trainc.yaml").write_text(SETTINGS)
    for name, folder in (("train", "team"), ("eval", "team"), ("trial", "")):
        (empty_root / "jobs" / folder / f"{name}.yaml").write_text(JOB.format(name=name))
    return empty_root


def tree(folder: Path) -> list[str]:
    """Return the manifests below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.yaml"))


DEV = ["dev/ml-dev/eval-dev.yaml", "dev/ml-dev/train-dev.yaml", "dev/ml-dev/trial-dev.yaml"]
PROD = ["prod/ml/eval.yaml", "prod/ml/train.yaml"]


def test_a_build_without_options_writes_each_environment(project: Path) -> None:
    done = run("build")
    assert done.code == 0
    assert (
        "rendered/dev: 3 written, 0 removed, 0 unchanged\nrendered/prod: 2 written, 0 removed, 0 unchanged" in done.err
    )
    assert tree(project / "rendered") == DEV + PROD
    assert "# Source: ../../../jobs/team/eval.yaml\n" in (project / "rendered/prod/ml/eval.yaml").read_text()
    assert "rendered/dev: 0 written, 0 removed, 3 unchanged" in run("build").err


def test_in_a_subfolder_a_command_covers_the_whole_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "jobs/team")
    assert run("build").code == 0
    assert tree(project / "rendered") == DEV + PROD
    (project / "jobs/trial.yaml").write_text(JOB.format(name="trial").replace("command", "commands"))
    done = run("validate")
    assert done.out.startswith(
        "../trial.yaml:6:43: error[unknown-field]: unknown field spec.trainer.commands in TrainJob [dev]"
    )


def test_a_project_without_sources_is_its_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "trainc.yaml").write_text("output: rendered\nnamespace: ml\n")
    monkeypatch.chdir(project / "jobs/team")
    done = run("build")
    assert "../../rendered: 3 written, 0 removed, 0 unchanged" in done.err
    assert tree(project / "rendered") == ["ml/eval.yaml", "ml/train.yaml", "ml/trial.yaml"]
    assert "../../rendered: 0 written, 0 removed, 3 unchanged" in run("build").err


def test_a_path_selects_files_and_standard_output(project: Path) -> None:
    done = run("build", "jobs/team/train.yaml", "--env", "prod")
    assert done.code == 0
    assert "namespace: ml\n" in done.out
    assert not (project / "rendered").exists()


def test_standard_output_has_one_environment(project: Path) -> None:
    for arguments in (["jobs"], ["-o", "-"], ["-o", "-", "--env", "dev", "--env", "prod"]):
        done = run("build", *arguments)
        assert (done.code, done.out) == (1, "")
        assert "trainc.yaml:3:1: error[environment-required]" in done.err
        assert "help: use --env dev or --env prod, or -o DIR for a folder with all of them" in done.err


def test_the_only_environment_needs_no_option(project: Path) -> None:
    (project / "trainc.yaml").write_text("environments: {dev: {namespace: ml-dev}}\n")
    assert "namespace: ml-dev" in run("build").out
    assert run("pods").code == 0


def test_one_environment_changes_only_its_folder(project: Path) -> None:
    run("build")
    (project / "jobs/team/eval.yaml").unlink()
    before = {path: (project / "rendered/dev" / path).read_bytes() for path in tree(project / "rendered/dev")}
    done = run("build", "--env", "prod")
    assert done.err.endswith(
        "rendered/prod: 0 written, 1 removed, 1 unchanged\n" + done.err.partition("unchanged\n")[2]
    )
    assert tree(project / "rendered") == [*DEV, "prod/ml/train.yaml"]
    assert before == {path: (project / "rendered/dev" / path).read_bytes() for path in tree(project / "rendered/dev")}


def test_nothing_is_written_if_one_environment_has_an_error(project: Path) -> None:
    (project / "jobs/trial.yaml").write_text(JOB.format(name="trial").replace("command", "commands"))
    done = run("build")
    assert done.code == 1
    assert "unknown field spec.trainer.commands in TrainJob [dev]" in done.err
    assert not (project / "rendered").exists()
    assert run("build", "--env", "prod").code == 0


def test_nothing_is_written_if_one_folder_has_a_foreign_file(project: Path) -> None:
    foreign = project / "rendered/prod/ml/train.yaml"
    write(foreign, "kind: ConfigMap\n")
    done = run("build")
    assert done.code == 1
    assert "rendered/prod/ml/train.yaml: error[output-not-ours]" in done.err
    assert tree(project / "rendered") == ["prod/ml/train.yaml"]
    assert foreign.read_text() == "kind: ConfigMap\n"


def test_a_build_of_all_prunes_deleted_environments(project: Path) -> None:
    run("build")
    (project / "rendered/dev/ml-dev/mine.yaml").write_text("kind: ConfigMap\n")
    (project / "trainc.yaml").write_text(SETTINGS.replace("  dev: {namespace: ml-dev, nameSuffix: -dev}\n", ""))
    assert run("build", "--env", "prod").code == 0
    assert tree(project / "rendered") == [DEV[0], "dev/ml-dev/mine.yaml", *DEV[1:], *PROD]
    checked = run("build", "--check")
    assert checked.code == 1
    assert checked.out.count("+++ /dev/null") == 3
    assert "rendered/dev/ml-dev/mine.yaml: error[output-unexpected]" in checked.err
    assert run("build").code == 1
    assert tree(project / "rendered") == [DEV[0], "dev/ml-dev/mine.yaml", *DEV[1:], *PROD]
    (project / "rendered/dev/ml-dev/mine.yaml").unlink()
    assert "rendered: 3 removed" in run("build").err
    assert tree(project / "rendered") == PROD
    assert run("build", "--check").code == 0


@pytest.mark.parametrize("folder", ["", "prod", "prod/ml", "staging", ".x", "prod/.x"])
@pytest.mark.parametrize("name", ["evil.yaml", ".evil.yaml", "kustomization.yaml"])
def test_check_fails_for_a_file_in_any_folder_below_the_output(project: Path, folder: str, name: str) -> None:
    run("build")
    path = Path("rendered", folder, name)
    write(path, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: evil}\n")
    checked = run("build", "--check")
    assert (checked.code, f"{path}: error[output-unexpected]" in checked.err) == (1, True)
    (project / "trainc.yaml").write_text(f"{SETTINGS}keep: [{name}]\n")
    assert run("build", "--check").code == 0


def test_the_folder_of_a_deleted_environment_is_removed(project: Path) -> None:
    run("build")
    (project / "trainc.yaml").write_text("sources: [jobs]\noutput: rendered\n")
    assert run("build").code == 0
    assert sorted(os.listdir(project / "rendered")) == ["eval.yaml", "train.yaml", "trial.yaml"]


def test_a_build_of_all_prunes_the_outputs_of_another_build(project: Path) -> None:
    run("build", "jobs/trial.yaml", "--no-config", "-o", "rendered/other")
    run("build", "--env", "prod")
    assert tree(project / "rendered") == ["other/trial.yaml", *PROD]
    assert run("build").code == 0
    assert tree(project / "rendered") == DEV + PROD


def test_a_build_of_all_prunes_the_layout_from_before_environments(project: Path) -> None:
    (project / "trainc.yaml").write_text("sources: [jobs]\noutput: rendered\nnamespace: prod\n")
    run("build")
    assert tree(project / "rendered") == ["prod/eval.yaml", "prod/train.yaml", "prod/trial.yaml"]
    # The environment has no namespace: its files are where those of the namespace were.
    (project / "trainc.yaml").write_text(
        "sources: [jobs]\noutput: rendered\nenvironments: {prod: {}, dev: {nameSuffix: -dev}}\n"
    )
    assert run("build", "--env", "dev").code == 0
    assert len(tree(project / "rendered/prod")) == 3
    (project / "jobs/trial.yaml").unlink()
    assert run("build").code == 0
    assert tree(project / "rendered") == [
        "dev/eval-dev.yaml",
        "dev/train-dev.yaml",
        "prod/eval.yaml",
        "prod/train.yaml",
    ]


def test_a_build_of_some_files_prunes_nothing(project: Path) -> None:
    run("build")
    (project / "trainc.yaml").write_text(SETTINGS.replace("  dev: {namespace: ml-dev, nameSuffix: -dev}\n", ""))
    done = run("build", "jobs/team", "-o", "rendered")
    assert done.code == 0
    assert "nothing is pruned: the given paths do not cover jobs/trial.yaml" in done.err
    assert tree(project / "rendered") == DEV + PROD


def test_check_covers_all_environments(project: Path) -> None:
    run("build")
    assert run("build", "--check").code == 0
    (project / "rendered/prod/ml/eval.yaml").unlink()
    done = run("build", "--check")
    assert done.code == 3
    assert "+++ rendered/prod/ml/eval.yaml" in done.out
    assert run("build", "--check", "--env", "dev").code == 0


def test_two_processes_build_two_environments_at_once(project: Path) -> None:
    program = [sys.executable, "-m", "trainc", "build", "--env"]
    for _ in range(3):
        running = [subprocess.Popen([*program, name], stderr=subprocess.PIPE) for name in ("dev", "prod")]
        assert [process.communicate()[1].count(b"waiting") for process in running] == [0, 0]
        assert [process.returncode for process in running] == [0, 0]
    assert tree(project / "rendered") == DEV + PROD


def test_a_stream_is_read_once_for_all_environments(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("build", "-", "-o", "out", stdin=JOB.format(name="piped").encode())
    assert done.code == 0, done.err
    assert tree(project / "out") == ["dev/ml-dev/piped-dev.yaml", "prod/ml/piped.yaml"]


@pytest.mark.parametrize("command", ["build", "validate", "explain", "pods", "graph", "queues", "secret train"])
def test_an_unknown_environment_is_an_error(project: Path, command: str) -> None:
    done = run(*command.split(), "--env", "prd")
    assert done.code == 1
    text = done.out + done.err
    assert 'trainc.yaml:3:1: error[unknown-environment]: "prd" is not an environment' in text
    assert "help: did you mean prod? trainc.yaml has the environments dev, prod" in text


@pytest.mark.parametrize("command", ["explain", "pods", "graph", "queues", "secret train"])
def test_a_command_that_shows_one_environment_requires_it(project: Path, command: str) -> None:
    done = run(*command.split())
    assert (done.code, done.out) == (1, "")
    assert "error[environment-required]" in done.err
    assert "help: use --env dev or --env prod" in done.err
    assert run(*command.split(), "--env", "dev").code == 0


def test_only_selects_a_job_that_one_environment_excludes(project: Path) -> None:
    done = run("build", "--only", "trial")
    assert done.code == 0, done.err
    assert tree(project / "rendered") == [DEV[2]]
    assert "error[only-not-found]" in run("build", "--only", "nothing").err


def test_two_environments_with_one_object_are_an_error(project: Path) -> None:
    (project / "trainc.yaml").write_text(SETTINGS.replace("{namespace: ml-dev, nameSuffix: -dev}", "{namespace: ml}"))
    for command in ("build", "validate"):
        done = run(command)
        assert done.code == 1
        text = done.out + done.err
        assert "trainc.yaml:5:21: error[shared-object]" in text
        assert 'the environments dev and prod write the same JobSet "ml/eval" and 1 more object' in text
        assert "trainc.yaml:4:20: the other environment" in text
    assert not (project / "rendered").exists()
    assert run("build", "--env", "dev").code == 0


def test_environments_of_two_clusters_may_have_one_object(project: Path) -> None:
    (project / "trainc.yaml").write_text("output: out\nenvironments: {dev: {cluster: dev}, prod: {cluster: prod}}\n")
    assert run("build").code == 0


def test_an_exclude_that_leaves_nothing_is_an_error_at_its_line(project: Path) -> None:
    (project / "trainc.yaml").write_text(SETTINGS.replace("jobs/trial.yaml", "jobs/"))
    done = run("build")
    assert done.code == 1
    assert "trainc.yaml:5:35: error[all-excluded]" in done.err
    assert "[prod]" in done.err
    assert not (project / "rendered").exists()


def test_an_exclude_that_leaves_nothing_is_reported_once(project: Path) -> None:
    (project / "runtimes").mkdir()
    (project / "runtimes/a.yaml").touch()
    (project / "trainc.yaml").write_text('exclude: ["**"]\nruntimes: {paths: [runtimes]}\n')
    assert run("validate").out.count("error[all-excluded]") == 1
    assert run("pods").err.count("error[all-excluded]") == 1


def test_invalid_settings_leave_no_queues(project: Path) -> None:
    (project / "trainc.yaml").write_text("lints: 1\n")
    done = run("queues")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("trainc.yaml:1:1: error[unknown-field]: ")


def test_a_project_without_queues(project: Path) -> None:
    done = run("queues", "--env", "dev")
    assert (done.code, done.out, done.err) == (0, "", "no ClusterQueue in the given paths\n")
    assert run("queues", "--env", "dev", "--format", "json").out == "[]\n"


def test_a_missing_source_is_an_error_at_its_line(project: Path) -> None:
    (project / "trainc.yaml").write_text("sources: [jobs, josb]\n")
    done = run("validate")
    assert done.code == 1
    assert done.out.startswith("trainc.yaml:1:17: error[unreadable]: josb cannot be read")


def test_a_fault_is_reported_once_with_its_environments(project: Path) -> None:
    (project / "jobs/team/train.yaml").write_text(JOB.format(name="train").replace("command", "commands"))
    done = run("validate")
    assert done.out.count("unknown field spec.trainer.commands in TrainJob [dev, prod]") == 1
    [found] = [entry for entry in json.loads(run("validate", "--format", "json").out) if entry["id"] == "unknown-field"]
    assert found["environments"] == ["dev", "prod"]
    assert (found["severity"], found["object"]["name"], found["object"]["namespace"]) == ("error", "train", "")


def test_a_fault_of_an_object_of_the_cluster_is_reported_once(project: Path) -> None:
    """The names of Jobs and claims contain the name of the JobSet, which is x-finetune-dev in dev."""
    (project / "trainc.yaml").write_text(SETTINGS.replace("nameSuffix", "namePrefix: x-, nameSuffix"))
    shutil.copy(ROOT / "golden" / "wrong-volume-claim" / "input.yaml", project / "jobs")
    found = [entry for entry in json.loads(run("validate", "--format", "json").out) if entry["severity"] == "error"]
    assert {(entry["object"]["kind"], entry["object"]["name"]) for entry in found} == {
        ("Job", "finetune-node-0"),
        ("PersistentVolumeClaim", "model.cache-finetune"),
        ("PersistentVolumeClaim", "scratch-finetune"),
    }
    assert {entry["object"]["namespace"] for entry in found} == {"research"}
    assert [entry["environments"] for entry in found] == [["dev", "prod"]] * len(found)


def test_a_fault_of_several_jobs_names_them_as_their_files_do(project: Path) -> None:
    for name in ("one", "two"):
        job = JOB.format(name=name).replace("name: plain", "name: nowhere")
        (project / f"jobs/{name}.yaml").write_text(job)
    done = run("validate")
    assert done.out.count("error[runtime-not-found]") == 1, done.out
    assert 'TrainJob "two", too' in done.out
    assert "[dev, prod]" in done.out


@pytest.mark.parametrize("form", ["text", "junit", "github", "gitlab", "sarif"])
def test_every_format_shows_the_environments(project: Path, form: str) -> None:
    (project / "jobs/team/train.yaml").write_text(JOB.format(name="train").replace("command", "commands"))
    out = run("validate", "--format", form).out
    assert out.count("unknown field spec.trainer.commands in TrainJob [dev, prod]") == (2 if form == "junit" else 1)
    if form == "sarif":
        assert json.loads(out)["runs"][0]["results"][0]["properties"] == {"environments": ["dev", "prod"]}


def test_strict_in_one_environment_counts_a_warning_once(project: Path) -> None:
    (project / "trainc.yaml").write_text(
        SETTINGS.replace("{namespace: ml,", "{lint: {strict: true}, namespace: ml,").replace(
            "output", "fieldValidation: warn\noutput"
        )
    )
    (project / "jobs/team/train.yaml").write_text(JOB.format(name="train").replace("command", "commands"))
    done = run("validate")
    assert done.code == 1
    assert (
        "1 error (including 1 warning turned into an error by environments.prod.lint.strict in trainc.yaml)" in done.out
    )
    assert run("validate", "--env", "dev").code == 0


def test_a_project_without_problems_lists_its_environments(project: Path) -> None:
    done = run("validate")
    assert "no problems found: 3 TrainJobs, 1 runtime in dev; 2 TrainJobs, 1 runtime in prod" in done.out


def test_a_settings_file_from_elsewhere_is_not_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "trainc.yaml").unlink()
    (project / "platform").mkdir()
    (project / "platform/trainc.yaml").write_text("lint: {disable: [no-gang]}\n")
    assert "3 TrainJobs" in run("validate", "--config", "platform/trainc.yaml").out


def test_the_runtimes_of_an_environment(project: Path) -> None:
    (project / "platform").mkdir()
    text = (Path(__file__).parents[2] / "runtimes" / "plain.yaml").read_text()
    (project / "platform/ours.yaml").write_text(text.replace("name: plain", "name: ours"))
    (project / "trainc.yaml").write_text(SETTINGS.replace("-dev}", "-dev, runtimes: {paths: [platform]}}"))
    assert "platform/ours.yaml" in run("runtimes", "list", "--env", "dev").out
    assert "platform/ours.yaml" not in run("runtimes", "list", "--env", "prod").out
    assert run("runtimes", "show", "ours", "--env", "dev").code == 0
    assert "error[unknown-environment]" in run("runtimes", "list", "--env", "prd").err


def test_the_outputs_of_environments_are_not_read(project: Path) -> None:
    (project / "trainc.yaml").write_text(SETTINGS.replace("sources: [jobs]\n", ""))
    assert run("build").code == 0
    assert "rendered/dev: 0 written, 0 removed, 3 unchanged" in run("build").err
    assert run("validate").code == 0


def test_a_report_has_the_summary_of_the_environments(project: Path) -> None:
    assert run("validate", "--report", "text=report.txt").code == 0
    expected = "no problems found: 3 TrainJobs, 1 runtime in dev; 2 TrainJobs, 1 runtime in prod\n"
    assert (project / "report.txt").read_text() == expected


def test_a_link_stops_a_build_and_nothing_behind_it_is_pruned(project: Path) -> None:
    run("build")
    outside = project / "outside"
    (outside / "ml").mkdir(parents=True)
    kept = outside / "ml" / "train.yaml"
    kept.write_text((project / "rendered/prod/ml/train.yaml").read_text())
    (project / "rendered/linked").symlink_to(outside)
    (project / "rendered/dev/linked").symlink_to(outside)
    done = run("build")
    assert done.code == 1
    for path in ("rendered/dev/linked", "rendered/linked"):
        assert f"{path}: error[output-unexpected]" in done.err
    assert kept.exists()


def test_the_budget_is_that_of_all_environments(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUDGETS, "ci", CI._replace(limits={**CI.limits, "replicated jobs": 100}))
    names = [f"e{number}" for number in range(6)]
    mappings = "".join(f"  {name}: {{namespace: {name}}}\n" for name in names)
    (project / "trainc.yaml").write_text(f"sources: [jobs]\noutput: rendered\nenvironments:\n{mappings}")
    jobs = "---\n".join(JOB.format(name=f"job-{number}") for number in range(20))
    (project / "jobs/trial.yaml").write_text(jobs)
    done = run("build", "--budget", "ci")
    assert done.code == 1
    assert 'error[over-budget]: more than 100 replicated jobs, the limit of the budget "ci"' in done.err
    assert not (project / "rendered").exists()
    assert run("build", "--budget", "ci", "--env", "e1").code == 0
