"""`exclude` of trainc.yaml and `--exclude`: .gitignore patterns of files and folders that are not read."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

import pytest
from batches import examples
from committing import commit, git
from files import write
from hypothesis import example, given
from hypothesis import strategies as st
from running import run

from trainc.files import exclude as gitignore
from trainc.files.exclude import Excluded, Patterns
from trainc.files.output_marks import sources_of

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: NAME}
spec:
  runtimeRef: {name: torch-distributed}
"""
BROKEN = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainingRuntime\nmetadata: {name: b}\nspec: {\n"
READING = ("validate", "build", "pods", "explain", "graph", "upgrade", "migrate", "runtimes", "diff", "secret")
"""The commands that read folders."""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path / "repo")
    git("init", "--quiet")
    write("jobs/a.yaml", JOB.replace("NAME", "a"))
    write("charts/templates/broken.yaml", BROKEN)
    return tmp_path / "repo"


def command(name: str) -> list[str]:
    """Return a command line that reads the current folder."""
    return [name, *{"diff": ["jobs", "."], "secret": ["a"], "runtimes": ["list"]}.get(name, [])]


@pytest.mark.parametrize("name", READING)
def test_every_command_leaves_out_what_is_excluded(name: str) -> None:
    assert run(*command(name)).code == 1
    assert run(*command(name), "--exclude", "charts/").code == 0
    assert run(*command(name), "--exclude", "vendor/", "--exclude=broken.*").code == 0
    write("trainc.yaml", "exclude: [charts/]\n")
    assert run(*command(name)).code == 0


@pytest.mark.parametrize("name", ["validate", "build", "pods", "explain", "graph", "secret"])
def test_it_applies_to_the_folders_of_r(name: str) -> None:
    jobs = ["a", "jobs"] if name == "secret" else ["jobs"]
    assert run(name, *jobs, "-r", "charts").code == 1
    write("charts/other.yaml", "a: 1\n")
    assert run(name, *jobs, "-r", "charts", "--exclude", "templates").code == 0
    write("trainc.yaml", "exclude: [charts/templates]\n")
    assert run(name, *jobs, "-r", "charts").code == 0


@pytest.mark.parametrize(
    ("patterns", "read"),
    [
        pytest.param(["b"], ["a.yaml", "c/d/a.yaml"], id="a name at any depth"),
        pytest.param(["/d"], ["a.yaml", "b/a.yaml", "b/d/a.yaml", "c/d/a.yaml"], id="only in the folder of the list"),
        pytest.param(["b/d"], ["a.yaml", "b/a.yaml", "c/d/a.yaml"], id="a path"),
        pytest.param(["**/d/"], ["a.yaml", "b/a.yaml"], id="a folder at any depth"),
        pytest.param(["a.yaml/"], ["a.yaml", "b/a.yaml", "b/d/a.yaml", "c/d/a.yaml"], id="no folder"),
        pytest.param(["*", "!b/", "!b/a.yaml"], ["b/a.yaml"], id="a negation"),
        pytest.param(["b/", "!b/a.yaml"], ["a.yaml", "c/d/a.yaml"], id="no negation below an excluded folder"),
        pytest.param(["[bc]/?/*.yaml"], ["a.yaml", "b/a.yaml"], id="wildcards"),
    ],
)
def test_the_patterns(patterns: list[str], read: list[str]) -> None:
    write("trainc.yaml", f"exclude: {patterns}\n")
    for number, name in enumerate(("a.yaml", "b/a.yaml", "b/d/a.yaml", "c/d/a.yaml")):
        write(f"tree/{name}", JOB.replace("NAME", f"n{number}"))
    write("tree/trainc.yaml", f"exclude: {patterns}\n")
    options = [word for pattern in patterns for word in ("--exclude", pattern)]
    os.chdir("tree")
    for words in ((), ("--no-config", *options)):
        done = run("build", "-o", "../out", *words)
        assert done.code == 0, done.err
        built = [source for path in Path("../out").iterdir() for source in sources_of(path.read_bytes())]
        assert sorted(path.removeprefix("../tree/") for path in built) == read


def test_the_patterns_of_the_file_are_relative_to_it_and_those_of_the_flag_to_the_current_folder() -> None:
    write("trainc.yaml", "exclude: [/charts]\n")
    os.chdir("jobs")
    write("sub/broken.yaml", BROKEN)
    assert run("validate", "..", "--exclude", "/sub").code == 0
    assert run("validate", "..", "--exclude", "/jobs/sub").code == 1
    os.chdir("..")
    assert run("validate", "--exclude", "/jobs/sub").code == 0
    assert run("validate", "--exclude", "/sub").code == 1
    write("conf/settings.yaml", "exclude: [/charts]\n")
    assert run("validate", "--exclude", "/jobs/sub", "--config", "conf/settings.yaml").code == 1
    assert run("validate", "--exclude", "/jobs/sub", "--no-config").code == 1


def test_an_excluded_folder_is_not_walked() -> None:
    write("charts/templates/trainc-cannot-list/x.yaml", "")
    os.symlink("/etc", "charts/out")
    os.mkfifo("charts/pipe.yaml")
    assert run("validate", "--exclude", "templates").code == 1
    assert run("validate", "--exclude", "charts").code == 0


def test_a_link_to_a_folder_is_excluded_like_a_folder() -> None:
    os.symlink("../../", "jobs/up")
    os.symlink("nowhere", "jobs/gone.yaml")
    assert run("validate", "jobs").code == 1
    assert run("validate", "jobs", "--exclude", "up/", "--exclude", "gone.yaml").code == 0


def test_a_given_file_is_read() -> None:
    write("trainc.yaml", "exclude: [jobs/, charts/]\n")
    assert run("validate", "jobs/a.yaml").out == "no problems found: 1 TrainJob, 1 runtime\n"
    assert run("validate", "charts/templates/broken.yaml").code == 1


def test_a_subset_leaves_out_what_its_folder_leaves_out() -> None:
    write("trainc.yaml", "exclude: [charts/]\n")
    done = run("validate", "--among", ".", "jobs/a.yaml", "charts/templates/broken.yaml")
    assert (done.code, done.out) == (0, "no problems found: 1 TrainJob, 1 runtime\n")


@pytest.mark.parametrize(
    ("patterns", "error"),
    [
        pytest.param("['*']", 'trainc.yaml:1:11: error[all-excluded]: the pattern "*" of exclude', id="everything"),
        pytest.param(
            "[x, /jobs, charts]", 'trainc.yaml:1:21: error[all-excluded]: the pattern "charts"', id="together"
        ),
        pytest.param("[x, '!']", 'trainc.yaml:1:14: error[exclude-pattern]: the pattern "!" is not', id="invalid"),
        pytest.param("[x, '']", 'trainc.yaml:1:14: error[exclude-pattern]: the pattern "" matches', id="empty"),
        pytest.param("['#a']", 'trainc.yaml:1:11: error[exclude-pattern]: the pattern "#a" matches', id="a comment"),
        pytest.param("['[z-a]']", 'trainc.yaml:1:11: error[exclude-pattern]: the pattern "[z-a]" is', id="a range"),
        pytest.param(
            "[a//b]", 'trainc.yaml:1:11: error[exclude-pattern]: the pattern "a//b" matches', id="two slashes"
        ),
        pytest.param("['[[:odd:]]']", "trainc.yaml:1:11: error[exclude-pattern]", id="an unknown class"),
        pytest.param("charts", "trainc.yaml:1:10: error[wrong-type]", id="no list"),
        pytest.param("[1]", "trainc.yaml:1:11: error[wrong-type]", id="a number"),
    ],
)
@pytest.mark.parametrize("name", READING)
def test_errors_in_the_file_have_their_place(name: str, patterns: str, error: str) -> None:
    write("trainc.yaml", f"exclude: {patterns}\n")
    done = run(*command(name)) if name != "diff" else run("diff", ".", ".")
    assert done.code == 1
    assert error in done.out + done.err


def test_errors_of_the_flag() -> None:
    done = run("validate", "--exclude", "!")
    assert (done.code, done.out) == (2, "")
    assert 'Error: --exclude: the pattern "!" is not a valid .gitignore pattern.\n' in done.err
    done = run("validate", "--exclude", "*")
    assert done.code == 1
    assert 'error[all-excluded]: the pattern "*" of --exclude leaves no file in the given paths' in done.out


def test_an_empty_folder_is_no_error_of_the_patterns() -> None:
    Path("empty").mkdir()
    write("empty/notes.txt", "")
    assert run("validate", "empty", "--exclude", "*").code == 0


def test_an_upgrade_writes_nothing_while_the_patterns_are_unknown() -> None:
    old = JOB.replace("trainer.kubeflow.org/v1alpha1", "kubeflow.org/v2alpha1")
    write("jobs/a.yaml", old)
    write("trainc.yaml", "exclude: ['!']\n")
    assert run("upgrade", "jobs", "--write").code == 1
    assert Path("jobs/a.yaml").read_text() == old


def test_commands_without_settings_find_the_file_behind_a_link(tmp_path: Path) -> None:
    """trainc.yaml itself may be a link that only `--follow-links` allows."""
    (tmp_path / "shared.yaml").write_text("fieldValidation: ignore\nexclude: [charts/]\n")
    os.symlink(tmp_path / "shared.yaml", "trainc.yaml")
    write("jobs/a.yaml", JOB.replace("NAME", "a") + "  unknown: 1\n")
    for name in ("upgrade", "runtimes", "secret"):
        assert "error[link-out]" in run(*command(name)).err
        assert run(*command(name), "--follow-links").code == 0


def test_each_side_of_a_review_has_its_own_patterns() -> None:
    write("trainc.yaml", "exclude: [charts/]\n")
    write("old/b.yaml", JOB.replace("NAME", "b"))
    commit("old")
    write("trainc.yaml", "exclude: [charts/, /old]\n")
    done = run("diff", "HEAD")
    assert done.code == 0
    assert "trainc.yaml:1: setting exclude" in done.out
    assert "- removed b (JobSet)" in done.out
    commit("new")
    assert run("diff", "HEAD~1..HEAD").out == done.out.replace("HEAD -> the working tree", "HEAD~1 -> HEAD")
    assert run("diff", "HEAD~1..HEAD", "--exclude", "/old").out.count("JobSet b") == 0
    os.chdir("jobs")
    assert run("diff", "HEAD~1..HEAD", "--", "..").out == run("diff", "HEAD~1..HEAD", "--", os.path.abspath("..")).out


def test_a_commit_whose_files_are_all_excluded() -> None:
    write("trainc.yaml", "exclude: ['*']\n")
    commit("old")
    done = run("diff", "HEAD..HEAD")
    assert done.code == 1
    assert 'HEAD:trainc.yaml:1:11: error[all-excluded]: the pattern "*" of exclude' in done.err


def test_argo_cd_neither_finds_nor_generates_what_is_excluded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", "[]")
    write("trainc.yaml", "exclude: [charts/]\n")
    assert run("cmp", "discover").out == "jobs/a.yaml\n"
    assert run("cmp", "generate").code == 0
    write("trainc.yaml", "exclude: [charts/, jobs/]\n")
    assert run("cmp", "discover").out == ""
    assert "trainc.yaml:1:11: error[all-excluded]" in run("cmp", "generate").err
    write("trainc.yaml", "exclude: ['!']\n")
    assert "trainc.yaml:1:11: error[exclude-pattern]" in run("cmp", "generate").err


WORDS = (
    *("a", "b", "c", "-", "]", "[", "!", "^", "#", " ", "é", "\\", "\\a", "\\*", "\\/"),
    *("*", "*", "**", "?", "/", "/", "/**/", "**/", "/**"),
    *("[]a]", "[!a]", "[a-c]", "[^]b-]", "[\\]]", "[a/b]", "[[:alpha:]]", "[[:digit:]-c]", "[[:odd:]]", "[[:a]"),
)
NAMES = ("a", "b", "c", "ab", "]", "[", "-", "a]", "é", "bb", "abc", "ca", "*", "a b", "\\")


def generated(seed: int) -> tuple[str, str]:
    """Return a pattern and a path."""
    chosen = random.Random(seed)
    pattern = "".join(chosen.choices(WORDS, k=chosen.randint(1, 7)))
    names = ("".join(chosen.choices(NAMES, k=chosen.randint(1, 2))) for _ in range(chosen.randint(1, 4)))
    return pattern, "/".join(names)


def ignored(folder: Path, patterns: str, paths: list[str]) -> list[bool]:
    """Return whether git ignores some paths, which need not exist."""
    (folder / ".gitignore").write_text(patterns)
    line = ["git", "-C", str(folder), "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"]
    done = subprocess.run(line, input="\0".join(paths), capture_output=True, text=True, check=False)
    fields = done.stdout.split("\0")
    return [bool(pattern) and not pattern.startswith("!") for pattern in fields[2::4]]


def test_5000_patterns_match_what_git_ignores(tmp_path: Path) -> None:
    """Each pattern applies to a folder of its own, so that git reads all of them once."""
    git("init", "--quiet", at=tmp_path)
    cases = [pair for seed in range(9000) if gitignore.reason((pair := generated(seed))[0]) == ""][:5000]
    assert len(cases) == 5000
    for index, (pattern, _) in enumerate(cases):
        (tmp_path / str(index)).mkdir()
        (tmp_path / str(index) / ".gitignore").write_text(f"{pattern}\n")
    found = ignored(tmp_path, "", [f"{index}/{path}" for index, (_, path) in enumerate(cases)])
    assert 500 < sum(found) < 4500
    wrong = [
        (pattern, path, by_git)
        for (pattern, path), by_git in zip(cases, found, strict=True)
        if by_git != (gitignore.Gitignore([pattern]).match(path, is_folder=False) is not None)
    ]
    assert wrong == []


@given(st.lists(st.integers(0, 9000), min_size=2, max_size=5), st.lists(st.booleans(), min_size=5, max_size=5))
@example([10, 20], [False, True, False, False, False])
@examples(100, derandomize=True)
def test_lists_of_patterns_match_what_git_ignores(
    tmp_path_factory: pytest.TempPathFactory, seeds: list[int], negated: list[bool]
) -> None:
    folder = tmp_path_factory.mktemp("git")
    git("init", "--quiet", at=folder)
    cases = [generated(seed) for seed in seeds]
    lines = [f"{'!' * is_negated}{pattern}" for (pattern, _), is_negated in zip(cases, negated, strict=False)]
    lines = [line for line in lines if gitignore.reason(line) == ""]
    paths = [path for _, path in cases]
    compiled = gitignore.Gitignore(lines)
    found = [compiled.match(path, is_folder=False) is not None for path in paths]
    assert found == ignored(folder, "".join(f"{line}\n" for line in lines), paths)


@pytest.mark.parametrize(
    ("patterns", "path"),
    [
        pytest.param(["*a" * 100 + "*b"], "a" * 250, id="stars"),
        pytest.param(["*a?[a]" * 40 + "b"], "a" * 250, id="stars and single characters"),
        pytest.param(["[]a]*" * 6 + "b"], "a" * 240, id="stars and sets"),
        pytest.param(["**/*a*b/**/*a*b/**/*a*c"], "/".join(["a" * 35 + "b"] * 100), id="folders"),
        pytest.param(["**/a*/" * 500 + "b"], "/".join(["a" * 39] * 100), id="many folders"),
        pytest.param([f"**/a*/**/b{i}" for i in range(250)], "/".join(["a" * 40] * 80), id="many patterns"),
    ],
)
def test_the_time_of_a_match_is_bounded(patterns: list[str], path: str) -> None:
    assert [gitignore.reason(pattern) for pattern in patterns] == [""] * len(patterns)
    started = time.process_time()
    assert not Excluded([Patterns("/r", tuple(patterns))]).matches(f"/r/{path}", is_folder=False)
    assert time.process_time() - started < 1
