"""The output folder: one file per TrainJob, and a listing of what was written, so that stale outputs are pruned.

The listing also names the files that the outputs were compiled from. A build that does not cover them prunes nothing.
A build plans and writes under a lock, so two builds into one folder take turns.

Nothing is half-written: a file is written beside its place and renamed into it, and only when its bytes changed.
Nothing of anybody else is touched: a file is replaced or removed only where it begins with trainc's mark, and no link
is followed below the folder.

A build may be killed at any moment. Whatever it has written is listed before it is written, and what it was writing
has a hidden name, by which the next build finds and removes it. That needs no fsync: what a process has written
outlives it; a machine that loses its power may lose outputs, which the next build makes anew.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from trainc.confine import open_to_write
from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic, Location
from trainc.folders import PART, Folders, content, current, open_below, remove, replace, replace_at
from trainc.listings import BEGINS, LISTING, MARK, STDIN, Listing, is_below, is_covered, parse, relative, render
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

OUTPUT_NOT_OURS: Final = Declaration(
    "output-not-ours", ("build",), "An output would replace a file that is not trainc's", own=True
)
OUTPUT_LEFT_ALONE: Final = Declaration(
    "output-left-alone", ("build",), "A file that was to be removed is not trainc's", severity="warning", own=True
)
OUTPUT_UNWRITABLE: Final = Declaration("output-unwritable", ("build",), "An output cannot be written", own=True)
PASSTHROUGH_PARTIAL: Final = Declaration(
    "passthrough-partial", ("build",), "An output would lose the documents of other paths", own=True
)

PASSED: Final = "_passthrough.yaml"
"""The output that holds the documents of other kinds; no object's name can begin with an underscore."""
PATIENCE: Final = 60.0
"""How many seconds a build waits for another one that writes to its folder."""
_PAUSE: Final = 0.05
MOST_SHOWN: Final = 3
"""How many sources are named in a line."""


class Output(NamedTuple):
    """An output folder that is open, and that no other build writes to."""

    folder: str
    at: int | None
    """Its descriptor; None where there is no such folder."""


@contextmanager
def opened(folder: str, *, make: bool, tell: Callable[[str], object]) -> Iterator[Output]:
    """Open an output folder and lock it; no link below the root is followed.

    Args:
        folder: its path.
        make: whether it is made where it is missing, and written to.
        tell: is called once with a line when another build holds the lock.

    Raises:
        OSError: the folder cannot be opened, or another build holds the lock for a minute.
    """
    try:
        at = open_to_write(folder, make=make)
    except FileNotFoundError:
        if make:
            raise
        yield Output(folder, None)
        return
    try:
        os.listdir(at)
        _lock(folder, at, tell, shared=not make)
        yield Output(folder, at)
    finally:
        os.close(at)


def _lock(folder: str, at: int, tell: Callable[[str], object], *, shared: bool) -> None:
    """Wait until no other build writes to the folder. The system releases the lock of a build that is killed."""
    import fcntl

    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    until: float | None = None
    while True:
        try:
            fcntl.flock(at, how | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        except OSError:
            return  # a file system without locks
        else:
            return
        now = time.monotonic()
        if until is None:
            tell(f"{folder}: another build writes to this folder; waiting for up to {PATIENCE:.0f} seconds\n")
            until = now + PATIENCE
        elif now >= until:
            raise OSError(errno.ETIMEDOUT, f"another build has locked the folder for {PATIENCE:.0f} seconds")
        time.sleep(_PAUSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a build would do to a folder: relative paths, `/` between their parts."""

    write: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    remove: tuple[str, ...] = ()
    listed: bytes | None = field(default=None, repr=False)
    """The list for as long as files are written: of the old ones and the new ones. None where the old one will do."""
    folders: frozenset[str] = frozenset()
    """All folders that hold outputs, old and new ones, also where none of these changes."""
    kept: tuple[str, ...] = ()
    """Outputs that this build does not make, and that are not pruned: it does not compile all that wrote the folder."""
    missing: tuple[str, ...] = ()
    """The sources of outputs that this build does not cover, relative to the folder; empty for an unknown one."""
    diagnostics: tuple[Diagnostic, ...] = ()


def plan(
    output: Output,
    files: Mapping[str, str],
    *,
    sources: Mapping[str, Iterable[str]],
    paths: Sequence[str],
    prune: bool,
) -> Changes:
    """Return what changes for the folder to hold `files` (relative path -> text). Read only.

    Args:
        output: the folder.
        files: what it is to hold.
        sources: by output, the files that it is compiled from.
        paths: the PATHs of the command line. Nothing is pruned where they do not cover the sources of all outputs.
        prune: False where only some TrainJobs of the paths are compiled.
    """
    folder, at = output
    listing, ignored = _listing(output)
    listed = dict.fromkeys(path for path in listing.outputs if isinstance(path, str) and is_below(path))
    write, refused = _differing(output, files)
    others = [path for path in listed if path not in files]
    missing = _missing(folder, listing, others, paths)
    stale, kept = _removable(output, others)
    if PASSED in write and PASSED in listed and (lost := _missing(folder, listing, [PASSED], paths)):
        refused.append(_partial(folder, lost))
    pruned = prune and not missing
    still = [] if pruned else [path for path in others if current(at, path) is not None]
    known = dict(listing.sources) | {
        path: tuple(sorted({relative(folder, file) for file in found})) for path, found in sources.items()
    }
    written = render([*files, *still], known)
    if current(at, LISTING) != written and (files or listed):
        write[LISTING] = written
    return Changes(
        write=MappingProxyType(write),
        remove=tuple(stale) if pruned else (),
        listed=None if files.keys() <= listed.keys() else render([*files, *others], known),
        folders=frozenset(path.rpartition("/")[0] for path in ("", *files, *others)),
        kept=tuple(stale) if prune and missing else (),
        missing=tuple(missing),
        diagnostics=(*ignored, *refused, *(kept if pruned else ())),
    )


def _missing(folder: str, listing: Listing, outputs: Iterable[str], paths: Sequence[str]) -> list[str]:
    """Return the sources of some listed outputs that the paths do not cover.

    An older trainc lists no sources. Its outputs are covered by folders and standard input, not by single files.
    """
    given = [relative(folder, path) for path in paths]
    found: dict[str, None] = {}
    for output in outputs:
        if sources := listing.sources.get(output):
            found |= dict.fromkeys(source for source in sources if not is_covered(folder, source, given))
        elif any(os.path.isfile(path) for path in paths):
            found[""] = None
    return list(found)


def _differing(output: Output, files: Mapping[str, str]) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """Return the bytes of the files that are to be written, and why others cannot be."""
    write: dict[str, bytes] = {}
    refused: list[Diagnostic] = []
    folder, at = output
    if at is None:
        return {path: (MARK + text).encode() for path, text in files.items()}, []
    with closing(Folders(at)) as folders:
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


def _removable(output: Output, listed: Sequence[str]) -> tuple[list[str], list[Diagnostic]]:
    """Return the listed files that are there and may be removed, and why others are left alone."""
    removable: list[str] = []
    kept: list[Diagnostic] = []
    folder, at = output
    for path in listed:
        there = current(at, path)
        if isinstance(there, str):
            kept.append(_left_alone(folder, path, there))
        elif there is not None and not there.startswith(MARK.encode()):
            kept.append(_left_alone(folder, path, "it does not begin with trainc's mark"))
        elif there is not None:
            removable.append(path)
    return removable, kept


def apply(output: Output, changes: Changes) -> tuple[Diagnostic, ...]:
    """Write and remove; stop at the first thing that the system refuses, and report it."""
    folder, at = output
    assert at is not None
    path = ""
    try:
        for below in sorted(changes.folders):
            _sweep(at, below)
        listing = changes.write.get(LISTING)
        if changes.listed is not None:
            path = LISTING
            replace(at, path, changes.listed)
        with closing(Folders(at, make=True)) as folders:
            for path, data in changes.write.items():
                if path != LISTING:
                    parent, _, name = path.rpartition("/")
                    replace_at(folders.at(parent), name, data)
        for path in changes.remove:
            remove(at, path)
        if listing is not None and listing != changes.listed:
            path = LISTING
            replace(at, path, listing)
    except OSError as error:
        return (unwritable(folder, path, error),)
    return ()


def _sweep(folder: int, below: str) -> None:
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
        content.startswith(start) or start.startswith(content) for start in (MARK.encode(), BEGINS)
    )


def diff(output: Output, changes: Changes) -> Iterator[str]:
    """A unified diff from what the folder holds to what a build would make."""
    import difflib

    folder, at = output
    wanted: dict[str, bytes] = {path: data for path, data in changes.write.items() if path != LISTING}
    for path in sorted([*wanted, *changes.remove]):
        there = current(at, path)
        old = there.decode(errors="replace") if isinstance(there, bytes) else ""
        new = wanted.get(path, b"").decode()
        yield from difflib.unified_diff(
            old.splitlines(keepends=True),
            new.splitlines(keepends=True),
            fromfile=f"{folder}/{path}" if old else "/dev/null",
            tofile=f"{folder}/{path}" if new else "/dev/null",
        )


def _listing(output: Output) -> tuple[Listing, list[Diagnostic]]:
    """Return the listing of an earlier build, and why some of its outputs are left alone.

    Where git has merged two listings, one path may be there twice.
    """
    folder, at = output
    data = current(at, LISTING)
    if data is None:
        return Listing(), []
    listing = parse(data) if isinstance(data, bytes) else None
    if listing is None:
        return Listing(), [_left_alone(folder, LISTING, "it is no list of trainc's; nothing is removed")]
    return listing, [
        _left_alone(folder, str(path), f"{LISTING} lists it, but it leads out of the folder")
        for path in listing.outputs
        if not is_below(path)
    ]


def unwritable(folder: str, path: str, error: OSError) -> Diagnostic:
    """Return the diagnostic of an output, or of the folder itself, that the system refuses to write."""
    return Diagnostic.of(
        OUTPUT_UNWRITABLE,
        f"cannot be written: {error.strerror}",
        "check who may write there; every file that was written is whole",
        place=Location(file=os.path.join(folder, path) if path else folder),
    )


def _partial(folder: str, missing: Sequence[str]) -> Diagnostic:
    return Diagnostic.of(
        PASSTHROUGH_PARTIAL,
        f"also holds documents of {shown(folder, missing)}, which the given paths do not cover",
        "give every path that the folder is built from",
        place=Location(file=os.path.join(folder, PASSED)),
    )


def shown(folder: str, sources: Sequence[str]) -> str:
    """Return sources of a listing as paths of the command line, and of many the first ones."""
    names = {"": "unknown files", STDIN: "standard input"}
    first = [names.get(path) or os.path.relpath(os.path.join(folder, path)) for path in sources[:MOST_SHOWN]]
    more = len(sources) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")


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
        "remove it by hand if nobody needs it",
        place=Location(file=os.path.join(folder, path)),
    )
