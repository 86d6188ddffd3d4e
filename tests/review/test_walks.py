"""A commit has the files of its checkout: both walks find the same ones in one order, and leave out the same ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from committing import commit as commit_all

from trainc.diagnostics import Diagnostic, Location
from trainc.files import inputs
from trainc.files.exclude import Patterns
from trainc.files.inputs import File
from trainc.files.selection import Selection
from trainc.review.commits import commit, commit_files

if TYPE_CHECKING:
    from collections.abc import Iterable

FILES = (
    *("b.yaml", "a.json", "README.md", ".hidden.yaml", "kustomization.yaml", "trainc.yaml", "patch.yaml"),
    *("jobs/1.yaml", "jobs/deep/2.yml", "jobs/.git-is-no-name/3.yaml", "jobs/trainc.yaml", "jobs/kustomization.yaml"),
    *("vendor/v.yaml", "out/o.yaml", "other/trainc.yaml", "other/x.yaml"),
)
LINKS = {
    "link.yaml": "jobs/1.yaml",
    "linked": "jobs/deep",
    "to-vendor": "vendor",
    "gone.yaml": "nowhere.yaml",
    "circle.yaml": "circle.yaml",
    "gone": "nowhere",
    "out-of-it.yaml": "../x.yaml",
    "jobs/up": "..",
    "text": "README.md",
}
PATTERNS = Patterns(".", ("vendor/", "linked/2.yml", "jobs/*/3.yaml"))


@pytest.fixture
def repository(empty_repository: Path) -> Path:
    for name in FILES:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(f"name: {name}\n")
    for name, target in LINKS.items():
        os.symlink(target, name)
    (empty_repository.parent / "x.yaml").write_text("x: 1\n")
    commit_all()
    return empty_repository


def found(read: Iterable[File | Diagnostic], prefix: str = "") -> list[object]:
    rows: list[object] = []
    for each in read:
        if isinstance(each, File):
            rows.append((each.path.removeprefix(prefix), each.data, each.found, each.output, each.above))
        else:
            assert isinstance(each.place, Location)
            rows.append((each.place.file.removeprefix(prefix), each.id))
    return rows


@pytest.mark.parametrize(
    "paths",
    [
        ["."],
        ["jobs"],
        ["jobs/1.yaml", "."],
        [".", "jobs/1.yaml"],
        ["linked", "jobs"],
        ["jobs/trainc.yaml"],
        ["gone.yaml"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "selection",
    [
        pytest.param(Selection(), id="all"),
        pytest.param(Selection(exclude=[PATTERNS]), id="excluded"),
        pytest.param(Selection(outputs=["out"], patches=["patch.yaml"], projects=["other"]), id="roles"),
        pytest.param(Selection(written=["vendor"], read_before=()), id="as kubectl"),
    ],
)
def test_a_commit_has_the_files_of_its_checkout(repository: Path, paths: list[str], selection: Selection) -> None:
    left_out: dict[str, set[tuple[str, str]]] = {"disk": set(), "commit": set()}

    def selecting(side: str) -> Selection:
        return selection._replace(leave_out=lambda path, role, _: left_out[side].add((path, role)))

    on_disk = found(inputs.read(paths, selecting("disk")))
    assert on_disk == found(commit_files.read(commit("HEAD"), paths, selecting("commit")), "HEAD:")
    assert {row for row in left_out["disk"] if os.path.basename(row[0]) != ".git"} == left_out["commit"]
