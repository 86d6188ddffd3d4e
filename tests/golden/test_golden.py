"""The gallery: compile golden/<case>/input.yaml and compare with the files beside it.

expected.yaml is standard output, expected.txt standard error; a case with errors has only the second. If a case needs
options, its second line has the command after `# $ `. Update one case with `make golden CASE=name`, all of them with
`make snapshots`. Read the diff, and explain in the commit why it is right.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from running import run
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/input.yaml"))


class Manifest(TextFile):
    folder = GOLDEN / "{}"
    name = "expected"
    file_extension = "yaml"


class Messages(TextFile):
    folder = GOLDEN / "{}"
    name = "expected"


class Upgraded(TextFile):
    """The output of `trainc upgrade`, for cases for an older Trainer version."""

    folder = GOLDEN / "{}"
    name = "upgraded"
    file_extension = "yaml"


def arguments(case: str) -> list[str]:
    """Return the build command of a case, from its second line if that has one."""
    second = (GOLDEN / case / "input.yaml").read_text().splitlines()[1]
    return second.removeprefix("# $ trainc ").split() if second.startswith("# $ ") else ["build", "input.yaml"]


@pytest.mark.parametrize("case", CASES)
def test_golden(case: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case)
    done = run(*arguments(case))
    assert done.code == (1 if case.startswith("wrong-") else 0), done.err
    if done.code == 0:
        assert done.out == snapshot(extension_class=Manifest)
    else:
        assert not done.out
    if done.err:
        assert done.err == snapshot(extension_class=Messages)
    else:
        assert not (GOLDEN / case / "expected.txt").exists(), (
            "remove expected.txt: nothing is printed to standard error"
        )


@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("wrong-")])
def test_upgraded(case: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case)
    text = Path("input.yaml").read_bytes()
    done = run("upgrade", "-", stdin=text)
    assert done.code == 0, done.err
    if done.out == text.decode():
        assert not (GOLDEN / case / "upgraded.yaml").exists()
        return
    assert done.out == snapshot(extension_class=Upgraded)
    assert run("build", "-", stdin=done.out.encode()).out == run("build", "input.yaml").out
    assert run("upgrade", "-", "--check", stdin=done.out.encode()).code == 0


def test_a_case_begins_with_its_story() -> None:
    for case in CASES:
        first = (GOLDEN / case / "input.yaml").read_text().partition("\n")[0]
        assert (first[:2], first[-1]) == ("# ", "."), case
