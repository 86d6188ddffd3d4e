"""Code that commands share: options, settings, printing, completion; the exit codes."""

from __future__ import annotations

from typing import Final

OK: Final = 0
WRONG_INPUT: Final = 1
"""The input has errors."""
MISUSE: Final = 2
"""The command line is invalid, or an output that it names cannot be written."""
DIFFERENT: Final = 3
"""A requested comparison found a difference."""
INTERNAL_ERROR: Final = 70
INTERRUPTED: Final = 130


class OutputError(Exception):
    """Standard output cannot be written; the message gives the reason."""
