"""A broken environment of the process is an error with one line: not a traceback, and not an internal error."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest
from batches import one_in_four

ROOT: Final = Path(__file__).parents[2]
JOB: Final = '"$JOB"'
"""A job in a command: the path of the clone may have spaces."""
PROGRAM: Final = [sys.executable, "-m", "trainc"]
COMMANDS: Final = (
    "build",
    f"build {JOB}",
    "build --exclude x",
    "validate",
    "pods",
    "explain",
    "graph",
    "diff",
    "upgrade",
    "secret a",
    "runtimes list",
    "runtimes export",
    "cmp generate",
    "cmp discover",
    "cmp parameters",
    "krm",
    "init",
)


def shell(script: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell, in which `trainc` is the command."""
    variables = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "compiler"),
        "JOB": str(ROOT / "golden/cpu-ranks/input.yaml"),
        **env,
    }
    text = f'trainc() {{ "{sys.executable}" -m trainc "$@"; }}\n{script}'
    return subprocess.run(
        ["bash", "-c", text], check=False, cwd=cwd, env=variables, capture_output=True, text=True, timeout=60
    )


def is_clean(done: subprocess.CompletedProcess[str], code: int, reason: str) -> None:
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert (done.returncode, reason in done.stdout + done.stderr) == (code, True), done.stderr


@pytest.mark.parametrize("command", one_in_four(COMMANDS))
def test_a_deleted_current_folder(command: str, tmp_path: Path) -> None:
    done = shell(f"mkdir a; cd a; rmdir ../a; trainc {command} < /dev/null", tmp_path)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert "Error: " in done.stderr or "error[" in done.stderr


@pytest.mark.parametrize("command", ["build -", "validate -", "explain -", "graph -", "pods -", "upgrade -", "krm"])
def test_a_closed_standard_input(command: str, tmp_path: Path) -> None:
    is_clean(shell(f"trainc {command} <&-", tmp_path), 1, "is closed")


@pytest.mark.parametrize("command", ["--help", "--version", "build --help", "runtimes --help", f"build {JOB}"])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full")
def test_a_full_disk(command: str, tmp_path: Path) -> None:
    is_clean(shell(f"trainc {command} > /dev/full", tmp_path), 2, "standard output cannot be written: No space left")


@pytest.mark.parametrize("command", ["runtimes list", f"graph {JOB}", f"build {JOB}"])
def test_a_closed_standard_output(command: str, tmp_path: Path) -> None:
    is_clean(shell(f"trainc {command} >&-", tmp_path), 2, "standard output cannot be written: it is closed")


@pytest.mark.parametrize("command", [f"build {JOB}", "init a", "runtimes list"])
def test_an_import_from_a_zip_file(command: str, tmp_path: Path) -> None:
    """The package's data are files, which a zip file does not have."""
    with zipfile.ZipFile(tmp_path / "trainc.zip", "w") as packed:
        for file in (ROOT / "compiler/trainc").rglob("*"):
            if file.suffix in (".py", ".sh"):
                packed.write(file, file.relative_to(ROOT / "compiler"))
    is_clean(shell(f"trainc {command}", tmp_path, PYTHONPATH=str(tmp_path / "trainc.zip")), 2, "install trainc")
