"""The origin of runtimes: the note about built-in ones, `runtimes` in trainc.yaml, and runtimes that are not found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from committing import commit, git
from purposes import internal
from running import run
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.compilation.run import Options

BUILT_IN = Path(__file__).parents[2] / "runtimes"
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: %s}
spec:
  runtimeRef: {name: %s}
  trainer: {resourcesPerNode: {requests: {cpu: 4}}}
"""
PULL = "write the runtime of your cluster to the project with `trainc runtimes pull`"
NOTE = "note[built-in-runtime]: built-in runtime"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "team" / ".git").mkdir(parents=True)
    (tmp_path / "team" / "jobs").mkdir()
    monkeypatch.chdir(tmp_path / "team")
    write_job("a", "torch-distributed")
    return tmp_path / "team"


def write_job(name: str, runtime: str) -> None:
    Path(f"jobs/{name}.yaml").write_text(JOB % (name, runtime))


def pinned(project: str, image: str = "registry.example.com/train:1") -> None:
    """Write a runtime with the name of a built-in one."""
    text = (BUILT_IN / "trainer-2.3" / "torch-distributed.yaml").read_text()
    Path(project).mkdir(parents=True)
    Path(project, "torch.yaml").write_text(
        text.replace("pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime", image), encoding="utf-8"
    )


def test_the_note_is_the_last_line_of_standard_error() -> None:
    note = f"{NOTE}: torch-distributed (Trainer v2.3.0)\n  help: pin it with `trainc runtimes export torch-distributed`"
    built, validated = run("build", "jobs"), run("validate", "jobs")
    assert built.err.startswith(note)
    assert NOTE not in built.out
    assert (validated.out, validated.err) == ("no problems found: 1 TrainJob, 1 runtime\n", built.err)


def test_there_is_one_note_for_all_runtimes() -> None:
    write_job("b", "torch-elastic")
    write_job("c", "torch-distributed")
    done = run("build", "jobs", "-o", "rendered")
    assert done.err == (
        "rendered: 3 written, 0 removed, 0 unchanged\n\n"
        f"{NOTE}s: torch-distributed (Trainer v2.3.0), torch-elastic (trainc v{trainc.__version__})\n"
        "  help: pin each with `trainc runtimes export NAME`, or the runtimes of your cluster with "
        "`trainc runtimes pull`\n"
    )


def test_only_the_runtimes_of_trainer_are_in_a_cluster() -> None:
    write_job("a", "plain")
    assert "trainc runtimes pull" not in run("build", "jobs").err


def test_many_runtimes_are_counted() -> None:
    for index, path in enumerate(sorted(BUILT_IN.glob("**/[a-o]*.yaml"))):
        write_job(f"j{index}", path.stem)
    used = len({job.plan.runtime.id.name for job in internal(trainc.compile(["jobs"])).jobs})
    note = run("build", "jobs").err.partition(NOTE)[2]
    assert note.count(" v") == 8
    assert f" and {used - 8} more\n" in note


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab", "github", "junit"])
def test_reports_for_programs_have_it(form: str) -> None:
    done = run("validate", "jobs", "--format", form)
    assert "built-in-runtime" in done.out
    assert (done.code, done.err) == (0, "")


def test_in_json_it_is_at_the_first_trainjob() -> None:
    (found,) = json.loads(run("validate", "jobs", "--format", "json").out)
    assert (found["id"], found["severity"], found["file"], found["line"], found["column"]) == (
        "built-in-runtime",
        "note",
        "jobs/a.yaml",
        5,
        22,
    )


def test_a_runtime_from_a_file_has_no_note() -> None:
    pinned("platform")
    for command in ("build", "validate"):
        assert NOTE not in run(command, "jobs", "-r", "platform").err


def test_strict_leaves_it_a_note() -> None:
    assert run("validate", "jobs", "--strict").code == 0


def test_lint_findings_in_a_built_in_runtime_are_in_the_note() -> None:
    Path("jobs/a.yaml").write_text(
        JOB.replace("requests: {cpu: 4}", "limits: {nvidia.com/gpu: 2}") % ("a", "torch-distributed")
    )
    done = run("build", "jobs", "--strict")
    assert done.code == 0
    assert done.err.startswith(f"{NOTE}: torch-distributed (Trainer v2.3.0; lint findings: no-shared-memory)\n")
    pinned("platform")
    assert "warning[no-shared-memory]" in run("build", "jobs", "-r", "platform").err


def test_a_finding_that_the_trainjob_can_fix_is_a_warning() -> None:
    Path("jobs/a.yaml").write_text(
        (JOB % ("a", "torch-distributed-shm")).replace("requests: {cpu: 4}", "limits: {cpu: 8}")
    )
    assert "warning[runtime-request-stays]" in run("build", "jobs").err


def test_paths_of_the_settings_are_searched() -> None:
    pinned("platform/runtimes")
    Path("trainc.yaml").write_text("runtimes: {paths: [platform/runtimes]}\n")
    assert "image: registry.example.com/train:1" in run("build", "jobs").out
    for command in ("build", "validate", "pods", "graph"):
        assert "built-in" not in run(command, "jobs").out + run(command, "jobs").err


def test_they_are_relative_to_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned("platform/runtimes")
    Path("trainc.yaml").write_text("runtimes: {paths: [platform/runtimes]}\n")
    monkeypatch.chdir("jobs")
    assert "image: registry.example.com/train:1" in run("build", "a.yaml").out


def test_the_option_replaces_them() -> None:
    pinned("platform")
    pinned("other", "registry.example.com/train:2")
    Path("trainc.yaml").write_text("runtimes: {paths: [platform]}\n")
    assert "image: registry.example.com/train:2" in run("build", "jobs", "-r", "other").out


@pytest.mark.parametrize("path", ["../platform", "a/../../platform", "/etc"])
def test_a_path_outside_the_root_is_an_error(path: str) -> None:
    Path("trainc.yaml").write_text(f"runtimes: {{paths: [{path}]}}\n")
    done = run("build", "jobs")
    assert (done.code, done.out) == (1, "")
    assert (
        f'trainc.yaml:1:20: error[settings-path]: runtimes.paths must be relative paths inside the root, not "{path}"'
        in (done.err)
    )


def test_a_link_that_leads_out_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path("platform").symlink_to(tmp_path / "elsewhere")
    Path("trainc.yaml").write_text("runtimes: {paths: [platform]}\n")
    assert "error[link-out]" in run("build", "jobs").err


def test_a_path_that_does_not_exist_is_reported_at_its_line() -> None:
    Path("trainc.yaml").write_text("runtimes:\n  paths: [absent]\n")
    done = run("build", "jobs")
    assert done.code == 1
    assert "trainc.yaml:2:11: error[unreadable]: absent cannot be read: No such file or directory" in done.err


def test_forbidden_built_in_runtimes_are_one_error() -> None:
    write_job("b", "torch-distributed")
    Path("trainc.yaml").write_text("runtimes: {builtin: forbid}\n")
    done = run("build", "jobs")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        'jobs/a.yaml:5:22: error[built-in-runtime]: "torch-distributed" is a built-in runtime (Trainer v2.3.0), which '
        "runtimes.builtin forbids (and 1 more TrainJob)\n"
        "  5 |   runtimeRef: {name: torch-distributed}\n"
        "    |                      ^^^^^^^^^^^^^^^^^\n"
        "  trainc.yaml:1:21: the setting\n"
        "  1 | runtimes: {builtin: forbid}\n"
        "    |                     ------\n"
        '  jobs/b.yaml:5:22: TrainJob "b", too\n'
        "  5 |   runtimeRef: {name: torch-distributed}\n"
        "    |                      -----------------\n"
        "  help: pin it with `trainc runtimes export torch-distributed` in a folder that trainc reads, or set "
        "`builtin: allow`\n\n"
        "1 error\nFor more: trainc explain built-in-runtime\n"
    )
    pinned("jobs/platform")
    assert run("build", "jobs").code == 0


def test_forbidden_runtimes_are_not_suggested() -> None:
    write_job("a", "torch-distribted")
    Path("trainc.yaml").write_text("runtimes: {builtin: forbid}\n")
    (found,) = trainc.compile(["jobs"], options=Options(settings=trainc.settings.load(["jobs"]))).diagnostics
    assert found.help == (
        "write the runtime of your cluster to the project with `trainc runtimes pull`; searched: the given paths (0); "
        "add a path to search with --runtimes PATH"
    )


@pytest.mark.parametrize("text", ["runtimes: {}", "runtimes:", "runtimes: {paths: []}"])
def test_settings_that_change_nothing(text: str) -> None:
    plain = run("build", "jobs")
    Path("trainc.yaml").write_text(f"{text}\n")
    assert run("build", "jobs") == plain


def test_a_commit_has_its_own_paths() -> None:
    pinned("platform")
    Path("trainc.yaml").write_text("runtimes: {paths: [platform]}\n")
    Path(".git").rmdir()
    git("init", "--quiet")
    commit()
    Path("platform").rename("moved")
    Path("moved/torch.yaml").write_text(Path("moved/torch.yaml").read_text().replace("train:1", "train:2"))
    Path("trainc.yaml").write_text("runtimes: {paths: [moved]}\n")
    done = run("diff", "HEAD", "jobs")
    assert ".image: registry.example.com/train:1 -> registry.example.com/train:2" in done.out
    Path("trainc.yaml").write_text("runtimes: {builtin: forbid}\n")
    assert "error[built-in-runtime]" in run("diff", "HEAD", "jobs").err


def test_a_runtime_of_an_earlier_release(snapshot: SnapshotAssertion) -> None:
    write_job("a", "mpi-distributed")
    (found,) = trainc.compile(["jobs"]).diagnostics
    assert found.id == "runtime-not-found"
    assert found.help.partition("(")[0] == snapshot


@pytest.mark.parametrize(
    ("name", "help"),
    [
        pytest.param("torch-gang", f"{PULL}, or use one of torch-distributed, ", id="another runtime of the framework"),
        pytest.param("torch-distribted", "did you mean torch-distributed? ", id="a misspelled name"),
        pytest.param("Torch-Elastic", "did you mean torch-elastic? ", id="another case"),
        pytest.param("mlx", f"{PULL}, or use one of mlx-distributed, mlx-distributed-shm; ", id="the framework"),
    ],
)
def test_what_is_suggested(name: str, help: str) -> None:
    write_job("a", name)
    (found,) = [d for d in trainc.compile(["jobs"]).diagnostics if d.id == "runtime-not-found"]
    assert found.help.startswith(help)


def test_a_missing_runtime_is_one_error_for_all_trainjobs() -> None:
    for name in "abcdef":
        write_job(name, "torch-gang")
    write_job("g", "team-gang")
    first, second = trainc.compile(["jobs"]).diagnostics
    assert first.message == 'ClusterTrainingRuntime "torch-gang" not found (and 5 more TrainJobs)'
    assert [related.message for related in first.related] == [f'TrainJob "{name}", too' for name in "bcd"]
    assert (second.object.name, second.message) == ("g", 'ClusterTrainingRuntime "team-gang" not found')
