"""Run git for a test: with an author and `main` as the first branch, without the settings and variables of the user."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import chdir
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SETTINGS = (
    "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main",
    # The repository of a test is small, needs no sample hooks, and is soon removed.
    "-c", "maintenance.auto=false", "-c", "core.fsync=none", "-c", "init.templateDir=",
)  # fmt: skip
_TEMPLATES: dict[Callable[[], object], TemporaryDirectory[str]] = {}
_NO_USER = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(*words: str, at: Path | str = ".", stdin: bytes = b"") -> str:
    """Run git in a folder; return its output without the final line break. Raise CalledProcessError if it fails."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _NO_USER
    done = subprocess.run(
        ["git", *_SETTINGS, *words], cwd=at, env=variables, input=stdin, capture_output=True, timeout=60, check=True
    )
    return os.fsdecode(done.stdout).removesuffix("\n")


def commit(message: str = "A change", at: Path | str = ".") -> None:
    """Commit all files, even if none has changed; hooks do not run."""
    git("add", "--all", at=at)
    git("commit", "--quiet", "--allow-empty", "--no-verify", "--message", message, at=at)


def copy_repository(create: Callable[[], object], folder: Path) -> None:
    """Copy the repository that a function creates in the current folder, a new git repository, once in each process."""
    if create not in _TEMPLATES:
        _TEMPLATES[create] = TemporaryDirectory()
        with chdir(_TEMPLATES[create].name):
            git("init", "--quiet")
            create()
    shutil.copytree(_TEMPLATES[create].name, folder, symlinks=True, dirs_exist_ok=True)
