"""Repository paths and stable fingerprints of diagnostics, for code review tools.

Reads    diagnostics in order, the current folder, and the git root above it.
Returns  paths relative to that root (or to the current folder, if there is no root), and fingerprints.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Location
from trainc.files.confine import is_within, resolved
from trainc.files.inputs import STDIN, repository_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.diagnostics import Diagnostic

_NO_FILES: Final = {STDIN: "stdin"}
"""Names for inputs that are not files."""
_BUILT_IN: Final = "<built-in>/"
_LINE_NUMBER: Final = re.compile(r"\b(lines? )\d+")
"""Line numbers in messages are not part of a fingerprint: they change with the lines above."""


class Repository:
    """The repository of the current folder."""

    def __init__(self) -> None:
        self.root = repository_of(".")

    def path(self, file: str) -> str:
        """Return a file's path from the root, with links resolved; outside the root, its absolute path."""
        if file in _NO_FILES or file.startswith(_BUILT_IN):
            return _NO_FILES.get(file, file)
        full = resolved(file)
        return os.path.relpath(full, self.root) if is_within(full, self.root) else full

    def fingerprints(self, diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
        """Yield a unique name for each diagnostic, from its file, id, object and field. It survives moved lines."""
        from hashlib import sha256

        seen: dict[str, int] = {}
        for diagnostic in diagnostics:
            at, subject = diagnostic.place, diagnostic.object
            file = self.path(at.file) if isinstance(at, Location) else ""
            detail = diagnostic.field or _LINE_NUMBER.sub(r"\1", diagnostic.message)
            key = "\0".join((file, diagnostic.id, subject.kind, subject.namespace, subject.name, detail))
            digest = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
            seen[digest] = seen.get(digest, 0) + 1
            yield f"{digest}:{seen[digest]}"
