"""Options that are also files of the current folder, which are errors: pre-commit and shells append names of files."""

from __future__ import annotations

from typing import Final

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic

AMBIGUOUS_OPTION: Final = Declaration("ambiguous-option", ("read",), "Option that is also a file", trainc_only=True)


def diagnostic(word: str) -> Diagnostic:
    """Return the error for an option that is also a file."""
    return Diagnostic.declared(
        AMBIGUOUS_OPTION,
        f"ambiguous argument '{word}': both option and path",
        f"use './{word}' for the path, or rename the file to use the option",
    )
