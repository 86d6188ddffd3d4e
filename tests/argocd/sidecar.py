"""The sidecar without a container engine: the Dockerfile read, and its steps performed in a folder of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FILES = ROOT / "integrations" / "argocd"
USER = 999
"""The user of Argo CD's containers."""
HOME = "TRAINC_HOME"
"""The variable that says where the venv is."""
INTERPRETERS = (getattr(sys, "_base_executable", sys.executable), "/usr/bin/python3", "/usr/local/bin/python3")


class Instruction(NamedTuple):
    """One instruction of a Dockerfile."""

    name: str
    text: str


class Sidecar(NamedTuple):
    """A venv that holds trainc, for whoever may run it."""

    folder: Path
    """Below it everything is readable for everybody; `opt/trainc` is the venv."""
    user: int | None
    """Who runs the plugin; None where only root could say."""

    @property
    def path(self) -> str:
        """PATH in the sidecar."""
        return f"{self.folder}/opt/trainc/bin:/usr/bin:/bin"


def instructions() -> list[Instruction]:
    """The instructions of the Dockerfile, each on one line."""
    lines = (FILES / "Dockerfile").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    return [Instruction(*line.split(None, 1)) for line in text.splitlines() if line.strip()]


def interpreter(user: int | None) -> str | None:
    """A Python that the user may run; None where there is none."""
    wanted = [python for python in INTERPRETERS if os.path.exists(python)]
    new = "import sys; sys.exit(sys.version_info < (3, 11))"
    return next((python for python in wanted if _succeeds([python, "-c", new], user)), None)


def _succeeds(command: list[str], user: int | None) -> bool:
    try:
        return subprocess.run(command, user=user, cwd="/", capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def build(folder: Path, user: int | None, python: str) -> Sidecar:
    """Perform what the Dockerfile says up to its second stage, with its folders below this one."""
    context = folder / "src"
    (folder / "opt").mkdir()
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(python)
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
                for path in (folder, *folder.rglob("*")):
                    if user is not None and not path.is_symlink():
                        os.chown(path, user, user)
                subprocess.run(["/bin/sh", "-c", text], user=user, group=user, cwd=context, env=variables, check=True)
    return Sidecar(folder, user)


def _copy(sources: list[str], target: Path) -> None:
    """Copy files into a folder, or one folder's content, as COPY does."""
    target.mkdir(parents=True, exist_ok=True)
    for source in sources:
        if (ROOT / source).is_dir():
            shutil.copytree(
                ROOT / source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
            )
        else:
            shutil.copy(ROOT / source, target)
