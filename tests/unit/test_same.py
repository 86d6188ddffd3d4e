"""scripts/same.py reports a difference between two revisions, and none between equal ones."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import same
import same_worker
from committing import commit, git
from same_inputs import SOURCES

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PACKAGED = (
    *("LICENSE", "README.md", "pyproject.toml"),
    *("compiler", "diagnostics", "runtimes", "schemas", "templates"),
)
CASES = ("jax-two-nodes", "llm-finetune-4x8")


@pytest.fixture(scope="module")
def revisions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a repository with two revisions of trainc: `seeded` has another torchrun port than `main`."""
    folder = tmp_path_factory.mktemp("repository")
    for name in PACKAGED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)
    git("init", "--quiet", at=folder)
    commit(at=folder)
    git("checkout", "--quiet", "-b", "seeded", at=folder)
    changed = folder / "compiler" / "trainc" / "pipeline" / "frameworks" / "torch" / "torchrun.py"
    text = changed.read_text()
    assert "PORT: Final = 29500\n" in text
    changed.write_text(text.replace("PORT: Final = 29500\n", "PORT: Final = 29501\n"))
    commit(at=folder)
    return folder


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create two golden cases, one of them with torchrun."""
    folder = tmp_path_factory.mktemp("golden")
    for case in CASES:
        shutil.copytree(ROOT / "golden" / case, folder / case)
    return folder


def compared(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "same.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> tuple[str | Path, ...]:
    """Options that disable the other inputs, independent of the folders beside this repository."""
    folder = tmp_path_factory.mktemp("empty")
    return ("--conformance", folder, "--corpus", folder)


def test_a_seeded_change_is_a_difference(revisions: Path, golden: Path, empty: tuple[str | Path, ...]) -> None:
    done = compared("main", "seeded", "--repository", revisions, "--golden", golden, *empty)
    assert (done.returncode, done.stderr) == (1, "")
    assert "golden/llm-finetune-4x8: output of build" in done.stdout
    assert re.search(r'^  - +value: "29500"\n  \+ +value: "29501"$', done.stdout, re.MULTILINE)
    assert "golden/jax-two-nodes" not in done.stdout
    assert "1 of 2 inputs differ\n" in done.stdout


def test_a_revision_has_no_difference_from_itself(revisions: Path, golden: Path, empty: tuple[str | Path, ...]) -> None:
    done = compared("main", "main", "--repository", revisions, "--golden", golden, *empty)
    assert (done.returncode, done.stderr) == (0, "")
    assert "golden: 2 inputs\nconformance: 0 inputs\ncorpus: 0 inputs\n" in done.stdout
    assert "build: 2 exit with 0;" in done.stdout
    assert "no difference in 2 inputs\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["main", "missing"], "Needed a single revision", id="no such revision"),
        pytest.param(["main", "main", "--corpus", "missing"], "--corpus missing is not a folder", id="no such folder"),
        pytest.param(["main", "main"], "there are no inputs", id="nothing to compare"),
        pytest.param(["main"], "the following arguments are required: NEW", id="one revision"),
    ],
)
def test_what_cannot_be_compared(
    arguments: list[str], said: str, revisions: Path, empty: tuple[str | Path, ...]
) -> None:
    done = compared("--repository", revisions, *empty, *arguments)
    assert done.returncode == 2
    assert said in done.stderr


ANSWER = same.Answer(built=0, output="a\nb\n", validated=0, diagnostics=['{"id": "wrong-type"}'])


@pytest.mark.parametrize(
    ("new", "said"),
    [
        pytest.param(ANSWER, [], id="the same"),
        pytest.param(
            ANSWER._replace(built=1),
            [same.Difference("exit status of build: 0 before, 1 after")],
            id="another exit status",
        ),
        pytest.param(
            ANSWER._replace(validated=-14),
            [same.Difference("exit status of validate: 0 before, SIGALRM after")],
            id="too slow",
        ),
        pytest.param(
            ANSWER._replace(output="a\nc\n"),
            [same.Difference("output of build", ["@@ -1,2 +1,2 @@", " a", "-b", "+c"])],
            id="another output",
        ),
        pytest.param(
            ANSWER._replace(diagnostics=[]),
            [same.Difference("diagnostics of validate", ["@@ -1 +0,0 @@", '-{"id": "wrong-type"}'])],
            id="one diagnostic less",
        ),
    ],
)
def test_differences(new: same.Answer, said: list[same.Difference]) -> None:
    assert list(same.differences(ANSWER, new)) == said


REPORT = '[{"id": "a", "message": "b", "help": "c", "file": "d", "line": 1, "related": [{"message": "e", "line": 2}]}]'


@pytest.mark.parametrize(
    ("report", "said"),
    [
        pytest.param(REPORT, ['{"id": "a", "line": 1, "related": [{"line": 2}]}'], id="wording"),
        pytest.param('[{"id": "b"}, {"id": "a"}]', ['{"id": "a"}', '{"id": "b"}'], id="order"),
        pytest.param("Traceback\n", ["Traceback"], id="no report"),
    ],
)
def test_what_counts_of_a_report(report: str, said: list[str]) -> None:
    assert same.diagnostics(report) == said


def test_a_long_diff_is_cut() -> None:
    lines = [str(number) * same.WIDTH for number in range(10, 10 + same.LINES)]
    shown = same.shortened([], lines)
    assert shown[-1] == "... 1 more lines"
    assert shown[1] == f"+{lines[0][: same.WIDTH - 1]}..."


def test_a_command_that_ends_its_process_is_one_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tasks of the batch still get results."""

    def run(arguments: list[str], seconds: int) -> tuple[int, str]:
        return (0, "done") if arguments == ["good"] else os._exit(9)

    monkeypatch.setattr(same_worker, "_run", run)
    tasks = [
        same_worker.Task(folder=str(tmp_path), seconds=1, commands=[[word]]) for word in ("good", "bad", "good", "good")
    ]
    done = b'[[0, "done"]]'
    assert list(same_worker.answers(tasks)) == [done, b'[[9, ""]]', done, done]


def test_a_golden_input_says_which_options_it_needs(tmp_path: Path) -> None:
    found = SOURCES["golden"](ROOT / "golden", tmp_path)
    needed = {given.name: given.options for given in found if given.options}
    assert needed["golden/suspended"] == ("--suspend",)


RECORDED = """\
{"name": "a", "input": {"text": "kind: TrainJob\\n"}}
{"name": "b", "input": {"kind": "PyTorchJob"}}
{"name": "c", "input": {"spec": {"backoffLimit": 1}}, "jobsetSpec": {"suspend": true}}
{"name": "d", "input": {"podSpec": {"hostIPC": true}}}
{"name": "e", "input": {"base64": "YTogYg=="}}
{"name": "f", "input": {"parse": "1Gi"}}
"""


def test_the_manifests_of_recordings(tmp_path: Path) -> None:
    (tmp_path / "recorded.jsonl").write_text(RECORDED)
    found = list(SOURCES["conformance"](tmp_path, tmp_path / "inputs"))
    texts = [(given.folder / given.file).read_text() for given in found]
    assert [given.name for given in found] == [
        f"conformance/recorded.jsonl:{number}:{name}" for number, name in enumerate("abcde", start=1)
    ]
    assert texts[0] == "kind: TrainJob\n"
    assert texts[1] == '{"kind": "PyTorchJob"}'
    assert '"backoffLimit": 1' in texts[2]
    assert '"suspend": true' in texts[2]
    assert '"hostIPC": true' in texts[3]
    assert texts[4] == "a: b"
