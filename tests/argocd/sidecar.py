"""The sidecar without a container engine: read the Dockerfile and perform its steps in a separate folder.

The steps create a venv instead of an image. If root runs the tests, the venv runs as the sidecar's user.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

ROOT = Path(__file__).parents[2]
FILES = ROOT / "integrations" / "argocd"
USER: Final = 999
"""The user of Argo CD's containers."""
HOME: Final = "TRAINC_HOME"
"""The variable with the venv's path."""
SUITABLE: Final = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
INTERPRETERS: Final = (getattr(sys, "_base_executable", sys.executable), "/usr/bin/python3", "/usr/local/bin/python3")


class Instruction(NamedTuple):
    """One instruction of a Dockerfile."""

    name: str
    text: str


class Sidecar(NamedTuple):
    """A venv with trainc, and the user that runs it."""

    folder: Path
    """A folder that all users can read and only root can write; `opt/trainc` is the venv."""
    user: int | None
    """The user that runs the plugin; None for the user that runs the tests."""

    @property
    def path(self) -> str:
        """PATH in the sidecar."""
        return f"{self.folder}/opt/trainc/bin:/usr/bin:/bin"

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        input: str = "",
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of the plugin, with Argo CD's time limit."""
        return subprocess.run(
            command,
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
            cwd=folder,
            env={"PATH": self.path, "HOME": "/", **variables},
            input=input,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


def instructions() -> list[Instruction]:
    """Return the Dockerfile's instructions, each joined to one line."""
    lines = (FILES / "Dockerfile").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    return [Instruction(*line.split(None, 1)) for line in text.splitlines() if line.strip()]


def interpreter(user: int | None) -> str | None:
    """Return a Python that the user can run and create a venv with; None if there is none."""
    wanted = [python for python in INTERPRETERS if os.path.exists(python)]
    return next((python for python in wanted if _succeeds([python, "-c", SUITABLE], user)), None)


def _succeeds(command: list[str], user: int | None) -> bool:
    folder = tempfile.gettempdir()  # the user must be able to enter it
    try:
        return subprocess.run(command, user=user, cwd=folder, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def build(folder: Path, user: int | None, python: str) -> Sidecar:
    """Perform the Dockerfile's steps up to its second stage, with its folders below this one."""
    context = folder / "src"
    for name in ("opt", "bin"):
        (folder / name).mkdir()
    # Not a link: Python would look for its library beside the link.
    (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {python} "$@"\n')
    (folder / "bin" / "python").chmod(0o755)
    variables = {**os.environ, "HOME": str(folder), "PATH": f"{folder}/bin:/usr/bin:/bin"}
    for instruction in instructions()[1:]:
        match instruction:
            case Instruction("FROM"):
                break
            case Instruction("COPY", text):
                *sources, target = text.split()
                _copy(sources, context / target)
            case Instruction("ENV", text):
                name, _, value = text.partition("=")
                assert name == HOME
                variables[name] = f"{folder}{value}"
            case Instruction("RUN", text):
                if user is not None:
                    _give(folder, user)
                subprocess.run(["/bin/sh", "-c", text], user=user, group=user, cwd=context, env=variables, check=True)
    if user is not None:
        _give(folder, 0)
    return Sidecar(folder, user)


def _give(folder: Path, user: int) -> None:
    """Change the owner of the folder and all its content."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)


def _copy(sources: list[str], target: Path) -> None:
    """Copy files, or a folder's content, into a folder, as COPY does."""
    target.mkdir(parents=True, exist_ok=True)
    for source in sources:
        if (ROOT / source).is_dir():
            left_out = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / source, target, dirs_exist_ok=True, ignore=left_out)
        else:
            shutil.copy(ROOT / source, target)
