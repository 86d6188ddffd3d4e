"""Contents that are not on the disk, such as an editor's, laid over the files of a run.

Reads    the files of the paths from the disk.
Returns  the same files with other contents, and the files that are only in the contents: those that a command would
         read if they were saved.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from trainc.files import inputs
from trainc.files.confine import is_within, resolved
from trainc.files.selection import Roles
from trainc.files.walk import READ_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Protocol

    from trainc.diagnostics import Diagnostic
    from trainc.files.selection import Selection

    class Reader(Protocol):
        """`inputs.read`, or a function with the same arguments."""

        def __call__(
            self, paths: Iterable[str], selection: Selection = ..., **options: Any
        ) -> Iterator[inputs.File | Diagnostic]:
            """Yield the files of the paths."""


def laid_over(contents: Mapping[str, bytes]) -> Reader:
    """Return a reader that has the contents of some files, and reads all others from the disk.

    The paths of the contents are absolute, or relative to the current folder. The environments of a project, which read
    the same files, share them.
    """
    known = {resolved(path): data for path, data in contents.items()}
    names = frozenset(map(os.path.basename, known))
    before: list[tuple[object, list[inputs.File | Diagnostic]]] = []

    def read(
        paths: Iterable[str], selection: Selection = inputs.ALL, **options: Any
    ) -> Iterator[inputs.File | Diagnostic]:
        paths = list(paths)
        key = (paths, selection, options)
        again = next((files for other, files in before if other == key and selection.leave_out is None), None)
        if again is not None:
            yield from again
            return
        files: list[inputs.File | Diagnostic] = []
        for file in _read(paths, selection, **options):
            files.append(file)
            yield file
        before.append((key, files))

    def _read(paths: list[str], selection: Selection, **options: Any) -> Iterator[inputs.File | Diagnostic]:
        left = {path: data for path, data in known.items() if not os.path.lexists(path)}
        given = {path: left.pop(real) for path in paths if path != inputs.STDIN and (real := resolved(path)) in left}
        for file in inputs.read([path for path in paths if path not in given], selection, **options):
            if isinstance(file, inputs.File) and os.path.basename(file.path) in names:
                yield file._replace(data=known.get(resolved(file.path), file.data))
            else:
                yield file
        yield from (inputs.File(path, data) for path, data in given.items())
        if left:
            yield from _unsaved_files(paths, left, Roles(selection, paths, resolved))

    return read


def _unsaved_files(paths: Iterable[str], left: Mapping[str, bytes], roles: Roles) -> Iterator[inputs.File]:
    """Yield the contents of files below the paths that are not on the disk."""
    folders = [path for path in paths if path != inputs.STDIN and os.path.isdir(path)]
    for real, data in left.items():
        folder = next((path for path in folders if is_within(real, resolved(path))), None)
        if folder is not None and (name := _read_as(real, folder, roles)) is not None:
            shown, is_output = name
            yield inputs.File(shown, data, found=True, output=is_output)


def _read_as(real: str, folder: str, roles: Roles) -> tuple[str, bool] | None:
    """Return the path that messages show, and whether it is an output, of a file that a walk would read."""
    steps = os.path.relpath(real, resolved(folder)).split(os.sep)
    shown, at, role = "" if folder == os.curdir else folder, resolved(folder), ""
    for number, step in enumerate(steps, 1):
        shown, at = os.path.join(shown, step), os.path.join(at, step)
        role = roles.role(step, shown, at, is_file=number == len(steps), is_folder=number < len(steps))
        if role not in READ_ROLES:
            return None
    return shown, role == "output"
