"""Run the command line in this process, as a shell would, and capture its output."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from unittest import mock

from trainc.cli import main
from trainc.lint.triggers import RULES
from trainc.settings import Settings

NO_LINT = Settings(disable=frozenset(RULES))
"""Settings for tests of compiled objects that need not pass the lint rules."""


@dataclass(frozen=True)
class Done:
    """The result of a command."""

    code: int
    out: str
    err: str


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
