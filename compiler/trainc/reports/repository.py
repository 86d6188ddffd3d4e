"""What the tools around a repository ask of a diagnostic: its file as the repository knows it, and a lasting name.

Reads    diagnostics in order, the current folder, and where the git root above it is.
Returns  paths from that root (without one, from the current folder), and fingerprints.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from trainc.confine import resolved, within
from trainc.diagnostics import Location
from trainc.inputs import STDIN, repository_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.diagnostics import Diagnostic

_NO_FILES: Final = {STDIN: "stdin"}
"""What is in no folder, by the name that stands for it."""
_STOCK: Final = "<stock>/"
_MOVES: Final = re.compile(r"\b(lines? )\d+")
"""What a message says of a line changes with the lines above."""


class Repository:
    """The repository that the current folder belongs to."""

    def __init__(self) -> None:
        self.root = repository_of(".")

    def path(self, file: str) -> str:
        """A file's path from the root, without links, for git has no lines of theirs; outside of it the whole path."""
        if file in _NO_FILES or file.startswith(_STOCK):
            return _NO_FILES.get(file, file)
        full = resolved(file)
        return os.path.relpath(full, self.root) if within(full, self.root) else full

    def fingerprints(self, diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
        """A name for each, no two the same: of what is wrong with which field, wherever its lines have moved."""
        from hashlib import sha256

        seen: dict[str, int] = {}
        for diagnostic in diagnostics:
            at, about = diagnostic.place, diagnostic.object
            file = self.path(at.file) if isinstance(at, Location) else ""
            what = diagnostic.field or _MOVES.sub(r"\1", diagnostic.message)
            whole = "\0".join((file, diagnostic.id, about.kind, about.namespace, about.name, what))
            digest = sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]
            seen[digest] = seen.get(digest, 0) + 1
            yield f"{digest}:{seen[digest]}"
