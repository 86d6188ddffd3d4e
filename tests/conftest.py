"""Folders to work in, cheaper YAML and garbage collections, and the summary of a run: what the skipped tests need."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from committing import git

yaml.SafeLoader = yaml.CSafeLoader  # type: ignore[misc, assignment]  # safe_load reads with libyaml, in a tenth of the time


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def empty_root(empty_folder: Path) -> Path:
    """Make an empty folder the current one, and the root of a repository."""
    (empty_folder / ".git").mkdir()
    return empty_folder


@pytest.fixture
def empty_repository(empty_folder: Path) -> Path:
    """Make a new git repository the current folder."""
    git("init", "--quiet")
    return empty_folder


def pytest_collection() -> None:
    """Collect no garbage while the tests are collected, which makes objects that stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave the collected tests out of all later garbage collections, and make these rarer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a line for each tool or variable that skipped tests need."""
    needs = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.getreports("skipped"))
    for need, count in sorted(needs.items()):
        terminalreporter.write_line(f"{count} {'tests need' if count > 1 else 'test needs'} {need}")
