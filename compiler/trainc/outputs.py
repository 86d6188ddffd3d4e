"""The output folder: one file a TrainJob, and a list of what was written, so that what is no longer made is removed.

Nothing is half-written: a file is written beside its place and renamed into it, and only when its bytes changed.
Nothing of anybody else is touched: a file is replaced or removed only where it begins with trainc's mark, and no link
is followed below the folder.

A build may be killed at any moment. Whatever it has written is listed before it is written, and what it was writing
has a hidden name, by which the next build finds and removes it. That needs no fsync: what a process has written
outlives it; a machine that loses its power may lose outputs, which the next build writes again.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic, Location
from trainc.folders import PART, Folders, content, current, open_below, remove, replace, replace_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

OUTPUT_NOT_OURS: Final = Declaration(
    "output-not-ours", ("build",), "An output would replace a file that is not trainc's", own=True
)
OUTPUT_LEFT_ALONE: Final = Declaration(
    "output-left-alone", ("build",), "A file that was to be removed is not trainc's", severity="warning", own=True
)
OUTPUT_UNWRITABLE: Final = Declaration("output-unwritable", ("build",), "An output cannot be written", own=True)

MARK: Final = "# Compiled by trainc from the TrainJob of this name. Do not edit: it is written anew.\n"
"""The first line of every file that trainc writes into a folder."""
LISTING: Final = ".trainc-outputs"
"""Without a suffix: kubectl and Argo CD take every .json of a folder, hidden or not, for a manifest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a build would do to a folder: relative paths, `/` between their parts."""

    write: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    remove: tuple[str, ...] = ()
    listed: bytes | None = field(default=None, repr=False)
    """The list for as long as files are written: of the old ones and the new ones. None where the old one will do."""
    folders: frozenset[str] = frozenset()
    """All folders that hold outputs, old and new ones, also where none of these changes."""
    diagnostics: tuple[Diagnostic, ...] = ()


def plan(folder: str, files: Mapping[str, str], *, prune: bool) -> Changes:
    """What has to change for `folder` to hold `files` (relative path -> text). Reads only."""
    if fault := _no_folder(folder):
        return Changes(diagnostics=(fault,))
    listed, ignored = _listed(folder) if os.path.isdir(folder) else ({}, [])
    write, refused = _differing(folder, files)
    others = [path for path in listed if path not in files]
    removed, kept = _removable(folder, others) if prune else ([], [])
    listing = _listing([*files, *([] if prune else others)])
    if current(folder, LISTING) != listing and (files or listed):
        write[LISTING] = listing
    return Changes(
        write=MappingProxyType(write),
        remove=tuple(removed),
        listed=None if files.keys() <= listed.keys() else _listing([*files, *others]),
        folders=frozenset(path.rpartition("/")[0] for path in ("", *files, *others)),
        diagnostics=(*ignored, *refused, *kept),
    )


def _differing(folder: str, files: Mapping[str, str]) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """Return the bytes of the files that are to be written, and why others cannot be."""
    write: dict[str, bytes] = {}
    refused: list[Diagnostic] = []
    with closing(Folders(folder)) as folders:
        for path, text in files.items():
            wanted = (MARK + text).encode()
            there = folders.current(path)
            if there == wanted:
                continue
            if isinstance(there, str):
                refused.append(_refuse(folder, path, there))
            elif there is not None and not there.startswith(MARK.encode()):
                refused.append(_refuse(folder, path, "it was not written by trainc"))
            else:
                write[path] = wanted
    return write, refused


def _removable(folder: str, listed: Sequence[str]) -> tuple[list[str], list[Diagnostic]]:
    """Return the listed files that are there and may be removed, and why others are left alone."""
    removable: list[str] = []
    kept: list[Diagnostic] = []
    for path in listed:
        there = current(folder, path)
        if isinstance(there, str):
            kept.append(_left_alone(folder, path, there))
        elif there is not None and not there.startswith(MARK.encode()):
            kept.append(_left_alone(folder, path, "it does not begin with trainc's mark"))
        elif there is not None:
            removable.append(path)
    return removable, kept


def apply(folder: str, changes: Changes) -> tuple[Diagnostic, ...]:
    """Write and remove; stop at the first thing that the system refuses, and say what it was.

    Builds of one folder wait for one another.
    """
    path = ""
    try:
        os.makedirs(folder, exist_ok=True)
        with _alone_in(folder):
            for below in sorted(changes.folders):
                _sweep(folder, below)
            listing = changes.write.get(LISTING)
            if changes.listed is not None:
                path = LISTING
                replace(folder, path, changes.listed)
            with closing(Folders(folder, make=True)) as folders:
                for path, data in changes.write.items():
                    if path != LISTING:
                        parent, _, name = path.rpartition("/")
                        replace_at(folders.at(parent), name, data)
            for path in changes.remove:
                remove(folder, path)
            if listing is not None and listing != changes.listed:
                path = LISTING
                replace(folder, path, listing)
    except OSError as error:
        return (_unwritable(folder, path, error),)
    return ()


@contextmanager
def _alone_in(folder: str) -> Iterator[None]:
    """Wait until no other build writes to the folder. The system ends the wait when that one is killed."""
    import fcntl

    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(at, fcntl.LOCK_EX)
        yield
    finally:
        os.close(at)


def _sweep(folder: str, below: str) -> None:
    """Remove what killed builds were writing in a folder."""
    try:
        at = open_below(folder, below)
    except OSError:
        return  # it is not there yet, or no folder, which writing to it will tell
    try:
        for name in os.listdir(at):
            if name.startswith(".") and name.endswith(PART) and _is_part(content(at, name)):
                os.unlink(name, dir_fd=at)
    finally:
        os.close(at)


def _is_part(content: bytes | str | None) -> bool:
    """Whether a file holds what trainc writes, as far as it came."""
    return isinstance(content, bytes) and any(
        content.startswith(start) or start.startswith(content) for start in (MARK.encode(), _LISTING_BEGINS)
    )


def diff(folder: str, changes: Changes) -> Iterator[str]:
    """A unified diff from what the folder holds to what a build would make."""
    import difflib

    wanted: dict[str, bytes] = {path: data for path, data in changes.write.items() if path != LISTING}
    for path in sorted([*wanted, *changes.remove]):
        there = current(folder, path)
        old = there.decode(errors="replace") if isinstance(there, bytes) else ""
        new = wanted.get(path, b"").decode()
        yield from difflib.unified_diff(
            old.splitlines(keepends=True),
            new.splitlines(keepends=True),
            fromfile=f"{folder}/{path}" if old else "/dev/null",
            tofile=f"{folder}/{path}" if new else "/dev/null",
        )


def _no_folder(folder: str) -> Diagnostic | None:
    """Why a path cannot be the output folder; None where it is one, or where one can be made."""
    try:
        os.listdir(folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _unwritable(folder, "", error)
    return None


_LISTING_BEGINS: Final = b'{\n  "outputs": '
_NO_NAMES: Final = frozenset(("", ".", ".."))
"""Parts of paths, of absolute ones too, that name nothing in a folder."""


def _listing(paths: list[str]) -> bytes:
    import json

    return (json.dumps({"outputs": sorted(paths)}, indent=2, ensure_ascii=False) + "\n").encode()


def _listed(folder: str) -> tuple[dict[str, None], list[Diagnostic]]:
    """Return the paths that an earlier build listed and that may be looked at, and why others may not.

    Of two lists that git has merged, one path may be there twice; it is returned once.
    """
    import json

    data = current(folder, LISTING)
    if data is None:
        return {}, []
    try:
        paths = json.loads(data)["outputs"] if isinstance(data, bytes) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        paths = None
    if not isinstance(paths, list):
        return {}, [_left_alone(folder, LISTING, "it is no list of trainc's; nothing is removed")]
    return dict.fromkeys(path for path in paths if _is_below(path)), [
        _left_alone(folder, str(path), f"{LISTING} lists it, but it leads out of the folder")
        for path in paths
        if not _is_below(path)
    ]


def _is_below(path: object) -> bool:
    """Whether an untrusted value is a path that stays inside the folder."""
    if not isinstance(path, str):
        return False
    try:
        path.encode()
    except UnicodeEncodeError:  # JSON has escapes for half a character
        return False
    return "\0" not in path and _NO_NAMES.isdisjoint(path.split("/"))


def _unwritable(folder: str, path: str, error: OSError) -> Diagnostic:
    return Diagnostic.of(
        OUTPUT_UNWRITABLE,
        f"cannot be written: {error.strerror}",
        "check who may write there; every file that was written is whole",
        place=Location(file=os.path.join(folder, path) if path else folder),
    )


def _refuse(folder: str, path: str, why: str) -> Diagnostic:
    return Diagnostic.of(
        OUTPUT_NOT_OURS,
        f"is in the way of an output, and is left alone: {why}",
        "move it away, or choose another --output",
        place=Location(file=os.path.join(folder, path)),
    )


def _left_alone(folder: str, path: str, why: str) -> Diagnostic:
    return Diagnostic.of(
        OUTPUT_LEFT_ALONE,
        f"is left alone: {why}",
        "remove it by hand if it is not needed",
        place=Location(file=os.path.join(folder, path)),
    )
