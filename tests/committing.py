"""Run git for a test: with an author and `main` as the first branch, without the settings and variables of the user."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SETTINGS = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")
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
