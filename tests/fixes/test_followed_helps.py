"""A help that is followed once is right: its diagnostic is gone, and no new error is in its place.

A help is followed if it writes a whole field, such as `nprocPerNode: "1"`, or the example of a name. Each one is
followed alone, or with the other diagnostics that have the same help. A help with a fix is followed in
`test_followed.py`. The snapshot lists the others by id: an expert reads them when it changes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from batches import in_batches
from fixes.followed import INPUTS, Problem, fields, follow, problems, write_repository
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

HERE = Path(__file__).parent
LATER = {
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


def errors(diagnostics: list[Problem]) -> Counter[tuple[str, str]]:
    return reported([each for each in diagnostics if each["severity"] == "error"])


@in_batches("name", [pytest.param(name, id=name) for name in sorted(INPUTS)])
def test_each_help_removes_its_diagnostic(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def written(number: int) -> Path:
        folder = tmp_path / str(number)
        folder.mkdir()
        write_repository(INPUTS[name], folder)
        monkeypatch.chdir(folder)
        return folder

    written(0)
    before = problems()
    new: Counter[tuple[str, str]] = Counter()
    helps = [(found, field) for found in before for field in fields(found)]
    for number, (found, field) in enumerate(helps, 1):
        follow(written(number), found, field, before)
        after = problems()
        key = (found["id"], found["message"])
        assert reported(after)[key] < reported(before)[key], found
        new += errors(after) - errors(before)
    assert bool(new) == (name in LATER), new


class Beside(TextFile):
    """The helps, stored in a folder."""

    folder = HERE / "others"
    name = "helps"


def test_other_helps(snapshot: SnapshotAssertion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helps: defaultdict[str, set[str]] = defaultdict(set)
    for name, given in INPUTS.items():
        folder = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        write_repository(given, folder)
        monkeypatch.chdir(folder)
        for found in problems():
            if "fix" not in found and not fields(found):
                helps[found["id"]].add(found["help"])
    text = "".join(f"{id}\n" + "".join(f"  {each}\n" for each in sorted(helps[id])) for id in sorted(helps))
    assert text == snapshot(extension_class=Beside)
