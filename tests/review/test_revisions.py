"""Git revisions as sides: the files that are read, their names, and that nothing in the repository runs or changes."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from committing import copy_repository, git
from files import write_files
from running import Done, run

from trainc.cli.common.options import REVIEWS

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: ours}
spec:
  mlPolicy: {numNodes: 2}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
                containers: [{name: node, image: base:1, resources: {limits: {nvidia.com/gpu: "1"}}}]
"""


def job_text(name: str = "finetune", image: str = "train:1") -> str:
    return f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}}}
spec:
  runtimeRef: {{name: ours}}
  trainer: {{image: "{image}"}}
"""


def commit(files: dict[str, str], at: Path | str = ".") -> None:
    write_files(files, at)
    git("add", "-A", at=at)
    git("commit", "-q", "--allow-empty", "-m", "A change", at=at)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create three commits: a first one, one on main and one on a branch, which is checked out."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    root = tmp_path / "team"
    root.mkdir()
    monkeypatch.chdir(root)
    copy_repository(three_commits, root)
    return root


def three_commits() -> None:
    commit(
        {"jobs/finetune.yaml": job_text(), "jobs/evaluate.yaml": job_text("evaluate"), "runtimes/ours.yaml": RUNTIME}
    )
    git("tag", "first")
    git("checkout", "-q", "-b", "branch")
    commit({"jobs/finetune.yaml": job_text(image="train:2"), "jobs/more.yaml": job_text("more")})
    git("checkout", "-q", "main")
    commit({"jobs/evaluate.yaml": job_text("evaluate", image="train:3")})
    git("checkout", "-q", "branch")


def review(*arguments: str) -> dict[str, str]:
    """Return the status of each object in a review."""
    done = run("diff", "--format", "json", *arguments)
    assert (done.code, done.err) == (0, "")
    return {found["name"]: found["status"] for found in json.loads(done.out)["objects"]}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["main..branch"], {"evaluate": "changed", "finetune": "changed", "more": "added"}, id="two"),
        pytest.param(["main...branch"], {"finetune": "changed", "more": "added"}, id="a merge"),
        pytest.param(["main.."], {"evaluate": "changed", "finetune": "changed", "more": "added"}, id="to HEAD"),
        pytest.param(["..main"], {"evaluate": "changed", "finetune": "changed", "more": "removed"}, id="from HEAD"),
        pytest.param(["first", "HEAD"], {"finetune": "changed", "more": "added"}, id="two words"),
        pytest.param(["HEAD~1..HEAD"], {"finetune": "changed", "more": "added"}, id="an ancestor"),
        pytest.param(["main..branch", "jobs/more.yaml", "runtimes"], {"more": "added"}, id="a path of one revision"),
        pytest.param(["HEAD"], {}, id="a clean working tree"),
        pytest.param([], {}, id="nothing is HEAD"),
        pytest.param(["main:jobs", "branch:jobs", "-r", "runtimes"], {"evaluate": "changed", "finetune": "changed", "more": "added"}, id="folders of revisions"),  # noqa: E501
        pytest.param(["main:jobs/finetune.yaml", "jobs/finetune.yaml", "-r", "runtimes"], {"finetune": "changed"}, id="a file of a revision, and one"),  # noqa: E501
    ],
)  # fmt: skip
def test_what_is_compared(project: Path, arguments: list[str], expected: dict[str, str]) -> None:
    assert review(*arguments) == expected


def test_the_working_tree_has_changes_that_are_not_committed(project: Path) -> None:
    write_files({"jobs/finetune.yaml": job_text(image="train:9"), "jobs/new.yaml": job_text("new")})
    Path("jobs/evaluate.yaml").unlink()
    git("rm", "-q", "--cached", "jobs/more.yaml")
    assert review("HEAD") == {"evaluate": "removed", "finetune": "changed", "new": "added"}


def test_paths_are_of_the_current_folder_and_names_of_the_repository(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("jobs")
    assert review("first..HEAD", "-r", "../runtimes") == {"finetune": "changed", "more": "added"}
    assert review("first..HEAD", "finetune.yaml", "../runtimes") == {"finetune": "changed"}
    assert review("first:jobs", "HEAD:./", "-r", "../runtimes") == {"finetune": "changed", "more": "added"}
    done = run("diff", "first..HEAD", "../runtimes", "finetune.yaml")
    assert "jobs/finetune.yaml:6: the TrainJob, spec.trainer.image: train:1 -> train:2" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["nosuch"], 'unknown revision "nosuch"', id="unknown"),
        pytest.param(["main..nosuch"], 'unknown revision "nosuch"', id="an unknown end"),
        pytest.param(["jobs", "nosuch"], 'unknown revision "nosuch"', id="a path and nothing"),
        pytest.param(["HEAD..--output=x"], 'unknown revision "--output=x"', id="an option in a range"),
        pytest.param(
            ["--", "--output=x"], "path --output=x does not exist in HEAD or in the working tree", id="an option"
        ),
        pytest.param(
            ["main", "first", "HEAD", "--", "jobs"],
            "3 revisions precede --: use at most two, or one range",
            id="three revisions",
        ),
        pytest.param(["jobs", "--", "runtimes"], 'unknown revision "jobs"', id="a path before the dashes"),
        pytest.param(["main:jobs", "--", "jobs"], 'unknown revision "main:jobs"', id="a path twice"),
        pytest.param(["../jobs..HEAD", "--"], 'unknown revision "../jobs..HEAD"', id="a path in a range"),
        pytest.param(["jobs"], "jobs is only one side: add a second path, or a revision before it", id="a single path"),
        pytest.param(
            ["HEAD", "nosuch"], "path nosuch does not exist in HEAD or in the working tree", id="a missing path"
        ),
        pytest.param(["HEAD", ".."], ".. is not in the repository", id="a path outside"),
        pytest.param(["HEAD..main", "-"], "standard input is not in the repository", id="standard input"),
        pytest.param(["HEAD:nosuch", "jobs"], "path nosuch does not exist in HEAD", id="no such path of a revision"),
        pytest.param([":jobs", "jobs"], "names the index, not a revision: use a commit, such as HEAD:", id="the index"),
        pytest.param(["-", "-"], "standard input can be only one of the sides", id="standard input twice"),
        pytest.param(["../no.yaml", "../no2.yaml"], 'unknown revision "../no.yaml"', id="paths, not a range"),
    ],
)
def test_what_is_unclear(project: Path, arguments: list[str], message: str) -> None:
    done = run("diff", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize("arguments", [[], ["HEAD"], ["main"], ["main..HEAD", "--", "job.yaml"]])
def test_a_repository_without_commits(arguments: list[str], empty_repository: Path) -> None:
    write_files({"job.yaml": job_text()})
    done = run("diff", *arguments)
    assert (done.code, done.out) == (2, "")
    assert "the current branch has no commits yet; commit first, or compare two folders" in done.err


AMBIGUOUS = {
    "main": ["main"],
    "main...HEAD": ["main...HEAD", "jobs"],
    "main..": ["main..", "jobs"],
    "origin/main..HEAD": ["origin/main..HEAD", "jobs"],
    "main..nosuch": ["main..nosuch", "jobs"],
    "first": ["HEAD", "first"],
    "main:jobs": ["main:jobs", "HEAD:jobs"],
    "HEAD": ["HEAD", "jobs"],
    "HEAD~1": ["HEAD~1", "jobs"],
}
"""Folders that a pull request may add, and arguments that name a revision of the same name."""


@pytest.mark.parametrize("folder", AMBIGUOUS)
def test_an_argument_that_is_a_revision_and_a_path_is_an_error(project: Path, folder: str) -> None:
    commit({f"{folder}/{path.name}": path.read_text() for path in Path("jobs").iterdir()})
    done = run("diff", *AMBIGUOUS[folder], "-r", "runtimes")
    assert (done.code, done.out) == (2, "")
    assert f"ambiguous argument '{folder}': both revision and path help: use --" in " ".join(done.err.split())


def test_the_full_hash_of_a_commit_is_a_revision(project: Path) -> None:
    folder = git("rev-parse", "main")
    commit({f"{folder}/{path.name}": path.read_text() for path in Path("jobs").iterdir()})
    assert "ambiguous argument" in run("diff", folder, "jobs").err


@pytest.mark.parametrize("folder", ["main", "main...HEAD", "origin/main..HEAD", "HEAD"])
def test_dashes_separate_revisions_from_paths(project: Path, folder: str) -> None:
    git("update-ref", "refs/remotes/origin/main", "main")
    commit({f"{folder}/{path.name}": path.read_text() for path in Path("jobs").iterdir()})
    changed = {"finetune": "changed", "more": "added"}
    assert review("main...HEAD", "--", "jobs", "runtimes") == changed
    assert review("origin/main...HEAD", "-r", "runtimes", "--", "jobs") == changed
    assert review("first", "HEAD", "--", "jobs", "runtimes") == changed
    assert review("origin/main:jobs", "HEAD:jobs", "-r", "runtimes", "--") == changed | {"evaluate": "changed"}
    assert review("--", "jobs", "runtimes") == review("HEAD", "--", "jobs", "runtimes") == {}
    assert review("HEAD~1", "--", "jobs", "runtimes") == {}
    assert review(f"./{folder}", "jobs", "-r", "runtimes") == {}


def test_without_a_revision_no_folder_replaces_head(project: Path) -> None:
    write_files({"HEAD/job.yaml": job_text("other"), "jobs/finetune.yaml": job_text(image="train:9")})
    assert review("--", "jobs", "runtimes") == {"finetune": "changed"}
    assert review() == {"finetune": "changed", "other": "added"}


def test_the_value_of_an_option_does_not_separate(project: Path) -> None:
    done = run("diff", "main..HEAD", "--only", "--", "-r", "nosuch")
    assert 'no TrainJob "--" in the given paths' in done.err


def test_paths_that_no_revision_is_called_like(project: Path) -> None:
    write_files(
        {
            "old/runtimes.yaml": RUNTIME,
            "old/jobs.yaml": job_text(),
            "a..b/jobs.yaml": job_text("other"),
            "a..b/ours.yaml": RUNTIME,
        }
    )
    assert review("old", "a..b") == {"other": "changed"}
    assert review("old", "jobs/../a..b") == {"other": "changed"}


def test_no_repository(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(empty_folder.parent))
    assert "not a git repository" in run("diff", "HEAD").err


def test_no_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    done = run("diff", "HEAD")
    assert done.code == 2
    assert "git is required to read revisions, and is not on the PATH" in done.err


def test_git_that_cannot_run(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir(exist_ok=True)
    (tmp_path / "bin" / "git").write_text("not a program")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    done = run("diff", "HEAD")
    assert done.code == 2
    assert "git is required to read revisions, and cannot be run: Exec format error" in done.err


def test_each_revision_has_its_own_settings_and_runtimes(project: Path) -> None:
    write_files({"trainc.yaml": "accelerators: {nvidia.com/gpu: {env: [{name: NCCL_NET, value: IB}]}}\n"})
    commit({"runtimes/ours.yaml": RUNTIME.replace("base:1", "base:2")})
    write_files({"jobs/plain.yaml": job_text("plain").replace('  trainer: {image: "train:1"}\n', "")})
    commit({})
    done = run("diff", "HEAD~2..HEAD", "jobs/finetune.yaml", "-r", "runtimes")
    assert "trainc.yaml:1: setting accelerators is added" in done.out
    assert review("HEAD~2..HEAD", "jobs/finetune.yaml", "-r", "runtimes") == {"finetune": "changed"}
    done = run("diff", "HEAD~2..HEAD", "jobs/finetune.yaml", "-r", "runtimes", "--no-config")
    assert "nothing changes" in done.out
    assert "note[settings-replaced]: --no-config replaces trainc.yaml" in done.err


RULES_OFF = "lint: {disable: [no-resources, no-gang]}\n"


def settings(*arguments: str) -> list[tuple[str, str, str]]:
    """Return the file, the field and the change of each setting in a review."""
    done = run("diff", "--format", "json", *arguments)
    assert done.code == 0, done.err
    return [(found["file"], found["field"], found["change"]) for found in json.loads(done.out)["settings"]]


def reported(*arguments: str) -> list[str]:
    """Return the ids of a review's diagnostics."""
    return re.findall(r"(?:warning|error)\[([\w-]+)\]", run("diff", *arguments).err)


def test_the_changed_settings_of_two_revisions(project: Path) -> None:
    commit({"trainc.yaml": RULES_OFF})
    expected = [("trainc.yaml", "lint.disable", "added")] * 2
    assert settings("HEAD~1..HEAD", "--", "jobs", "runtimes") == expected
    assert settings("HEAD~1", "--", "jobs", "runtimes") == expected
    assert settings("HEAD", "--", "jobs", "runtimes") == []
    assert settings("HEAD~1..HEAD", "--no-config", "--", "jobs", "runtimes") == []
    assert settings("HEAD~1..HEAD", "--config", "trainc.yaml", "--", "jobs", "runtimes") == []
    git("rm", "-q", "trainc.yaml")
    commit({})
    assert settings("HEAD~1..HEAD", "--", "jobs", "runtimes") == [("trainc.yaml", "lint.disable", "removed")] * 2


def test_settings_that_a_branch_adds_nearer_to_the_jobs_are_changed_settings(project: Path) -> None:
    commit({"trainc.yaml": "lint: {strict: true}\n"})
    commit({"jobs/trainc.yaml": RULES_OFF})
    assert settings("HEAD~1..HEAD", "-r", "runtimes", "--", "jobs", "runtimes") == [
        ("jobs/trainc.yaml", "lint.strict", "removed"),
        ("jobs/trainc.yaml", "lint.disable", "added"),
        ("jobs/trainc.yaml", "lint.disable", "added"),
    ]


def test_settings_are_those_of_the_commit_behind_a_link(project: Path) -> None:
    commit({"shared/settings.txt": RULES_OFF})
    Path("trainc.yaml").symlink_to("shared/settings.txt")
    commit({})
    Path("trainc.yaml").unlink()
    write_files({"trainc.yaml": "lint: {strict: true}\n"})
    assert settings("HEAD~1..HEAD", "--", "jobs", "runtimes") == [("trainc.yaml", "lint.disable", "added")] * 2


@pytest.mark.parametrize("target", ["/etc/hostname", "../outside.yaml", "nosuch", "jobs"])
def test_settings_that_are_not_a_file_of_the_commit_are_an_error(project: Path, target: str) -> None:
    Path("trainc.yaml").symlink_to(target)
    commit({})
    done = run("diff", "HEAD~1..HEAD", "--", "jobs", "runtimes")
    assert (done.code, done.out) == (1, "")
    assert "HEAD:trainc.yaml: error[unreadable]" in done.err


def test_a_changed_setting_is_a_difference(project: Path) -> None:
    commit({"trainc.yaml": RULES_OFF})
    done = run("diff", "HEAD~1..HEAD", "--exit-code")
    assert done.code == 3
    assert done.out.startswith("HEAD~1 -> HEAD\n2 settings changed\n\ntrainc.yaml:1: ")


SILENT = "lint: {disable: [no-resources, image-version]}\n"


def test_the_settings_of_the_base_branch_decide_what_is_reported(project: Path) -> None:
    commit({"trainc.yaml": SILENT, "jobs/more.yaml": job_text("more", image="train:latest")})
    paths = ("--", "jobs", "runtimes")
    assert "image-version" not in reported("main...HEAD", *paths)
    assert "image-version" in reported("main...HEAD", "--review-config", "main:trainc.yaml", *paths)
    assert "image-version" in reported("main...HEAD", "--review-config", "main:./trainc.yaml", *paths)
    assert "image-version" not in reported("main...HEAD", "--review-config", "HEAD:trainc.yaml", *paths)
    assert "image-version" not in reported("main...HEAD", "--review-config", "trainc.yaml", *paths)
    write_files({"odd:name.yaml": SILENT})
    assert "image-version" not in reported("main...HEAD", "--review-config", "./odd:name.yaml", *paths)


def test_strictness_is_that_of_the_base_branch(project: Path) -> None:
    commit({"trainc.yaml": "lint: {strict: true}\n"})
    commit({"trainc.yaml": SILENT, "jobs/more.yaml": job_text("more", image="train:latest")})
    assert run("diff", "HEAD~1..HEAD").code == 0
    done = run("diff", "HEAD~1..HEAD", "--review-config", "HEAD~1:trainc.yaml")
    assert (done.code, done.out) == (1, "")
    assert "error[image-version]" in done.err


def test_the_settings_of_the_base_branch_do_not_decide_what_is_built(project: Path) -> None:
    accelerators = "accelerators: {nvidia.com/gpu: {volumes: [{name: etc, hostPath: /etc, mountPath: /etc}]}}\n"
    commit({"trainc.yaml": accelerators})
    for config in ("HEAD~1:trainc.yaml", "HEAD:trainc.yaml", "trainc.yaml"):
        done = run("diff", "HEAD~1..HEAD", "--review-config", config)
        assert done.out.startswith("HEAD~1 -> HEAD\n3 to change, 1 setting changed\n")
        assert "\ntrainc.yaml:1: setting accelerators is added\n" in done.out


@pytest.mark.parametrize("planted", ["main:trainc.yaml", "origin/main:trainc.yaml"])
def test_no_file_replaces_the_settings_of_a_revision(project: Path, planted: str) -> None:
    commit({planted: SILENT, "jobs/more.yaml": job_text("more", image="train:latest")})
    done = run("diff", "main...HEAD", "--review-config", planted, "--", "jobs", "runtimes")
    if planted.startswith("origin"):
        assert (done.code, done.out) == (2, "")
        assert 'unknown revision "origin/main"' in done.err
    else:
        assert "warning[image-version]" in done.err


@pytest.mark.parametrize(
    ("config", "message"),
    [
        pytest.param("nosuch.yaml", "nosuch.yaml: cannot be read: No such file", id="no file"),
        pytest.param("jobs", "jobs: is a folder", id="a folder"),
        pytest.param("nosuch:trainc.yaml", 'unknown revision "nosuch"', id="an unknown revision"),
        pytest.param("--output=x:trainc.yaml", 'unknown revision "--output=x"', id="an option"),
        pytest.param("HEAD:nosuch.yaml", "file HEAD:nosuch.yaml does not exist", id="no such file of a revision"),
        pytest.param("HEAD:jobs", "file HEAD:jobs does not exist", id="a folder of a revision"),
        pytest.param("HEAD:", "file HEAD: does not exist", id="a revision as a folder"),
        pytest.param("HEAD:../../x/trainc.yaml", "file HEAD:../../x/trainc.yaml does not exist", id="a path outside"),
        pytest.param("HEAD:out/trainc.yaml", "file HEAD:out/trainc.yaml does not exist", id="a link out"),
        pytest.param(":trainc.yaml", "names the index, not a revision: use a commit, such as HEAD:", id="the index"),
        pytest.param(
            "HEAD:bad.yaml", 'HEAD:bad.yaml:1:18: disable[0] has the unsupported value "nosuch"', id="an unknown rule"
        ),
        pytest.param("HEAD:broken.yaml", "HEAD:broken.yaml:1:", id="no YAML"),
        pytest.param(
            "bad.yaml", 'bad.yaml:1:18: disable[0] has the unsupported value "nosuch"', id="an unknown rule of a file"
        ),
        pytest.param("-", "", id="standard input"),
    ],
)
def test_settings_of_a_review_that_are_not_valid(project: Path, config: str, message: str) -> None:
    Path("out").symlink_to("../..")
    commit({"bad.yaml": "lint: {disable: [nosuch]}\n", "broken.yaml": "lint: {"})
    done = run("diff", "main..HEAD", "--review-config", config, "--", "jobs", "runtimes")
    assert (done.code, done.out) == (2, "")
    assert message in " ".join(done.err.split())


def test_a_base_branch_without_settings_turns_off_no_rule(project: Path) -> None:
    commit({"trainc.yaml": SILENT, "jobs/more.yaml": job_text("more", image="train:latest")})
    assert "image-version" in reported("main..HEAD", "--review-config", "main:trainc.yaml")


def test_a_bare_repository(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    monkeypatch.chdir(tmp_path / "bare")
    assert review("first..branch") == {"finetune": "changed", "more": "added"}
    assert review("first..branch", "jobs/finetune.yaml", "runtimes") == {"finetune": "changed"}


def test_another_working_tree(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("worktree", "add", "-q", str(tmp_path / "other"), "main")
    monkeypatch.chdir(tmp_path / "other")
    assert review("first") == {"evaluate": "changed"}


def test_in_a_hook(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert review("first") == {"finetune": "changed", "more": "added"}


def test_a_submodule_is_another_repository(project: Path, tmp_path: Path) -> None:
    git("clone", "-q", ".", str(tmp_path / "theirs"))
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "theirs"), "theirs")
    commit({})
    assert review("HEAD~1..HEAD") == {}


@pytest.mark.parametrize("name", ['a "quoted" one.yaml', "two\nlines.yaml", "caf\udce9.yaml", "*.yaml", ":(top).yaml"])
def test_odd_names(project: Path, name: str) -> None:
    commit({f"jobs/{name}": job_text("odd")})
    assert review("HEAD~1..HEAD") == {"odd": "added"}
    done = run_apart("diff", "HEAD~1..HEAD", "--format", "json")
    assert [found["name"] for found in json.loads(done.decode())["objects"]] == ["odd"]
    assert run_apart("diff", "HEAD~1..HEAD").count(b"\n") == len(run("diff", "HEAD~1..HEAD").out.splitlines())


def run_apart(*arguments: str) -> bytes:
    """Return the output bytes of a separate process."""
    program = "import sys; from trainc.cli import run; sys.argv[0] = 'trainc'; run()"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, check=True).stdout


LINKS = {
    "jobs/link.yaml": "../more/linked.txt",
    "jobs/chain.yaml": "link.yaml",
    "jobs/folder": "../more/deep",
    "jobs/through.yaml": "folder/twice.yaml",
    "jobs/self": ".",
    "jobs/notes": "../more/linked.txt",
    "jobs/nowhere": "nosuch",
    "jobs/far": "/nosuch/far",
}


def linked(project: Path) -> None:
    write_files(
        {
            "more/linked.txt": job_text("linked"),
            "more/deep/deep.yaml": job_text("deep"),
            "more/deep/twice.yaml": job_text("twice"),
        }
    )
    for name, target in LINKS.items():
        Path(name).symlink_to(target)
    commit({})


def test_links_within_the_repository(project: Path) -> None:
    linked(project)
    assert review("HEAD~1..HEAD", "jobs", "runtimes") == dict.fromkeys(["linked", "deep", "twice"], "added")
    assert review("HEAD", "jobs", "runtimes") == {}


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        pytest.param("/etc/passwd", "link to a target outside the repository", id="absolute"),
        pytest.param("../../elsewhere.yaml", "link to a target outside the repository", id="relative"),
        pytest.param("circle.yaml", "dangling or circular link", id="in a circle"),
        pytest.param("nosuch.yaml", "dangling or circular link", id="nowhere"),
    ],
)
def test_links_that_are_not_followed(project: Path, target: str, reason: str) -> None:
    write_files({"../elsewhere.yaml": job_text("elsewhere")})
    Path("jobs/circle.yaml").symlink_to(target)
    commit({})
    done = run("diff", "HEAD~1..HEAD")
    assert (done.code, done.err) == (0, "")
    assert f"jobs/circle.yaml is added: it is a {reason}" in done.out


def decoy(project: Path) -> None:
    """Commit a copy of the jobs on main, and a changed job on another branch."""
    git("checkout", "-q", "main")
    copies = {f"decoy/jobs/{path.name}": path.read_text() for path in Path("jobs").iterdir()}
    commit({f"teams/jobs/{path.name}": path.read_text() for path in Path("jobs").iterdir()} | copies)
    git("checkout", "-q", "-b", "attack")
    commit({"teams/jobs/finetune.yaml": job_text(image="train:9")})


def hidden() -> None:
    """Replace the folder by a link in the working tree."""
    Path("teams").rename("elsewhere")
    Path("teams").symlink_to("decoy")


def test_a_link_in_the_working_tree_does_not_redirect_a_revision(project: Path) -> None:
    decoy(project)
    hidden()
    assert review("main..HEAD", "--", "teams/jobs", "runtimes") == {"finetune": "changed"}
    assert review("main:teams/jobs", "HEAD:./teams/jobs", "-r", "runtimes") == {"finetune": "changed"}
    absolute = str(project / "teams" / "jobs")
    assert review("main..HEAD", "--", absolute, "runtimes") == {"finetune": "changed"}


def test_a_link_of_a_commit_is_followed_in_that_commit(project: Path) -> None:
    decoy(project)
    git("rm", "-rq", "teams")
    commit({"decoy/jobs/finetune.yaml": job_text(image="train:7")})
    Path("teams").symlink_to("decoy")
    commit({})
    Path("teams").unlink()
    Path("teams").mkdir()
    assert review("main..HEAD", "--", "teams/jobs", "runtimes") == {"finetune": "changed"}
    assert review("main:teams/jobs", "HEAD:teams/jobs", "-r", "runtimes") == {"finetune": "changed"}
    assert review("main:teams/jobs", "HEAD:teams/jobs/finetune.yaml", "-r", "runtimes")["finetune"] == "changed"


def test_a_link_in_the_working_tree_does_not_redirect_runtimes(project: Path) -> None:
    files = {"platform/runtimes/ours.yaml": RUNTIME, "decoy/runtimes/ours.yaml": RUNTIME}
    git("rm", "-rq", "runtimes")
    plain = job_text().replace('  trainer: {image: "train:1"}\n', "")
    commit(files | {"jobs/finetune.yaml": plain})
    commit({"platform/runtimes/ours.yaml": RUNTIME.replace("base:1", "base:2")})
    Path("platform").rename("elsewhere")
    Path("platform").symlink_to("decoy")
    assert review("HEAD~1..HEAD", "-r", "platform/runtimes", "--", "jobs/finetune.yaml") == {"finetune": "changed"}
    Path("platform").unlink()
    assert review("HEAD~1..HEAD", "-r", "platform/runtimes", "--", "jobs/finetune.yaml") == {"finetune": "changed"}


def test_runtimes_outside_the_repository_are_of_the_disk(project: Path, tmp_path: Path) -> None:
    git("rm", "-rq", "runtimes")
    commit({})
    write_files({"runtimes/ours.yaml": RUNTIME}, at=tmp_path)
    assert review("HEAD~1..HEAD", "-r", "../runtimes", "--", "jobs") == {}


def test_a_link_in_the_working_tree_leaves_no_file_out(project: Path) -> None:
    write_files({"settings.yaml": "lint: {disable: [no-gang]}\n"})
    commit({})
    commit({"jobs/finetune.yaml": job_text(image="train:9")})
    Path("settings.yaml").unlink()
    Path("settings.yaml").symlink_to("jobs/finetune.yaml")
    Path("jobs/finetune.yaml").write_text("lint: {disable: [no-gang]}\n")
    arguments = ["diff", "HEAD~1..HEAD", "--config", "settings.yaml", "--format", "json"]
    assert [found["name"] for found in json.loads(run(*arguments).out)["objects"]] == ["finetune"]


def test_links_above_the_repository_are_of_the_disk(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoy(project)
    (tmp_path / "link").symlink_to(project.parent)
    (tmp_path / "deep").symlink_to("link/team/teams")
    hidden()
    for path in (tmp_path / "link" / "team" / "teams" / "jobs", tmp_path / "deep" / "jobs"):
        assert review("main..HEAD", "-r", "runtimes", "--", str(path)) == {"finetune": "changed"}
    assert "is not in the repository" in run("diff", "main..HEAD", "--", str(tmp_path / "link")).err
    (tmp_path / "circle").symlink_to("circle")
    assert "is not in the repository" in run("diff", "main..HEAD", "--", str(tmp_path / "circle" / "x")).err
    (tmp_path / "back").symlink_to("team/../../nosuch")
    assert "is not in the repository" in run("diff", "main..HEAD", "--", str(tmp_path / "back")).err


def test_a_link_to_the_current_folder_does_not_redirect_a_revision(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoy(project)
    hidden()
    monkeypatch.chdir("teams/jobs")
    monkeypatch.setenv("PWD", str(project / "teams" / "jobs"))
    assert review("main..HEAD", "-r", "../../runtimes") == {"finetune": "changed"}
    monkeypatch.setenv("PWD", str(project))
    assert review("main..HEAD", "-r", "../../runtimes") == {}


@pytest.mark.parametrize("target", ["../..", "/", "teams"])
def test_a_link_in_the_path_of_a_side_never_leaves_the_commit(project: Path, target: str) -> None:
    decoy(project)
    git("rm", "-rq", "teams")
    Path("teams").symlink_to(target)
    commit({})
    done = run("diff", "main..HEAD", "--format", "json", "-r", "runtimes", "--", "teams/jobs")
    if target == "teams":
        assert {found["status"] for found in json.loads(done.out)["objects"]} == {"removed"}
    else:
        assert (done.code, done.out) == (1, "")
        assert "HEAD:teams/jobs: error[link-out]" in done.err


def test_a_revision_is_as_its_checkout(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linked(project)
    commit(
        {
            "runtimes/ours.yaml": RUNTIME.replace("base:1", "base:4"),
            "jobs/.hidden.yaml": "]",
            "jobs/b.yaml": job_text("b"),
        }
    )
    git("rm", "-q", "jobs/evaluate.yaml")
    commit({"trainc.yaml": "accelerators: {nvidia.com/gpu: {env: [{name: NCCL_NET, value: IB}]}}\n"})
    revisions = ["first", "main", "HEAD~2", "HEAD~1", "HEAD"]
    for number, revision in enumerate(revisions):
        archive = subprocess.run(["git", "archive", revision], capture_output=True, check=True).stdout
        (tmp_path / str(number)).mkdir()
        subprocess.run(["tar", "-x"], input=archive, cwd=tmp_path / str(number), check=True)
        git("init", "-q", at=tmp_path / str(number))
    for one, other in [(0, 1), (0, 4), (4, 0), (1, 2), (2, 3), (3, 4)]:
        monkeypatch.chdir(project)
        of_revisions = run("diff", f"{revisions[one]}..{revisions[other]}", "--format", "json")
        monkeypatch.chdir(tmp_path)
        of_folders = run("diff", str(one), str(other), "--format", "json")
        assert of_revisions.code == of_folders.code == 0
        assert json.loads(of_revisions.out)["objects"]
        assert without_names(of_revisions) == without_names(of_folders, f"{one}/", f"{other}/")


def without_names(done: Done, *folders: str) -> str:
    """Return a review as JSON without the names of the sides."""
    text = json.dumps(json.loads(done.out) | {"old": "", "new": ""}, indent=1)
    for folder in folders:
        text = text.replace(f'"file": "{folder}', '"file": "')
    return text


ATTACKS = {
    "core.fsmonitor": "{marker}",
    "core.hooksPath": "{hooks}",
    "core.pager": "{marker}",
    "core.editor": "{marker}",
    "core.sshCommand": "{marker}",
    "core.askPass": "{marker}",
    "core.gitProxy": "{marker}",
    "core.alternateRefsCommand": "{marker}",
    "alias.rev-parse": "!{marker}",
    "alias.cat-file": "!{marker}",
    "alias.ls-tree": "!{marker}",
    "credential.helper": "!{marker}",
    "diff.external": "{marker}",
    "diff.evil.textconv": "{marker}",
    "diff.evil.command": "{marker}",
    "merge.evil.driver": "{marker}",
    "merge.default": "evil",
    "filter.evil.clean": "{marker}",
    "filter.evil.smudge": "{marker}",
    "filter.evil.process": "{marker}",
    "filter.evil.required": "true",
    "gpg.program": "{marker}",
    "interactive.diffFilter": "{marker}",
    "pager.cat-file": "{marker}",
    "pager.ls-tree": "{marker}",
    "pager.rev-parse": "{marker}",
    "uploadpack.packObjectsHook": "{marker}",
    "remote.evil.url": "ext::{marker}",
    "remote.evil.promisor": "true",
    "remote.evil.partialclonefilter": "blob:none",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "extensions.partialClone": "evil",
}


@pytest.fixture
def hostile(project: Path, tmp_path: Path) -> Path:
    """Return the file that exists once anything in the repository has run."""
    ran = tmp_path / "ran"
    hooks = project / ".git" / "hooks"
    marker = hooks / "post-index-change"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "fsmonitor-watchman", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\necho $0 $@ >> {ran}\n")
        (hooks / name).chmod(0o755)
    commit({".gitattributes": "*.yaml diff=evil merge=evil\n*.txt filter=evil\n", "notes.txt": "evil"})
    ran.unlink(missing_ok=True)
    for key, value in ATTACKS.items():
        git("config", key, value.format(marker=marker, hooks=hooks))
    return ran


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return the mode, modification time and content of all files in a folder."""
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found


@pytest.mark.parametrize("arguments", [["main..HEAD"], ["main...HEAD"], ["HEAD"], ["HEAD:jobs", "main:jobs"]])
def test_nothing_of_an_untrusted_repository_runs(project: Path, hostile: Path, arguments: list[str]) -> None:
    before = snapshot(project)
    assert run("diff", *arguments, "-r", "runtimes").code == 0
    assert not hostile.exists(), hostile.read_text()
    assert snapshot(project) == before


def test_the_attacks_are_real(project: Path, hostile: Path) -> None:
    subprocess.run(["git", "status"], capture_output=True, check=False)
    assert hostile.exists()


def test_an_object_that_is_not_here_is_not_fetched(project: Path, hostile: Path) -> None:
    blob = git("rev-parse", "main:jobs/evaluate.yaml")
    hostile.unlink(missing_ok=True)
    (project / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    before = snapshot(project)
    done = run("diff", "main..HEAD")
    assert (done.code, done.out) == (2, "")
    assert not hostile.exists(), hostile.read_text()
    assert snapshot(project) == before


def test_a_replaced_object_is_read_as_it_was_committed(project: Path) -> None:
    old, new = git("rev-parse", "main:jobs/finetune.yaml"), git("rev-parse", "branch:jobs/finetune.yaml")
    git("replace", old, new)
    assert review("main..branch")["finetune"] == "changed"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(
            b"100644 a.yaml\0" + b"\1" * 20,
            "git object 0101010101010101010101010101010101010101 is missing",
            id="a missing file",
        ),
        pytest.param(
            b"100644 a.yaml\0" + b"\1" * 19, "is not a tree: its last entry is incomplete", id="an incomplete entry"
        ),
        pytest.param(b"100644 a.yaml", "is not a tree", id="no end of a name"),
        pytest.param(
            b"40000 a\0" + b"\1" * 20,
            "git object 0101010101010101010101010101010101010101 is missing",
            id="a missing folder",
        ),
    ],
)
def test_a_damaged_commit(data: bytes, message: str, project: Path) -> None:
    arguments = ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"]
    tree = subprocess.run(arguments, input=data, capture_output=True, check=True).stdout.decode().strip()
    git("update-ref", "refs/heads/damaged", git("commit-tree", tree, "-m", "x"))
    done = run("diff", "main..damaged")
    assert (done.code, done.out) == (2, "")
    assert message in " ".join(done.err.split())


def tree_of(entries: list[tuple[str, str, str]]) -> str:
    """Return a tree whose entries have a mode, a name and an object, in this order and unchecked."""
    data = b"".join(b"%s %s\0%s" % (mode.encode(), name.encode(), bytes.fromhex(id)) for mode, name, id in entries)
    return git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=data)


def committed(tree: str, branch: str) -> None:
    git("update-ref", f"refs/heads/{branch}", git("commit-tree", tree, "-p", "main", "-m", "x"))


def entries_of(path: str) -> list[tuple[str, str, str]]:
    """Return the entries of a tree: mode, name and object."""
    lines = (line.split() for line in git("ls-tree", path).splitlines())
    return [(mode, name, id) for mode, _, id, name in lines]


MODES = {"40755": "jobs", "0040000": "jobs", "140000": "jobs", "120777": "link", "100600": "file", "1100644": "file"}
"""Modes of trees that servers accept, and what git checks out."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", REVIEWS)
def test_a_mode_is_read_as_git_reads_it(mode: str, form: str, project: Path, tmp_path: Path) -> None:
    """The mode 140000 is a submodule, as is that of every type that git does not know."""
    objects = {
        "jobs": tree_of([("100644", "odd.yaml", git("hash-object", "-w", "--stdin", stdin=job_text("odd").encode()))]),
        "link": git("hash-object", "-w", "--stdin", stdin=b"../runtimes"),
        "file": git("hash-object", "-w", "--stdin", stdin=job_text("odd").encode()),
    }
    name = "zzz.yaml" if MODES[mode] == "file" else "zzz"
    jobs = tree_of([*entries_of("main:jobs"), (mode, name, objects[MODES[mode]])])
    root = [entry if entry[1] != "jobs" else (entry[0], "jobs", jobs) for entry in entries_of("main")]
    committed(tree_of(root), "odd")
    done = run("diff", "main..odd", "--format", form, "--", "jobs", "runtimes")
    assert (done.code, done.err) == (0, "")
    out = re.sub(r"<[^>]*>", "", done.out)
    if mode == "140000":
        assert "it is a submodule" in out
    elif MODES[mode] == "link":
        assert "it is a link to a path that is compared under its own name" in out
    else:
        assert "odd" in out
    archive = subprocess.run(
        ["git", "ls-tree", "-r", "odd", "jobs/"], capture_output=True, text=True, check=True
    ).stdout
    assert ("odd.yaml" in archive) == (mode in {"40755", "0040000"})


WRONG_ENTRIES = {
    "a slash": ([("100644", "a/b.yaml")], "no checkout has a file named 'a/b.yaml'"),
    "the folder above": ([("100644", "..")], "no checkout has a file named '..'"),
    "the folder": ([("100644", ".")], "no checkout has a file named '.'"),
    "no name": ([("100644", "")], "no checkout has a file named ''"),
    "the folder of git": ([("40000", ".GIT")], "no checkout has a file named '.GIT'"),
    "two of one name": ([("100644", "a"), ("100644", "a")], "its entry 'a' is not in order"),
    "a file and a folder": ([("100644", "a"), ("40000", "a")], "it has two entries named 'a'"),
    "another order": ([("100644", "b.yaml"), ("100644", "a.yaml")], "its entry 'a.yaml' is not in order"),
    "no mode": ([("", "a.yaml")], "it has the mode ''"),
    "letters as a mode": ([("10064x", "a.yaml")], "it has the mode '10064x'"),
}


@pytest.mark.parametrize("case", WRONG_ENTRIES)
@pytest.mark.parametrize("form", REVIEWS)
def test_an_entry_that_no_checkout_makes_is_an_error(case: str, form: str, project: Path) -> None:
    entries, message = WRONG_ENTRIES[case]
    file, tree = git("rev-parse", "main:jobs/finetune.yaml"), git("rev-parse", "main^{tree}")
    committed(tree_of([(mode, name, tree if mode == "40000" else file) for mode, name in entries]), "odd")
    done = run("diff", "main..odd", "--format", form)
    assert (done.code, done.out) == (2, "")
    assert message in " ".join(done.err.split())


def test_the_git_commands(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    log = tmp_path / "log"
    write_files({"bin/git": f'#!/bin/sh\nprintf "%s\\n" "$*" >> {log}\nexec {real} "$@"\n'}, at=tmp_path)
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    linked(project)
    log.unlink()
    assert run("diff", "main...HEAD").code == run("diff", "HEAD", "jobs/link.yaml", "runtimes").code == 0
    options = "-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.warnAmbiguousRefs=true "
    asked = log.read_text().splitlines()
    assert all(line.startswith(options) for line in asked)
    commands = [line.removeprefix(options).split() for line in asked]
    assert {command[0] for command in commands} == {"rev-parse", "cat-file", "init", "merge-tree"}
    assert sum(command[0] == "cat-file" for command in commands) == 3  # one process for each revision
    assert all("--end-of-options" in command for command in commands if "--verify" in command)
    assert all(command == ["cat-file", "--batch"] for command in commands if command[0] == "cat-file")
