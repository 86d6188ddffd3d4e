"""The files of an application: which there are, and whether there are more than a sync may take; none is opened here.

Reads    the folders, without following a link out of the root.
Returns  the paths of what `generate` would read: .yaml, .yml and .json, none of them hidden, none twice; and a
         diagnostic for an application that is too large. The bound on its bytes is the one that Argo CD has for folders
         of plain manifests (10M, argocd-repo-server's --max-combined-directory-manifests-size): whoever may push to a
         repository could keep the sidecar busy for everybody, and a minute is all that it has.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.confine import within
from trainc.declarations import Declaration
from trainc.inputs import DEEPEST, SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Diagnostic

APPLICATION_TOO_LARGE: Final = Declaration(
    "application-too-large", ("read",), "An Argo CD Application has more than may be read"
)

MOST_BYTES: Final = 10 << 20
"""How much there may be in all files together."""
MOST_FILES: Final = 10_000


def below(path: str, root: str) -> Iterator[str]:
    """The files below a folder, in a fixed order; nothing where it is outside the root, with all links resolved."""
    real = os.path.realpath(path)
    if within(real, root):
        yield from _files(path, real, root, {real}, 1)


def too_many(paths: Iterable[str], root: str) -> Diagnostic | None:
    """What to say of an application that has more than may be read; each path is read anew, and counts."""
    files, size, most, largest = 0, 0, 0, ""
    for path in paths:
        for file in _given(path, root):
            files += 1
            if files > MOST_FILES:
                return _fault(f"more than {MOST_FILES:,} files; no more are read")
            try:
                bytes = os.stat(file).st_size
            except OSError:  # who reads it says so
                continue
            size += bytes
            if bytes > most:
                most, largest = bytes, file
    if size <= MOST_BYTES:
        return None
    what = f"{-(-size * 10 >> 20) / 10} MiB of manifests; no more than {MOST_BYTES >> 20} MiB are read"
    return _fault(what, largest if most > size // 2 else None)


def _given(path: str, root: str) -> Iterator[str]:
    if os.path.isfile(path):
        if within(os.path.realpath(path), root):
            yield path
    else:
        yield from below(path, root)


def _fault(what: str, file: str | None = None) -> Diagnostic:
    """The diagnostic; at the file that most of it is, where there is such a one."""
    from trainc.diagnostics import Diagnostic, Location

    return Diagnostic.of(
        APPLICATION_TOO_LARGE,
        f"the Application has {what}",
        "make several Applications of it; what is no manifest has its place elsewhere, or in a hidden folder",
        place=None if file is None else Location(file=file),
    )


def _files(folder: str, real: str, root: str, seen: set[str], depth: int) -> Iterator[str]:
    """The files below a folder, whose own path has been resolved."""
    try:
        with os.scandir(folder) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
    except OSError:
        return
    prefix = "" if folder == os.curdir else folder + os.sep
    for entry in entries:
        if entry.name.startswith("."):
            continue
        link = entry.is_symlink()
        below = os.path.realpath(prefix + entry.name) if link else os.path.join(real, entry.name)
        if below in seen or (link and not within(below, root)):
            continue
        what = _what(entry)
        if what == "folder":
            if depth < DEEPEST:
                seen.add(below)
                yield from _files(prefix + entry.name, below, root, seen, depth + 1)
        elif what == "file" and entry.name.endswith(SUFFIXES):
            seen.add(below)
            yield prefix + entry.name


def _what(entry: os.DirEntry[str]) -> str:
    try:
        return "folder" if entry.is_dir() else "file" if entry.is_file() else ""
    except OSError:  # a link in a circle
        return ""
