"""CHANGELOG.md has the form of Keep a Changelog, and short entries."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
VERSION = re.compile(r"\[Unreleased\]|\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d")


def test_the_versions() -> None:
    titles = re.findall("^## (.*)$", TEXT, re.MULTILINE)
    assert titles
    assert [title for title in titles if not VERSION.fullmatch(title)] == []


def test_the_kinds_of_changes_are_in_order() -> None:
    for version in TEXT.split("\n## ")[1:]:
        kinds = re.findall("^### (.*)$", version, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds]


def test_an_entry_is_short() -> None:
    entries = re.findall(r"^- .*(?:\n  .*)*", TEXT, re.MULTILINE)
    assert [entry for entry in entries if entry.count("\n") > 2] == []


def test_before_the_first_release_a_paragraph_is_enough() -> None:
    (unreleased,) = TEXT.split("\n## ")[1:]
    assert len(unreleased.splitlines()) <= 6
