"""Only `runtimes pull` and `diff --live` start kubectl: `build`, `validate`, `cmp` and `krm` open no socket.

`make lint` forbids the imports (contract "offline"). Here the commands run with an audit hook that ends the process at
the first attempt, and with a kubectl on the PATH that leaves a trace.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CAUGHT = 99
PROGRAM = f"""
import os, sys
FORBIDDEN = {{"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn",
             "subprocess.Popen", "urllib.Request"}}
def watch(event, arguments):
    if event in FORBIDDEN or event.startswith(("socket.", "http.", "ctypes.")):
        os.write(2, event.encode())
        os._exit({CAUGHT})
sys.addaudithook(watch)
from trainc.cli import entry
entry()
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a}
spec: {runtimeRef: {name: NAME}}
"""
RESOURCES = (
    "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
    "- {apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: a}, "
    "spec: {runtimeRef: {name: NAME}}}\n"
)


def run(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    bin = folder / "bin"
    bin.mkdir(exist_ok=True)
    (bin / "kubectl").write_text(f"#!/bin/sh\necho started >> {folder}/trace\n")
    (bin / "kubectl").chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "PATH": f"{bin}:{os.environ['PATH']}"}
    program = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(
        program, cwd=folder, env=environment, input=stdin, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("runtime", ["torch-distributed", "missing-from-every-cluster"])
@pytest.mark.parametrize(
    "command",
    ["build", "validate", "build -o rendered", "cmp generate", "cmp discover", "cmp parameters", "krm"],
)
def test_a_command_starts_no_program_and_opens_no_socket(command: str, runtime: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "job.yaml").write_text(JOB.replace("NAME", runtime))
    done = run(tmp_path, *command.split(), stdin=RESOURCES.replace("NAME", runtime))
    compiles = command not in {"cmp discover", "cmp parameters"}
    assert done.returncode == int(compiles and runtime != "torch-distributed"), done.stderr
    assert not (tmp_path / "trace").exists()


def test_the_hook_sees_a_pull(tmp_path: Path) -> None:
    done = run(tmp_path, "runtimes", "pull")
    assert (done.returncode, done.stderr) == (CAUGHT, "subprocess.Popen")
