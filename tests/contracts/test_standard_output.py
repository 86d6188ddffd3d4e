"""Failure to write standard output is reported as an error, not as an internal error or a success."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

JOB = Path(__file__).parents[2] / "golden" / "llm-finetune-4x8" / "input.yaml"
PINNED = ("-r", str(Path(__file__).parents[2] / "runtimes" / "trainer-2.3" / "torch-distributed.yaml"))
"""Without a built-in runtime, standard error has no note."""
COMMANDS = (["build", str(JOB), *PINNED], ["validate", str(JOB), *PINNED], ["graph", str(JOB)], ["schema", "TrainJob"])


def output_of(arguments: list[str], redirection: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "trainc", *arguments]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *command], stderr=subprocess.PIPE, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: str(arguments[0]))
def test_a_full_disk(arguments: list[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("/dev/full")
    assert output_of(arguments, "> /dev/full") == (
        2,
        "Error: standard output cannot be written: No space left on device.\n",
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: str(arguments[0]))
def test_no_standard_output(arguments: list[str]) -> None:
    assert output_of(arguments, ">&-") == (2, "Error: standard output cannot be written: it is closed.\n")


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: str(arguments[0]))
def test_a_reader_that_goes_is_no_error(arguments: list[str]) -> None:
    assert output_of(arguments, "| head -c 1 > /dev/null") == (0, "")
