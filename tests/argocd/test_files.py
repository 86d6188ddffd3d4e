"""The size limits of an application: the files that count, and the diagnostics above a limit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from running import run

from trainc.argocd import application_files
from trainc.argocd.application_files import MOST_BYTES, MOST_FILES, too_many
from trainc.compilation.run import Options, start
from trainc.diagnostics import Location
from trainc.settings import DEFAULT

HALF = MOST_BYTES // 2


def error_of(application: Path, sizes: dict[str, int], *runtimes: str) -> tuple[str, str] | None:
    """Return the message and its file for an application whose files have these sizes."""
    for name, size in sizes.items():
        path = application / "apps" / "training" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as opened:
            opened.truncate(size)
    settings = application / "trainc.yaml"
    above = next((str(file) for file in (settings, Path("trainc.yaml")) if file.exists()), "")
    found = too_many(
        [start(Options(runtimes=runtimes, settings=DEFAULT._replace(file=above)))], os.path.realpath(application)
    )
    return found and (found.message, found.place.file if isinstance(found.place, Location) else "")


NOT_TOO_MUCH: dict[str, tuple[dict[str, int], tuple[str, ...]]] = {
    "nothing": ({}, ()),
    "just as much as there may be": ({"a.yaml": HALF, "b/c.json": HALF}, ()),
    "other files": ({"a.yaml": HALF, "model.bin": MOST_BYTES}, ()),
    "hidden files": ({"a.yaml": HALF, ".b.yaml": MOST_BYTES, ".c/d.yaml": MOST_BYTES}, ()),
    "files of other applications": ({"a.yaml": HALF, "../other/b.yaml": MOST_BYTES}, ()),
    "runtimes that are not there": ({"a.yaml": HALF}, ("nowhere",)),
}
TOO_MUCH: dict[str, tuple[dict[str, int], tuple[str, ...], str, str]] = {
    "one large file": ({"a.yaml": 1, "b.yaml": 20 << 20}, (), "20.1 MiB", "b.yaml"),
    "many small ones": ({f"{number}.yaml": HALF for number in range(5)}, (), "25.0 MiB", ""),
    "a byte too many": ({"a.yaml": HALF, "b/c.yml": HALF, "d.json": 1}, (), "10.1 MiB", ""),
    "with the runtimes": ({"a.yaml": HALF, "../other/b.yaml": HALF + 1}, ("../other",), "10.1 MiB", "../other/b.yaml"),
    "with a file of runtimes": ({"a.yaml": 1, "../b": MOST_BYTES}, ("../b",), "10.1 MiB", "../b"),
    "with the settings above": ({"a.yaml": HALF, "../../trainc.yaml": HALF + 1}, (), "10.1 MiB", "../../trainc.yaml"),
    "with the settings here, once": ({"a.yaml": HALF, "trainc.yaml": HALF + 1}, (), "10.1 MiB", "trainc.yaml"),
    "the same runtimes over and over": ({"a/b.yaml": HALF}, ("a", "a", "a"), "20.0 MiB", ""),
}  # fmt: skip


@pytest.mark.parametrize(("sizes", "runtimes"), [pytest.param(*row, id=name) for name, row in NOT_TOO_MUCH.items()])
def test_within_the_limits(sizes: dict[str, int], runtimes: tuple[str, ...], application: Path) -> None:
    assert error_of(application, sizes, *runtimes) is None


@pytest.mark.parametrize(
    ("sizes", "runtimes", "much", "where"), [pytest.param(*row, id=name) for name, row in TOO_MUCH.items()]
)
def test_what_is_too_much(
    sizes: dict[str, int], runtimes: tuple[str, ...], much: str, where: str, application: Path
) -> None:
    message = f"the Application has {much} of manifests, more than the limit of 10 MiB"
    assert error_of(application, sizes, *runtimes) == (message, where)


def test_a_file_counts_once_however_many_links_lead_to_it(application: Path) -> None:
    for number in range(5):
        (application / "apps" / "training" / f"{number}.yaml").symlink_to("z.yaml")
    assert error_of(application, {"z.yaml": HALF}) is None


def test_too_many_files(application: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application_files, "MOST_FILES", 3)
    assert error_of(application, {"a.yaml": 1, "b.yaml": 1, "c/d.yaml": 1}) is None
    assert error_of(application, {"e.yaml": 1}) == ("the Application has more than 3 files", "")


def test_what_is_counted_is_what_is_read(application: Path) -> None:
    error_of(application, dict.fromkeys(("a.yaml", "b/c.yml", "b/.d.yaml", "e.txt", "f.json"), 0))
    (application / "apps" / "training" / "g").symlink_to("b")
    counted = list(application_files.files_below(os.curdir, os.path.realpath(application)))
    assert counted == ["a.yaml", "b/c.yml", "f.json"]
    assert f"({len(counted)} files read)" in run("cmp", "generate").err


def test_the_documentation_says_how_much() -> None:
    page = (Path(__file__).parents[2] / "docs" / "argo-cd.md").read_text()
    limits = f"at most {MOST_BYTES >> 20} MiB of manifests and runtimes in at most {MOST_FILES:,} files"
    assert limits in page
