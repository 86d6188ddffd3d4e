"""The output folder: one file per TrainJob, which names its sources, so that stale ones are pruned.

Every file in the folder that starts with trainc's marker is an output. A build that does not cover the sources of all
stale outputs prunes nothing. A build plans and writes under a lock, so two builds into one folder run one after the
other.

A file is written only if its bytes change, as a temporary file that is renamed, so no file is half-written. A file is
replaced or removed only if it starts with trainc's marker, and no link is followed below the folder.

A build may be killed at any moment. Temporary files have hidden names by which the next build finds and removes them.
No fsync is needed: written data outlives a process. After a power failure outputs may be lost, and the next build
writes them again.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Location
from trainc.files.atomic import PART, Folders, content, open_below, read_current, remove, replace, replace_at
from trainc.files.confine import open_to_write
from trainc.files.output_marks import MARKS, STDIN, is_marked, sources_of
from trainc.files.output_tree import Coverage, tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from trainc.files.exclude import Excluded

OUTPUT_NOT_OURS: Final = Declaration("output-not-ours", ("build",), trainc_only=True)
OUTPUT_SOURCES: Final = Declaration("output-sources", ("build",), trainc_only=True)
OUTPUT_UNEXPECTED: Final = Declaration("output-unexpected", ("build",), trainc_only=True)
OUTPUT_UNWRITABLE: Final = Declaration("output-unwritable", ("build",), trainc_only=True)
PASSTHROUGH_PARTIAL: Final = Declaration("passthrough-partial", ("build",), trainc_only=True)

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
    """The listing of old and new files while files are written; None if the old listing has all of them."""
    folders: frozenset[str] = frozenset()
    """The folders in which a killed run may have left temporary files."""
    kept: tuple[str, ...] = ()
    """Outputs that this build does not write and does not prune, because its paths do not cover all sources."""
    missing: tuple[str, ...] = ()
    """Sources that the paths do not cover: absolute paths, or `-`."""
    unmarked: tuple[str, ...] = ()
    """The other manifests and links in the folder, which trainc did not write and the settings do not keep."""
    diagnostics: tuple[Diagnostic, ...] = ()
    listing: str = ""
    """The name of the listing in `write`; empty if the folder has none."""
    starts: tuple[bytes, ...] = MARKS
    """The starts of all files that trainc writes there."""


def plan(
    output: Output,
    files: Mapping[str, str],
    *,
    paths: Sequence[str],
    whole: bool = False,
    prune: bool = True,
    skip: Collection[str] = (),
    keep: Excluded | None = None,
) -> Changes:
    """Return the changes after which the folder has `files` (relative path -> text), and change nothing.

    Raises OSError for a subfolder that cannot be listed.

    Args:
        output: the folder.
        files: the outputs.
        paths: the PATHs of the command line. Nothing is pruned if they do not cover the sources of all stale outputs.
        whole: whether the build covers all sources in the root.
        prune: False if only some TrainJobs of the paths are compiled.
        skip: subfolders with the outputs of other plans.
        keep: the patterns of other files that stay; None without any.
    """
    folder, at = output
    coverage = Coverage(folder, paths, whole=whole)
    tree = tree_of(at, known=files, skip=skip, is_kept=partial(_is_kept, folder, keep))
    write, refused = _changed_outputs(output, files, coverage)
    stale = {path: coverage.absolute_paths(path, sources) for path, sources in tree.outputs.items()}
    refused += [fault for path, sources in stale.items() if (fault := _sources_fault(coverage, path, sources))]
    missing = uncovered_sources(coverage, chain.from_iterable(stale.values()))
    return Changes(
        write=MappingProxyType(write),
        remove=tuple(stale) if prune and not missing else (),
        folders=tree.interrupted,
        kept=tuple(stale) if prune and missing else (),
        missing=tuple(missing),
        unmarked=tree.others,
        diagnostics=tuple(refused),
    )


def _is_kept(folder: str, keep: Excluded | None, path: str, is_link: bool) -> bool:
    """Return whether the settings keep a file or a link, which may lead to a folder."""
    return keep is not None and keep.matches(os.path.join(folder, path), is_folder=is_link)


def uncovered_sources(coverage: Coverage, sources: Iterable[str]) -> list[str]:
    """Return the sources that a build does not cover."""
    return [source for source in dict.fromkeys(sources) if not coverage.covers(source)]


def _changed_outputs(
    output: Output, files: Mapping[str, str], coverage: Coverage
) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """Return the files to write, and a diagnostic for each file that cannot be replaced."""
    write: dict[str, bytes] = {}
    refused: list[Diagnostic] = []
    if output.at is None:
        return {path: text.encode() for path, text in files.items()}, []
    with closing(Folders(output.at)) as folders:
        for path, text in files.items():
            wanted = text.encode()
            there = folders.read(path)
            if there == wanted:
                continue
            if there is not None and (fault := _replacement_fault(coverage, path, there)):
                refused.append(fault)
            else:
                write[path] = wanted
    return write, refused


def _replacement_fault(coverage: Coverage, path: str, there: bytes | str) -> Diagnostic | None:
    """Return the diagnostic for a file that an output cannot replace."""
    folder = coverage.folder
    if isinstance(there, str):
        return _refuse(folder, path, there)
    if not is_marked(there):
        return _refuse(folder, path, "it was not written by trainc")
    sources = coverage.absolute_paths(path, sources_of(there))
    if fault := _sources_fault(coverage, path, sources):
        return fault
    if path == PASSED and (lost := uncovered_sources(coverage, sources)):
        return _incomplete_folder(folder, lost)
    return None


def _sources_fault(coverage: Coverage, path: str, sources: Sequence[str]) -> Diagnostic | None:
    """Return the diagnostic for a marked file that names no source, or one outside the root."""
    outside = coverage.paths_outside(sources)
    if sources and not outside:
        return None
    message = "starts with trainc's marker, but names no source file"
    if outside:
        message = f"names a source outside {coverage.root}: {outside[0]}"
    return Diagnostic.declared(
        OUTPUT_SOURCES,
        message,
        "remove it and build again",
        place=Location(file=os.path.join(coverage.folder, path)),
    )


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


def unexpected_file(folder: str, path: str) -> Diagnostic:
    """Return the error for a file in an output folder that no build writes."""
    return Diagnostic.declared(
        OUTPUT_UNEXPECTED,
        "is in the output folder, but the build does not write it; it would be applied with the outputs",
        "remove it, or add its path in the output folder to `keep` in trainc.yaml",
        place=Location(file=os.path.join(folder, path)),
    )


def write_fault(folder: str, path: str, error: OSError) -> Diagnostic:
    """Return the diagnostic for an output, or for the folder itself, that cannot be written."""
    return Diagnostic.declared(
        OUTPUT_UNWRITABLE,
        f"cannot be written: {error.strerror}",
        "write the file that the link leads to"
        if error.errno == errno.ELOOP
        else "check permissions and space; every written file is complete",
        place=Location(file=os.path.join(folder, path) if path else folder),
    )


def _incomplete_folder(folder: str, missing: Sequence[str]) -> Diagnostic:
    return Diagnostic.declared(
        PASSTHROUGH_PARTIAL,
        f"also contains documents of {shown(missing)}, which the given paths do not cover",
        "give every path that the folder is built from",
        place=Location(file=os.path.join(folder, PASSED)),
    )


def shown(sources: Sequence[str]) -> str:
    """Return the first sources, relative to the current folder, for a message."""
    from trainc.base.texts import first_of

    return first_of(["standard input" if path == STDIN else os.path.relpath(path) for path in sources], MOST_SHOWN)


def _refuse(folder: str, path: str, why: str) -> Diagnostic:
    return Diagnostic.declared(
        OUTPUT_NOT_OURS,
        f"cannot be replaced by an output: {why}",
        "move it, or use another --output",
        place=Location(file=os.path.join(folder, path)),
    )
