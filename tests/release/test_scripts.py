"""The scripts of a release: audit.py, lock.py and release.py."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import audit
import lock
import make_release as releasing
import pytest

FOUND: dict[str, Any] = {"name": "click", "version": "8.5.1", "vulns": []}
BAD = FOUND | {"vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["8.5.2"]}]}
UNKNOWN = {"name": "click", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("answer", "status", "online", "expected", "printed"),
    [
        pytest.param([FOUND], 0, True, True, "x.lock: 1 packages, 0 known vulnerabilities\n", id="no vulnerability"),
        pytest.param([BAD], 1, False, False, "click 8.5.1: PYSEC-2026-1, fixed in 8.5.2", id="a vulnerability"),
        pytest.param([UNKNOWN], 0, False, True, "SKIPPED pip-audit, which needs pypi.org: click", id="another index"),
        pytest.param([UNKNOWN], 0, True, False, "not audited: click", id="another index, online"),
        pytest.param(None, 1, False, True, "SKIPPED pip-audit, which needs pypi.org: no route", id="no network"),
        pytest.param(None, 1, True, False, "not audited: no route", id="no network, online"),
    ],
)
def test_the_audit_of_a_lock(
    answer: list[dict[str, Any]] | None,
    status: int,
    online: bool,
    expected: bool,
    printed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = "" if answer is None else json.dumps({"dependencies": answer})
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\necho '{output}'\necho no route >&2\nexit {status}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(audit, "BIN", tmp_path)
    assert audit.vulnerabilities("x.lock", online=online) is expected
    assert printed in capsys.readouterr().out


def test_the_locks_do_not_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without `--upgrade`, the locked versions stay, so that a stale lock is a difference."""
    for name in (*lock.requirements(), "pyproject.toml"):
        (tmp_path / name).write_text((lock.ROOT / name).read_text())
    monkeypatch.setattr(lock, "ROOT", tmp_path)
    try:
        lock.main([])
    except subprocess.CalledProcessError:
        pytest.skip("a package index for uv")
    for name in lock.requirements():
        old = (releasing.ROOT / name).read_text().splitlines()
        new = (tmp_path / name).read_text().splitlines()
        assert [line for line in new if "==" in line] == [line for line in old if "==" in line]


@pytest.mark.parametrize(
    ("tag", "section", "error"),
    [
        ("v1.2.3", "## [1.2.3] - 2026-11-22", ""),
        ("v1.2.4", "## [1.2.3] - 2026-11-22", "the tag is v1.2.4, and compiler/trainc/base/releases.py has 1.2.3"),
        ("v1.2.3", "## [Unreleased]", "CHANGELOG.md has no section [1.2.3] with a date"),
    ],
)
def test_the_tag_of_a_release(
    tag: str, section: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "compiler" / "trainc" / "base").mkdir(parents=True)
    (tmp_path / "compiler" / "trainc" / "base" / "releases.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{section}\n")
    monkeypatch.setattr(releasing, "ROOT", tmp_path)
    if error:
        with pytest.raises(SystemExit, match=error.replace("[", r"\[").replace("]", r"\]")):
            releasing.check(tag)
    else:
        releasing.check(tag)


def test_the_version_is_in_one_place() -> None:
    """Other files that name it are examples of pinned versions, which a release changes."""
    version = releasing.version()
    config = (releasing.ROOT / "pyproject.toml").read_text()
    assert f'"{version}"' not in config
    assert 'dynamic = ["version"]' in config
    assert os.path.exists(releasing.ROOT / "compiler" / "trainc" / "base" / "releases.py")
