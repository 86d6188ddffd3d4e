"""A temporary repository, in which git reads and writes objects without the settings of anybody.

Reads    the objects of the repository that contains the current folder.
Returns  the output of git commands. The repository has no configuration, attributes, index or hooks of its own, so that
         git starts no other program. It is removed with all objects that git writes.
Source   git 2.38: gitrepository-layout(5), `objects/info/alternates`.
"""

from __future__ import annotations

import os
import subprocess
from tempfile import TemporaryDirectory
from typing import Final

from trainc.review.commits.git_objects import OPTIONS, SAFE, RevisionError, run

SECONDS: Final = 30
"""The longest time of a command. A merge of trees that have themselves in ten folders, ten times over, takes more."""
NO_SETTINGS: Final = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
_ALTERNATES: Final = "GIT_ALTERNATE_OBJECT_DIRECTORIES"


class TemporaryRepository:
    """A repository that shares the objects of another one."""

    def __init__(self) -> None:
        """Make it. Raises RevisionError if there is no folder for it."""
        try:
            self._at = TemporaryDirectory(prefix="trainc-")
        except OSError as error:
            raise RevisionError(f"git needs a temporary folder, set TMPDIR: {error.strerror}") from None
        path, inherited = self._at.name, os.environ
        own = {name: text for name, text in inherited.items() if name == "GIT_EXEC_PATH" or not name.startswith("GIT_")}
        self.environment = own | SAFE | NO_SETTINGS | {"GIT_DIR": path, "HOME": path, "XDG_CONFIG_HOME": path}
        shared = [asked("--git-path", "objects"), *filter(None, inherited.get(_ALTERNATES, "").split(os.pathsep))]
        self.checked("init", "--quiet", "--bare", "--template=", *_hash_option(), path)
        with open(os.path.join(path, "objects", "info", "alternates"), "wb") as alternates:
            alternates.writelines(_quoted(os.path.abspath(folder)) for folder in shared)

    def run(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a git command. Raises RevisionError if it takes too long."""
        command = ["git", *OPTIONS, *arguments]
        try:
            return subprocess.run(
                command, input=stdin, capture_output=True, env=self.environment, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise RevisionError(f"git {arguments[0]} takes longer than {SECONDS} seconds") from None

    def checked(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return the output of a git command. Raises RevisionError if it fails."""
        return succeeded(self.run(*arguments, stdin=stdin))


def asked(*arguments: str) -> str:
    """Return the output of `git rev-parse` in the current folder, without the final line break."""
    return os.fsdecode(succeeded(run(os.curdir, "rev-parse", *arguments))).removesuffix("\n")


def succeeded(done: subprocess.CompletedProcess[bytes]) -> bytes:
    """Return the output of a command. Raises RevisionError with git's message if it failed."""
    if done.returncode:
        raise RevisionError(done.stderr.decode(errors="replace").strip().rpartition("\n")[2].removeprefix("fatal: "))
    return done.stdout


def _hash_option() -> list[str]:
    """Return the option for the hash of the repository; SHA-1 has none, because older versions of git lack it."""
    return ["--object-format=sha256"] if asked("--show-object-format").endswith("sha256") else []


def _quoted(folder: str) -> bytes:
    """Return the line of a folder in a list of object folders, quoted as git does."""
    text = os.fsencode(folder).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + text + b'"\n'
