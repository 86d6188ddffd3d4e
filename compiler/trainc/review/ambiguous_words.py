"""Words of a command line with two meanings, which are errors: the author of a change may have chosen one of them.

Reads    a word, and its meanings in the repository.
Returns  an exception with the diagnostic, whose help says how to write each meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Sequence

AMBIGUOUS_ARGUMENT: Final = Declaration(
    "ambiguous-argument", ("read",), "Argument that is a revision and a path", trainc_only=True
)
AMBIGUOUS_REVISION: Final = Declaration("ambiguous-revision", ("read",), "Revision with two meanings", trainc_only=True)


class AmbiguousWordError(Exception):
    """A word with two meanings."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        """`diagnostic` reports it."""
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def ambiguous_argument(argument: str) -> AmbiguousWordError:
    """Return the error for an argument that is both a revision and a path."""
    return AmbiguousWordError(
        Diagnostic.declared(
            AMBIGUOUS_ARGUMENT,
            f"ambiguous argument '{argument}': both revision and path",
            f"use -- to separate revisions from paths, or './{argument}' for the path",
        )
    )


def ambiguous_revision(revision: str, refs: Sequence[str]) -> AmbiguousWordError:
    """Return the error for a revision that several refs match, or one ref and the start of a hash."""
    if len(refs) > 1:
        matching, help = " and ".join(refs), "use the full name of one of them"
    else:
        matching = f"{refs[0] if refs else 'a ref'} and another commit"
        help = "use the full name of the ref, or the full hash"
    message = f"ambiguous revision '{revision}': {matching} match it"
    return AmbiguousWordError(Diagnostic.declared(AMBIGUOUS_REVISION, message, help))
