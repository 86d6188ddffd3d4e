"""The folder of pinned runtimes: the changes after which it has the runtimes of a cluster.

Reads    the folder, its listing, and the files that it must have.
Returns  the changes, in the form that `outputs` writes: under a lock, each file atomically, through no link. A file
         that was edited by hand is kept. A file that is not in the listing is not replaced, and nothing is written. The
         listing is untrusted. It has a digest of each file to detect edits: two while a pull is writing, because it may
         be killed before or after the file.
"""

from __future__ import annotations

import os
from contextlib import closing
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic, Location
from trainc.files.atomic import Folders, read_current
from trainc.files.outputs import Changes
from trainc.pinning.manifests import MARK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainc.files.outputs import Output


PINNED_RUNTIME_EDITED: Final = Declaration("pinned-runtime-edited", ("read",), severity="warning", trainc_only=True)
PINNED_RUNTIME_TAKEN: Final = Declaration("pinned-runtime-taken", ("read",), trainc_only=True)
NAME: Final = ".trainc-runtimes"
"""It has no suffix, because kubectl and Argo CD read every .json file in a folder as a manifest, even a hidden one."""
BEGINS: Final = b'{\n  "runtimes": '
"""The start of every listing."""
_STARTS: Final = (MARK.encode(), BEGINS)
_NO_REGULAR_FILE: Final = "remove it"


class _Plan:
    """The changes, file by file."""

    def __init__(self, output: Output, *, force: bool) -> None:
        self.folder, self.at = output
        self.force = force
        self.write: dict[str, bytes] = {}
        self.remove: list[str] = []
        self.kept: list[str] = []
        self.diagnostics: list[Diagnostic] = []
        self.old: Digests = self._listed()
        self.new: Digests = {}

    def _listed(self) -> Digests:
        """Return the listing of the last pull; if it is broken, no file counts as pinned."""
        data = read_current(self.at, NAME)
        found = parse(data) if isinstance(data, bytes) else None
        if data is None or found is not None:
            return found or {}
        if isinstance(data, str) or not self.force:
            message = f"cannot be read: {data}" if isinstance(data, str) else "is not a listing of pinned runtimes"
            help = _NO_REGULAR_FILE if isinstance(data, str) else "restore it from git, or replace it with --force"
            self._plan_conflict(NAME, message, help)
        return {}

    def plan_file(self, path: str, data: bytes, there: bytes | str | None) -> None:
        """Plan a file that the folder must have; `there` is its content, or the reason why it is not read."""
        self.new[path] = (digest(data),)
        if isinstance(there, str):
            self._plan_conflict(path, f"cannot be replaced by a pinned runtime: {there}", _NO_REGULAR_FILE)
        elif there is not None and unix(there) == data:
            return
        elif there is None or self.force or self._is_pinned(path, there):
            self.write[path] = data
        elif path in self.old:
            self._edited(path, "differs from the runtime and was edited by hand: it is kept")
        else:
            help = "move it, overwrite it with --force, or use another --output"
            self._plan_conflict(path, "cannot be replaced by a pinned runtime: trainc did not pull it", help)

    def plan_removal(self, path: str, there: bytes | str | None) -> None:
        """Plan a listed file whose runtime is gone."""
        if there is None:
            return
        if isinstance(there, str):
            self._edited(path, f"is not removed: {there}", "remove it")
        elif self.force or self._is_pinned(path, there):
            self.remove.append(path)
        else:
            self._edited(path, "is not removed: its runtime is gone, but it was edited by hand")

    def changes(self) -> Changes:
        """Return the changes to all files and the listing."""
        final, data = render(self.new), read_current(self.at, NAME)
        during = {path: tuple(dict.fromkeys((*self.old.get(path, ()), *found))) for path, found in self.new.items()}
        writes = {**self.write, **({NAME: final} if data != final else {})}
        return Changes(
            write=MappingProxyType(writes),
            remove=tuple(self.remove),
            listed=render({**self.old, **during}) if self.write else None,
            folders=frozenset(path.rpartition("/")[0] for path in ("", *self.old, *self.new)),
            kept=tuple(self.kept),
            diagnostics=tuple(self.diagnostics),
            listing=NAME,
            starts=_STARTS,
        )

    def _is_pinned(self, path: str, there: bytes) -> bool:
        """Whether a file is as trainc has written it."""
        return digest(there) in self.old.get(path, ()) and there.startswith(MARK.rstrip("\n").encode())

    def _edited(self, path: str, message: str, help: str = "") -> None:
        self.new[path] = self.old[path]
        self.kept.append(path)
        place = Location(file=os.path.join(self.folder, path))
        help = help or "compare it with --check, and replace it with --force"
        self.diagnostics.append(Diagnostic.declared(PINNED_RUNTIME_EDITED, message, help, place=place))

    def _plan_conflict(self, path: str, message: str, help: str) -> None:
        place = Location(file=os.path.join(self.folder, path))
        self.diagnostics.append(Diagnostic.declared(PINNED_RUNTIME_TAKEN, message, help, place=place))


def plan(output: Output, files: Mapping[str, str], *, force: bool) -> Changes:
    """Return the changes after which the folder has `files` (relative path -> text), and change nothing.

    Args:
        output: the folder, opened by `outputs.opened`.
        files: one file per runtime.
        force: whether to replace files that were edited by hand or that trainc did not write. Links, folders and
            other special files are never replaced.
    """
    planned = _Plan(output, force=force)
    stale = [path for path in planned.old if path not in files]
    there = _contents(output, [*files, *stale])
    for path, text in files.items():
        planned.plan_file(path, text.encode(), there[path])
    for path in stale:
        planned.plan_removal(path, there[path])
    return planned.changes()


def _contents(output: Output, paths: Sequence[str]) -> dict[str, bytes | str | None]:
    """Return the content of each file, or the reason why it is not read."""
    if output.at is None:
        return dict.fromkeys(paths)
    with closing(Folders(output.at)) as folders:
        return {path: folders.read(path) for path in paths}


Digests = dict[str, tuple[str, ...]]
"""Digests by path in the folder, with `/` as the separator."""
_NO_NAMES: Final = frozenset(("", ".", ".."))
"""Path segments that do not name an entry of a folder."""


def digest(data: bytes) -> str:
    """Return the digest of a file, which does not depend on the line endings of a checkout."""
    from hashlib import sha256

    return f"sha256:{sha256(unix(data)).hexdigest()}"


def unix(data: bytes) -> bytes:
    """Return a file with Unix line endings: git may check it out with others."""
    return data.replace(b"\r\n", b"\n")


def parse(data: bytes) -> Digests | None:
    """Return the digests in a listing; None if the bytes are not a listing."""
    import json

    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    files = value.get("runtimes") if isinstance(value, dict) else None
    if not isinstance(files, dict):
        return None
    found = {path: _digests(value) for path, value in files.items() if _is_below(path)}
    return found if len(found) == len(files) and all(found.values()) else None


def _is_below(path: object) -> bool:
    """Whether an untrusted value is a path that stays inside the folder."""
    if not isinstance(path, str):
        return False
    try:
        path.encode()
    except UnicodeEncodeError:  # JSON has escapes for half a character
        return False
    return "\0" not in path and _NO_NAMES.isdisjoint(path.split("/"))


def _digests(value: object) -> tuple[str, ...]:
    """Return the digests of one file; empty if the value is invalid."""
    values: list[object] = value if isinstance(value, list) else [value]
    valid = tuple(one for one in values if isinstance(one, str) and one.startswith("sha256:"))
    return valid if len(valid) == len(values) else ()


def render(digests: Mapping[str, tuple[str, ...]]) -> bytes:
    """Return the bytes of a listing."""
    import json

    files = {path: found[0] if len(found) == 1 else list(found) for path, found in sorted(digests.items())}
    return (json.dumps({"runtimes": files}, indent=2) + "\n").encode()
