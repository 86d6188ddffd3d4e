"""Run the command line in this process, as a shell would, and capture its output."""

from __future__ import annotations

import io
import os
import re
import sys
from dataclasses import dataclass
from unittest import mock

from trainc.cli import main
from trainc.lint.triggers import RULES
from trainc.settings import Settings

NO_LINT = Settings(disable=frozenset(RULES))
"""Settings for tests of compiled objects that need not pass the lint rules."""


os.environ.pop("COLUMNS", None)
"""pytest-xdist sets it, and tables would be folded."""
_NOTE = re.compile(r"(?:(?<=\n)\n)?note\[built-in-runtime\].*\n(?:  help: .*\n)?")


@dataclass(frozen=True)
class Done:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def reported(self) -> str:
        """Standard error without the note about built-in runtimes, for tests of something else."""
        return without_note(self.err)


def without_note(text: str) -> str:
    """Return messages without the note about built-in runtimes."""
    return _NOTE.sub("", text)


def run(*args: str, stdin: bytes = b"") -> Done:
    """Run `trainc ARGS`."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with (
        mock.patch.object(sys, "argv", ["trainc", *args]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8")),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
    return Done(code, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
