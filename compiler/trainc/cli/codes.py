"""Exit codes, and the exception that every command may end with."""

from __future__ import annotations

from typing import Final

OK: Final = 0
WRONG_INPUT: Final = 1
"""The input has errors."""
MISUSE: Final = 2
"""The command line is wrong."""
DIFFERENT: Final = 3
"""A requested comparison found a difference."""
OUR_FAULT: Final = 70
"""Internal error."""
INTERRUPTED: Final = 130


class OutputError(Exception):
    """Standard output cannot be written; the message gives the reason."""
