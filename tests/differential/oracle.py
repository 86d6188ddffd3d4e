"""The oracle: the upstream code as a program, named by the environment variable ORACLE.

Tests that need it are skipped without it. CRDS is the folder with the structures of the CRDs, if the program does not
find it itself. EXAMPLES sets the number of cases, and SEED selects them.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import IO, Any, Final

import pytest

PROGRAM: Final = os.environ.get("ORACLE", "")
CRDS: Final = os.environ.get("CRDS")
EXAMPLES: Final = int(os.environ.get("EXAMPLES") or 500)
SEED: Final = int(os.environ.get("SEED") or 0)

needs_oracle = pytest.mark.skipif(not PROGRAM, reason="ORACLE=PROGRAM")


class Oracle:
    """Answers for Kubernetes primitives. One process per primitive stays open: a line in, a line out."""

    def __init__(self) -> None:
        self._processes: dict[str, subprocess.Popen[str]] = {}

    def ask(self, primitive: str, inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return one answer per input: `output` or `error`."""
        process = self._processes.get(primitive)
        if process is None:
            process = self._processes[primitive] = subprocess.Popen(
                [PROGRAM, "-primitive", primitive], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
            )
        return [_exchange(process.stdin, process.stdout, given) for given in inputs]

    def close(self) -> None:
        """Terminate the processes."""
        for process in self._processes.values():
            process.communicate()
        self._processes.clear()


def _exchange(questions: IO[str] | None, answers: IO[str] | None, given: dict[str, Any]) -> dict[str, Any]:
    assert questions is not None
    assert answers is not None
    questions.write(json.dumps(given, separators=(",", ":")) + "\n")
    questions.flush()
    answer: dict[str, Any] = json.loads(answers.readline())
    return answer
