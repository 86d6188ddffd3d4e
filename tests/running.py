"""Run the command line in this process, as a shell would, and see what it prints."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from unittest import mock

from trainc.cli import main
from trainc.lint.triggers import RULES
from trainc.settings import Settings

NO_LINT = Settings(disable=frozenset(RULES))
"""For what is compiled to be looked at, and need not be a good job."""


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


def run(*args: str, stdin: bytes = b"") -> Done:
    """`trainc ARGS`."""
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
