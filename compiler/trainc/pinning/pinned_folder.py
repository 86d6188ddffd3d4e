"""The folder of pinned runtimes: the changes after which it has the runtimes of a cluster.

Reads    the folder, its listing, and the files that it must have.
Returns  the changes, in the form that `outputs` writes: under a lock, each file atomically, through no link. A file
         that was edited by hand is kept. A file that is not in the listing is not replaced, and nothing is written.
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
from trainc.pinning import pinned_listing
from trainc.pinning.manifests import MARK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainc.files.outputs import Output

PINNED_RUNTIME_EDITED: Final = Declaration(
    "pinned-runtime-edited", ("read",), "Pinned runtime was edited by hand", severity="warning", trainc_only=True
)
PINNED_RUNTIME_TAKEN: Final = Declaration(
    "pinned-runtime-taken", ("read",), "Pinned runtime would replace another file", trainc_only=True
)
_STARTS: Final = (MARK.encode(), pinned_listing.BEGINS)
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
        self.old: pinned_listing.Digests = self._listed()
        self.new: pinned_listing.Digests = {}

    def _listed(self) -> pinned_listing.Digests:
        """Return the listing of the last pull; if it is broken, no file counts as pinned."""
        data = read_current(self.at, pinned_listing.NAME)
        found = pinned_listing.parse(data) if isinstance(data, bytes) else None
        if data is None or found is not None:
            return found or {}
        if isinstance(data, str) or not self.force:
            message = f"cannot be read: {data}" if isinstance(data, str) else "is not a listing of pinned runtimes"
            help = _NO_REGULAR_FILE if isinstance(data, str) else "restore it from git, or replace it with --force"
            self._plan_conflict(pinned_listing.NAME, message, help)
        return {}

    def plan_file(self, path: str, data: bytes, there: bytes | str | None) -> None:
        """Plan a file that the folder must have; `there` is its content, or the reason why it is not read."""
        self.new[path] = (pinned_listing.digest(data),)
        if isinstance(there, str):
            self._plan_conflict(path, f"cannot be replaced by a pinned runtime: {there}", _NO_REGULAR_FILE)
        elif there is not None and pinned_listing.unix(there) == data:
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
        final, data = pinned_listing.render(self.new), read_current(self.at, pinned_listing.NAME)
        during = {path: tuple(dict.fromkeys((*self.old.get(path, ()), *found))) for path, found in self.new.items()}
        writes = {**self.write, **({pinned_listing.NAME: final} if data != final else {})}
        return Changes(
            write=MappingProxyType(writes),
            remove=tuple(self.remove),
            listed=pinned_listing.render({**self.old, **during}) if self.write else None,
            folders=frozenset(path.rpartition("/")[0] for path in ("", *self.old, *self.new)),
            kept=tuple(self.kept),
            diagnostics=tuple(self.diagnostics),
            listing=pinned_listing.NAME,
            starts=_STARTS,
        )

    def _is_pinned(self, path: str, there: bytes) -> bool:
        """Whether a file is as trainc has written it."""
        return pinned_listing.digest(there) in self.old.get(path, ()) and there.startswith(MARK.rstrip("\n").encode())

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
