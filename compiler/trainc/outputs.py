"""The output folder: one file a TrainJob, and a list of what was written, so that what is no longer made is removed.

Nothing is half-written: a file is written beside its place and renamed into it, and only when its bytes changed.
Nothing of anybody else is touched: a file is replaced or removed only where it begins with trainc's mark, and no link
is followed below the folder.

A build may be killed at any moment. Whatever it has written is listed before it is written, and what it was writing
has a hidden name, by which the next build finds and removes it. That needs no fsync: what a process has written
outlives it; a machine that loses its power may lose outputs, which the next build makes anew.
"""

from __future__ import annotations

import os
import stat
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic, Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
_PIECE: Final = 2**20
_PLAIN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""How a file is opened to be read: no link is followed, and no pipe waited for."""
PART: Final = ".trainc-part"
"""How the name of a file ends, hidden by a `.` at its start, that is being written."""


@dataclass(slots=True, kw_only=True)
class Changes:
    """What a build would do to a folder: relative paths, `/` between their parts."""

    write: dict[str, bytes] = field(default_factory=dict, repr=False)
    remove: list[str] = field(default_factory=list)
    listed: bytes | None = field(default=None, repr=False)
    """The list for as long as files are written: of the old ones and the new ones. None where the old one will do."""
    folders: set[str] = field(default_factory=set)
    """All folders that hold outputs, old and new ones, also where none of these changes."""
    diagnostics: list[Diagnostic] = field(default_factory=list)


def plan(folder: str, files: Mapping[str, str], *, prune: bool) -> Changes:
    """What has to change for `folder` to hold `files` (relative path -> text). Reads only."""
    if fault := _no_folder(folder):
        return Changes(diagnostics=[fault])
    changes = Changes()
    # Of two lists that git has merged, one path may be there twice.
    listed = dict.fromkeys(_listed(folder, changes.diagnostics) if os.path.isdir(folder) else ())
    with closing(_Folders(folder)) as folders:
        for path, text in files.items():
            wanted = (MARK + text).encode()
            there = folders.current(path)
            if there == wanted:
                continue
            if isinstance(there, str):
                changes.diagnostics.append(_refuse(folder, path, there))
            elif there is not None and not there.startswith(MARK.encode()):
                changes.diagnostics.append(_refuse(folder, path, "it was not written by trainc"))
            else:
                changes.write[path] = wanted
    others = [path for path in listed if path not in files]
    if prune:
        changes.remove += [path for path in others if _ours(folder, path, changes.diagnostics)]
    listing = _listing([*files, *([] if prune else others)])
    if _current(folder, LISTING) != listing and (files or listed):
        changes.write[LISTING] = listing
    if not files.keys() <= listed.keys():
        changes.listed = _listing([*files, *others])
    changes.folders = {path.rpartition("/")[0] for path in ("", *files, *others)}
    return changes


def apply(folder: str, changes: Changes) -> list[Diagnostic]:
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
            with closing(_Folders(folder, make=True)) as folders:
                for path, data in changes.write.items():
                    if path != LISTING:
                        parent, _, name = path.rpartition("/")
                        _replace(folders.at(parent), name, data)
            for path in changes.remove:
                _remove(folder, path)
            if listing is not None and listing != changes.listed:
                path = LISTING
                replace(folder, path, listing)
    except OSError as error:
        return [_unwritable(folder, path, error)]
    return []


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
        at = _open_below(folder, below)
    except OSError:
        return  # it is not there yet, or no folder, which writing to it will tell
    try:
        for name in os.listdir(at):
            if name.startswith(".") and name.endswith(PART) and _is_part(_content(at, name)):
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
        there = _current(folder, path)
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


def _listed(folder: str, found: list[Diagnostic]) -> Iterator[str]:
    """The paths that an earlier build listed and that may be looked at."""
    import json

    data = _current(folder, LISTING)
    if data is None:
        return
    try:
        paths = json.loads(data)["outputs"] if isinstance(data, bytes) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        paths = None
    if not isinstance(paths, list):
        found.append(_left_alone(folder, LISTING, "it is no list of trainc's; nothing is removed"))
        return
    for path in paths:
        if isinstance(path, str) and _is_below(path):
            yield path
        else:
            found.append(_left_alone(folder, str(path), f"{LISTING} lists it, but it leads out of the folder"))


def _is_below(path: str) -> bool:
    """Whether a path, whoever wrote it, can only be of something in the folder."""
    try:
        path.encode()
    except UnicodeEncodeError:  # JSON has escapes for half a character
        return False
    return "\0" not in path and _NO_NAMES.isdisjoint(path.split("/"))


def _ours(folder: str, path: str, found: list[Diagnostic]) -> bool:
    """Whether a listed file is there and may be removed."""
    there = _current(folder, path)
    if isinstance(there, str):
        found.append(_left_alone(folder, path, there))
    elif there is not None and not there.startswith(MARK.encode()):
        found.append(_left_alone(folder, path, "it does not begin with trainc's mark"))
    return isinstance(there, bytes) and there.startswith(MARK.encode())


def _open_below(folder: str, path: str, *, make: bool = False) -> int:
    """A descriptor of the folder at `path`, which may be ""; no link below `folder` is followed. Raises OSError."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for part in path.split("/") if path else ():
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=at)
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
        finally:
            os.close(at)
        at = below
    return at


class _Folders:
    """The folders of some files: each is opened, or missed, once for all of its files that come one after another."""

    def __init__(self, folder: str, *, make: bool = False) -> None:
        self._folder = folder
        self._make = make
        self._path = ""
        self._at: int | None = None
        self._missing: str | None = None

    def at(self, path: str) -> int:
        """A descriptor of the folder at `path`, for as long as no other is asked for. Raises OSError."""
        if self._at is None or path != self._path:
            self.close()
            self._at, self._path = _open_below(self._folder, path, make=self._make), path
        return self._at

    def current(self, path: str) -> bytes | str | None:
        """The bytes of a file; None where there is none; why it is not looked at, where it is no plain file."""
        parent, _, name = path.rpartition("/")
        if parent == self._missing:
            return None
        try:
            at = self.at(parent)
        except FileNotFoundError:
            self._missing = parent
            return None
        except OSError:
            return "its folder is a link or no folder"
        return _content(at, name)

    def close(self) -> None:
        """Close what is open."""
        if self._at is not None:
            os.close(self._at)
            self._at = None


def _current(folder: str, path: str) -> bytes | str | None:
    """As `_Folders.current`, of one file."""
    with closing(_Folders(folder)) as folders:
        return folders.current(path)


def _content(at: int, name: str) -> bytes | str | None:
    """As `_Folders.current`, of a file in the folder of a descriptor."""
    try:
        opened = os.open(name, _PLAIN, dir_fd=at)
    except FileNotFoundError:
        return None
    except OSError:
        return "it is a link, or cannot be read"
    try:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            return "it is no plain file"
        data = os.read(opened, status.st_size + 1)
        if len(data) != status.st_size:  # it changes, or the system gives it piece by piece
            while more := os.read(opened, _PIECE):
                data += more
        return data
    finally:
        os.close(opened)


def replace(folder: str, path: str, data: bytes) -> None:
    """Write a file below a folder, whole or not at all. Raises OSError."""
    parent, _, name = path.rpartition("/")
    with closing(_Folders(folder, make=True)) as folders:
        _replace(folders.at(parent), name, data)


def _replace(at: int, name: str, data: bytes) -> None:
    """As `replace`, of a file in the folder of a descriptor."""
    part = f".{name}.{os.getpid()}{PART}"
    opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=at)
    try:
        try:
            while data:  # a disk that is almost full takes a piece before it refuses
                data = data[os.write(opened, data) :]
        finally:
            os.close(opened)
        os.rename(part, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        os.unlink(part, dir_fd=at)
        raise


def _remove(folder: str, path: str) -> None:
    """Remove a file, and its folder when that is empty then."""
    parent, _, name = path.rpartition("/")
    at = _open_below(folder, parent)
    try:
        os.unlink(name, dir_fd=at)
    finally:
        os.close(at)
    if parent:
        above, _, name = parent.rpartition("/")
        at = _open_below(folder, above)
        try:
            os.rmdir(name, dir_fd=at)
        except OSError:
            return  # not empty: somebody else's files are in it
        finally:
            os.close(at)


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
        "remove it by hand if nobody needs it",
        place=Location(file=os.path.join(folder, path)),
    )
