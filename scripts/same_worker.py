"""Run trainc commands with one installed package: the worker of same.py.

    PYTHONPATH=PACKAGES python -P same_worker.py PACKAGES < tasks.json

Reads    from standard input a list of `{"folder", "seconds", "commands"}`: the working folder, the time limit of one
         command, and the arguments of each command.
Writes   one line of JSON per task: the exit status and the standard output of each command. A negative status is a
         signal number; a command that exceeds its time limit ends with SIGALRM.
The worker imports all modules of the package once, then forks a process for each batch of tasks. The commands of a
batch share a process, as runs of the library do. If a command ends the process, a new one continues with the next task.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator

OUR_FAULT: Final = 70
BATCH: Final = 25
"""Tasks per process. One process per command takes five times as long."""


class Task(TypedDict):
    """One task of the worker's input."""

    folder: str
    seconds: int
    commands: list[list[str]]


def load(packages: Path) -> None:
    """Import trainc's modules; raise SystemExit if Python finds trainc in another folder."""
    package = import_module("trainc")
    if not Path(str(package.__file__)).is_relative_to(packages):
        raise SystemExit(f"Python imports {package.__file__} instead of the package in {packages}")
    for module in pkgutil.walk_packages(package.__path__, "trainc."):
        if not module.name.endswith("__main__"):
            try:
                import_module(module.name)
            except ImportError:  # an optional dependency that is not installed
                continue
    gc.collect()
    gc.freeze()


def answers(tasks: list[Task]) -> Iterator[bytes]:
    """Yield each task's line. If a command ends its process, both commands get the process's status."""
    done = 0
    while done < len(tasks):
        batch = tasks[done : done + BATCH]
        lines, code = _batch_output(batch)
        if len(lines) < len(batch):
            lines.append(json.dumps([[code, ""] for _ in batch[len(lines)]["commands"]]).encode())
        yield from lines
        done += len(lines)


def _batch_output(batch: list[Task]) -> tuple[list[bytes], int]:
    """Return the lines that a new process writes before it ends, and its exit status."""
    with tempfile.TemporaryFile() as written:
        child = os.fork()
        if not child:
            _work(batch, written.fileno())
        _, status = os.waitpid(child, 0)
        written.seek(0)
        return written.read().splitlines(), os.waitstatus_to_exitcode(status)


def _work(batch: list[Task], written: int) -> NoReturn:
    """Run the commands of a batch, then end this process."""
    code = OUR_FAULT
    try:
        with open(os.devnull, "r+b") as quiet:
            for stream in (0, 2):
                os.dup2(quiet.fileno(), stream)
        for task in batch:
            os.chdir(task["folder"])
            line = json.dumps([_run(arguments, task["seconds"]) for arguments in task["commands"]])
            os.write(written, f"{line}\n".encode())
        code = 0
    finally:
        os._exit(code)


def _run(arguments: list[str], seconds: int) -> tuple[int, str]:
    """Return the exit status and the standard output of one command."""
    with tempfile.TemporaryFile() as out:
        os.dup2(out.fileno(), 1)
        sys.argv = ["trainc", *arguments]
        signal.alarm(seconds)
        code: int = import_module("trainc.cli").run()
        sys.stdout.flush()
        signal.alarm(0)
        out.seek(0)
        return code, out.read().decode(errors="backslashreplace")


def main() -> None:
    """Run every task of standard input."""
    tasks = json.load(sys.stdin)
    load(Path(sys.argv[1]).resolve())
    for line in answers(tasks):
        print(line.decode(), flush=True)


if __name__ == "__main__":
    main()
