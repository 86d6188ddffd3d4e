"""Run the command line in this process, as a shell would, and capture its output."""

from __future__ import annotations

import io
import os
import re
import sys
from dataclasses import dataclass
from unittest import mock

from trainc import cli
from trainc.base.data import lint_rules
from trainc.settings import Settings

NO_LINT = Settings(disable=frozenset(lint_rules()) - {"secret-expected", "torchtune-config"})
"""Settings for tests of compiled objects that need not pass the lint rules. That one is a check of a framework."""


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
    out, err = _stream(), _stream()
    code = _code(args, stdin, out, err)
    return Done(code, _text(out), _text(err))


def run_in_terminal(*args: str) -> str:
    """Run `trainc ARGS`; return both output streams as one, as a terminal shows them."""
    screen = _stream()
    _code(args, b"", screen, screen)
    return _text(screen)


def _code(args: tuple[str, ...], stdin: bytes, out: io.TextIOWrapper, err: io.TextIOWrapper) -> int:
    with (
        mock.patch.object(sys, "argv", ["trainc", *args]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8")),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
    ):
        return cli.run()


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
