"""A fix or a help that is followed once is right: its diagnostic is gone, and no new error is in its place.

Each one is followed alone, or a help with the other diagnostics that have the same help. A help is followed if it
writes a whole field, such as `nprocPerNode: "1"`, or the example of a name. The snapshot lists the others by id: an
expert reads them when it changes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from batches import in_batches
from fixes.followed import INPUTS, Problem, edited, fields, follow, problems, write_repository
from snapshots import TextFile, uncounted
from syrupy.assertion import SnapshotAssertion

HERE = Path(__file__).parent
OTHERS = HERE / "others" / "helps.txt"
LATER = {
    "builtin-false": "the setting that is meant forbids the runtime of the job",
    "environments": "two environments without settings write the same object",
    "labels": "other labels have faults of a later phase",
    "type-string": "the number is no name of a TrainJob",
    "wrong-legacy-mlkubejob": "other fields have faults of a later phase",
}
"""The inputs in which a fix makes another fault visible, with the reason."""
LATER_HELPS = {
    "job-container-of-a-patch": "the moved container mounts an unknown volume",
    "job-init-container": "the moved probe has a command that is not a string",
    "page claim-name": "the pod refers to the old name, too",
    "patch-cannot-set": "the moved port is invalid on the host network",
    "wrong-trainer-mounts": "the moved mount is of an unknown volume",
    "wrong-volume-claim": "the pod refers to the old name, too",
}
"""The inputs in which a help makes another fault visible, with the reason."""


def reported(diagnostics: list[Problem]) -> Counter[tuple[str, str]]:
    return Counter((each["id"], each["message"]) for each in diagnostics)


def errors(diagnostics: list[Problem]) -> list[Problem]:
    return [each for each in diagnostics if each["severity"] == "error"]


def other_helps(diagnostics: list[Problem]) -> list[tuple[str, str]]:
    """Return the helps that are not followed, with their ids."""
    return [(each["id"], uncounted(each["help"])) for each in diagnostics if "fix" not in each and not fields(each)]


@in_batches("name", [pytest.param(name, id=name) for name in sorted(INPUTS)])
def test_each_removes_its_diagnostic(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_repository(INPUTS[name], tmp_path)
    before = problems()
    each_fix_removes_its_diagnostic(name, before)
    each_help_removes_its_diagnostic(name, before, tmp_path, monkeypatch)
    listed = listed_helps(OTHERS.read_text())
    assert [each for each in other_helps(before) if each not in listed] == [], "not in the snapshot"


def each_fix_removes_its_diagnostic(name: str, before: list[Problem]) -> None:
    new: Counter[str] = Counter()
    old = Counter(each["id"] for each in errors(before))
    for found in before:
        if "fix" not in found:
            continue
        path = Path(found["fix"]["edits"][0]["file"])
        text = path.read_text()
        path.write_text(edited(text, found["fix"]["edits"]))
        after = problems()
        path.write_text(text)
        key = (found["id"], found["message"])
        assert reported(after)[key] < reported(before)[key], found
        new += Counter(each["id"] for each in errors(after)) - old
    assert bool(new) == (name in LATER), new


def each_help_removes_its_diagnostic(
    name: str, before: list[Problem], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new: Counter[tuple[str, str]] = Counter()
    helps = [(found, field) for found in before for field in fields(found)]
    for number, (found, field) in enumerate(helps):
        copy = folder / f".{number}"
        copy.mkdir()
        write_repository(INPUTS[name], copy)
        monkeypatch.chdir(copy)
        follow(copy, found, field, before)
        after = problems()
        key = (found["id"], found["message"])
        assert reported(after)[key] < reported(before)[key], found
        new += reported(errors(after)) - reported(errors(before))
    assert bool(new) == (name in LATER_HELPS), new


def listed_helps(text: str) -> set[tuple[str, str]]:
    """Return the helps of the snapshot, with their ids."""
    found, id = set(), ""
    for line in text.splitlines():
        if line.startswith("  "):
            found.add((id, line[2:]))
        else:
            id = line
    return found


class Beside(TextFile):
    """The helps, stored in a folder."""

    folder = OTHERS.parent
    name = OTHERS.stem


@pytest.mark.slow
def test_other_helps(snapshot: SnapshotAssertion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helps: defaultdict[str, set[str]] = defaultdict(set)
    for name, given in INPUTS.items():
        folder = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        write_repository(given, folder)
        monkeypatch.chdir(folder)
        for id, text in other_helps(problems()):
            helps[id].add(text)
    text = "".join(f"{id}\n" + "".join(f"  {each}\n" for each in sorted(helps[id])) for id in sorted(helps))
    assert text == snapshot(extension_class=Beside)
