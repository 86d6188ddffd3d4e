"""The output folder: one file per TrainJob, and a listing of the outputs, so that stale ones are pruned.

The listing also names the source files of the outputs. A build that does not cover them prunes nothing. A build plans
and writes under a lock, so two builds into one folder run one after the other.

A file is written only if its bytes change, as a temporary file that is renamed, so no file is half-written. A file is
replaced or removed only if it starts with trainc's marker, and no link is followed below the folder.

A build may be killed at any moment. It lists outputs before it writes them, and temporary files have hidden names by
which the next build finds and removes them. No fsync is needed: written data outlives a process. After a power failure
outputs may be lost, and the next build writes them again.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Location
from trainc.files.atomic import PART, Folders, content, open_below, read_current, remove, replace, replace_at
from trainc.files.confine import open_to_write
from trainc.files.output_listing import (
    BEGINS,
    LISTING,
    MARKS,
    STDIN,
    Listing,
    is_below,
    is_covered,
    listed_path,
    parse,
    render,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

OUTPUT_NOT_OURS: Final = Declaration(
    "output-not-ours", ("build",), "Output would replace a file that trainc did not write", trainc_only=True
)
OUTPUT_LEFT_ALONE: Final = Declaration(
    "output-left-alone", ("build",), "Stale output that trainc did not write", severity="warning", trainc_only=True
)
OUTPUT_UNWRITABLE: Final = Declaration("output-unwritable", ("build",), "Unwritable output", trainc_only=True)
PASSTHROUGH_PARTIAL: Final = Declaration(
    "passthrough-partial", ("build",), "Output would lose the documents of other paths", trainc_only=True
)

PASSED: Final = "_passthrough.yaml"
"""The output with the documents of other kinds; no object name can start with an underscore."""
PATIENCE: Final = 60.0
"""How long a build waits for another build of its folder, in seconds."""
_PAUSE: Final = 0.05
MOST_SHOWN: Final = 3
"""The maximum number of sources that a line names."""


class Output(NamedTuple):
    """An open and locked output folder."""

    folder: str
    at: int | None
    """The descriptor; None if the folder does not exist."""


@contextmanager
def opened(folder: str, *, make: bool, notify: Callable[[str], object]) -> Iterator[Output]:
    """Open an output folder and lock it; no link below the root is followed.

    Args:
        folder: the path.
        make: whether to create a missing folder and to write to it.
        notify: called once with a line of text if another build holds the lock.

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
        _lock(folder, at, notify, shared=not make)
        yield Output(folder, at)
    finally:
        os.close(at)


def _lock(folder: str, at: int, notify: Callable[[str], object], *, shared: bool) -> None:
    """Wait until no other build writes to the folder. The system releases the lock of a killed build."""
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
            notify(f"{folder}: another build writes to this folder; waiting up to {PATIENCE:.0f} seconds\n")
            until = now + PATIENCE
        elif now >= until:
            raise OSError(errno.ETIMEDOUT, f"another build has locked the folder for {PATIENCE:.0f} seconds")
        time.sleep(_PAUSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes of a build to a folder, by relative path with `/` as the separator."""

    write: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    remove: tuple[str, ...] = ()
    listed: bytes | None = field(default=None, repr=False)
    """The listing of old and new outputs while files are written; None if the old listing has all of them."""
    folders: frozenset[str] = frozenset()
    """All folders with old or new outputs, changed or not."""
    kept: tuple[str, ...] = ()
    """Outputs that this build does not write and does not prune, because its paths do not cover all sources."""
    missing: tuple[str, ...] = ()
    """Sources that the paths do not cover, relative to the folder."""
    diagnostics: tuple[Diagnostic, ...] = ()
    listing: str = LISTING
    """The name of the listing in `write`."""
    starts: tuple[bytes, ...] = (*MARKS, BEGINS)
    """The starts of all files that trainc writes there."""


def plan(
    output: Output,
    files: Mapping[str, str],
    *,
    sources: Mapping[str, Iterable[str]],
    paths: Sequence[str],
    prune: bool,
    environment: str = "",
) -> Changes:
    """Return the changes after which the folder has `files` (relative path -> text), and change nothing.

    Args:
        output: the folder.
        files: the outputs.
        sources: the source files of each output.
        paths: the PATHs of the command line. Nothing is pruned if they do not cover the sources of all outputs.
        prune: False if only some TrainJobs of the paths are compiled.
        environment: the environment whose outputs these are.
    """
    folder, at = output
    listing, ignored = listing_of(output)
    listed = dict.fromkeys(path for path in listing.outputs if isinstance(path, str) and is_below(path))
    write, refused = _changed_outputs(output, files)
    others = [path for path in listed if path not in files]
    missing = uncovered_sources(folder, listing, others, paths)
    stale, kept = stale_files(output, others)
    if PASSED in write and PASSED in listed and (lost := uncovered_sources(folder, listing, [PASSED], paths)):
        refused.append(_incomplete_folder(folder, lost))
    pruned = prune and not missing
    still = [] if pruned else [path for path in others if read_current(at, path) is not None]
    known = dict(listing.sources) | {
        path: tuple(sorted({listed_path(folder, file) for file in found})) for path, found in sources.items()
    }
    written = render([*files, *still], known, environment)
    if read_current(at, LISTING) != written and (files or listed):
        write[LISTING] = written
    return Changes(
        write=MappingProxyType(write),
        remove=tuple(stale) if pruned else (),
        listed=None if files.keys() <= listed.keys() else render([*files, *others], known, environment),
        folders=frozenset(path.rpartition("/")[0] for path in ("", *files, *others)),
        kept=tuple(stale) if prune and missing else (),
        missing=tuple(missing),
        diagnostics=(*ignored, *refused, *(kept if pruned else ())),
    )


def uncovered_sources(folder: str, listing: Listing, outputs: Iterable[str], paths: Sequence[str]) -> list[str]:
    """Return the sources of listed outputs that the paths do not cover."""
    given = [listed_path(folder, path) for path in paths]
    sources = dict.fromkeys(source for output in outputs for source in listing.sources.get(output, ()))
    return [source for source in sources if not is_covered(folder, source, given)]


def _changed_outputs(output: Output, files: Mapping[str, str]) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """Return the files to write, and a diagnostic for each file that cannot be replaced."""
    write: dict[str, bytes] = {}
    refused: list[Diagnostic] = []
    folder, at = output
    if at is None:
        return {path: text.encode() for path, text in files.items()}, []
    with closing(Folders(at)) as folders:
        for path, text in files.items():
            wanted = text.encode()
            there = folders.read(path)
            if there == wanted:
                continue
            if isinstance(there, str):
                refused.append(_refuse(folder, path, there))
            elif there is not None and not there.startswith(MARKS):
                refused.append(_refuse(folder, path, "it was not written by trainc"))
            else:
                write[path] = wanted
    return write, refused


def stale_files(output: Output, listed: Sequence[str]) -> tuple[list[str], list[Diagnostic]]:
    """Return the listed files that may be removed, and a diagnostic for each of the others."""
    removable: list[str] = []
    kept: list[Diagnostic] = []
    folder, at = output
    for path in listed:
        there = read_current(at, path)
        if isinstance(there, str):
            kept.append(_left_alone(folder, path, there))
        elif there is not None and not there.startswith(MARKS):
            kept.append(_left_alone(folder, path, "it does not start with trainc's marker"))
        elif there is not None:
            removable.append(path)
    return removable, kept


def apply(output: Output, changes: Changes) -> tuple[Diagnostic, ...]:
    """Write and remove files; stop at the first error and report it."""
    folder, at = output
    assert at is not None
    path = ""
    try:
        for below in sorted(changes.folders):
            _sweep(at, below, changes.starts)
        listing = changes.write.get(changes.listing)
        if changes.listed is not None:
            path = changes.listing
            replace(at, path, changes.listed)
        with closing(Folders(at, make=True)) as folders:
            for path, data in changes.write.items():
                if path != changes.listing:
                    parent, _, name = path.rpartition("/")
                    replace_at(folders.at(parent), name, data)
        for path in changes.remove:
            remove(at, path)
        if listing is not None and listing != changes.listed:
            path = changes.listing
            replace(at, path, listing)
    except OSError as error:
        return (write_fault(folder, path, error),)
    return ()


def _sweep(folder: int, below: str, starts: Sequence[bytes]) -> None:
    """Remove the temporary files of killed builds from a folder."""
    try:
        at = open_below(folder, below)
    except OSError:
        return  # it does not exist yet, or is not a folder, which the write reports
    try:
        for name in os.listdir(at):
            if name.startswith(".") and name.endswith(PART) and _is_part(content(at, name), starts):
                os.unlink(name, dir_fd=at)
    finally:
        os.close(at)


def _is_part(content: bytes | str | None, starts: Sequence[bytes]) -> bool:
    """Whether a file is the start of an output or of a listing."""
    return isinstance(content, bytes) and any(content.startswith(one) or one.startswith(content) for one in starts)


class Difference(NamedTuple):
    """The old and new text of an output, and their names in a diff."""

    old: str
    new: str
    old_name: str
    new_name: str


def diff(output: Output, changes: Changes) -> Iterator[Difference]:
    """Yield the folder's files that differ from the output of a build."""
    folder, at = output
    wanted: dict[str, bytes] = {path: data for path, data in changes.write.items() if path != changes.listing}
    for path in sorted([*wanted, *(path for path in changes.remove if path != changes.listing)]):
        there = read_current(at, path)
        old = there.decode(errors="replace") if isinstance(there, bytes) else ""
        new = wanted.get(path, b"").decode()
        names = (f"{folder}/{path}" if text else "/dev/null" for text in (old, new))
        yield Difference(old, new, *names)


def listing_of(output: Output) -> tuple[Listing, list[Diagnostic]]:
    """Return the listing of an earlier build, and a diagnostic for each path that cannot be an output.

    A listing that git merged may have a path twice.
    """
    folder, at = output
    data = read_current(at, LISTING)
    if data is None:
        return Listing(), []
    listing = parse(data) if isinstance(data, bytes) else None
    if listing is None:
        return Listing(), [_left_alone(folder, LISTING, "it is not a listing of trainc, so nothing is removed")]
    return listing, [
        _left_alone(folder, str(path), f"{LISTING} lists it, but it is outside the folder")
        for path in listing.outputs
        if not is_below(path)
    ]


def write_fault(folder: str, path: str, error: OSError) -> Diagnostic:
    """Return the diagnostic for an output, or for the folder itself, that cannot be written."""
    return Diagnostic.declared(
        OUTPUT_UNWRITABLE,
        f"cannot be written: {error.strerror}",
        "check permissions and space; every written file is complete",
        place=Location(file=os.path.join(folder, path) if path else folder),
    )


def _incomplete_folder(folder: str, missing: Sequence[str]) -> Diagnostic:
    return Diagnostic.declared(
        PASSTHROUGH_PARTIAL,
        f"also contains documents of {shown(folder, missing)}, which the given paths do not cover",
        "give every path that the folder is built from",
        place=Location(file=os.path.join(folder, PASSED)),
    )


def shown(folder: str, sources: Sequence[str]) -> str:
    """Return the first sources of a listing, relative to the current folder, for a message."""
    first = [
        "standard input" if path == STDIN else os.path.relpath(os.path.join(folder, path))
        for path in sources[:MOST_SHOWN]
    ]
    more = len(sources) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")


def _refuse(folder: str, path: str, why: str) -> Diagnostic:
    return Diagnostic.declared(
        OUTPUT_NOT_OURS,
        f"cannot be replaced by an output: {why}",
        "move it, or use another --output",
        place=Location(file=os.path.join(folder, path)),
    )


def _left_alone(folder: str, path: str, why: str) -> Diagnostic:
    return Diagnostic.declared(
        OUTPUT_LEFT_ALONE,
        f"is not removed: {why}",
        "remove it if it is not needed",
        place=Location(file=os.path.join(folder, path)),
    )
