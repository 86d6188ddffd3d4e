"""The files of an application, and the limits on their number and size. This module opens no file.

Reads    the folders, without following a link out of the root.
Returns  the paths that `generate` reads (.yaml, .yml and .json, without hidden files and duplicates), and a diagnostic
         for an application that is too large. Without limits, one repository could keep the sidecar busy for all
         others; the sidecar has one minute per application. The limit in bytes is Argo CD's limit for folders of plain
         manifests.
Source   Argo CD 3.2.1: argocd-repo-server's --max-combined-directory-manifests-size, 10M.
"""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.files.confine import is_within
from trainc.files.selection import is_manifest
from trainc.files.walk import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.compilation import Run
    from trainc.diagnostics import Diagnostic
    from trainc.files.exclude import Excluded, Patterns

APPLICATION_TOO_LARGE: Final = Declaration("application-too-large", ("read",), trainc_only=True)

MOST_BYTES: Final = 10 << 20
"""The most bytes in all files together."""
MOST_FILES: Final = 10_000


def files_below(
    path: str, root: str, *, exclude: Sequence[Patterns] = (), projects: Iterable[str] = ()
) -> Iterator[str]:
    """Yield the files of a project below a folder in a fixed order; none if the folder is outside the root.

    `projects` are the folders of all projects.
    """
    real, excluded = os.path.realpath(path), None
    if exclude:
        from trainc.files.exclude import Excluded

        excluded = Excluded(exclude)
    if is_within(real, root):
        apart = {os.path.realpath(folder) for folder in projects}
        yield from _files(path, real, root, {real, *apart}, 1, excluded)


def too_many(runs: Iterable[Run], root: str) -> Diagnostic | None:
    """Return the diagnostic of an application that exceeds a limit; a file below two of its paths counts twice.

    The settings files and the files that they name count also if they are not below the paths.
    """
    files, size, most, largest = 0, 0, 0, ""
    for file in chain.from_iterable(_counted(run, root) for run in runs):
        files += 1
        if files > MOST_FILES:
            return _fault(f"has more than {MOST_FILES:,} files")
        try:
            bytes = os.stat(file).st_size
        except OSError:  # `inputs` reports it
            continue
        size += bytes
        if bytes > most:
            most, largest = bytes, file
    if size <= MOST_BYTES:
        return None
    message = f"has {-(-size * 10 >> 20) / 10} MiB of manifests, more than the limit of {MOST_BYTES >> 20} MiB"
    return _fault(message, largest if most > size // 2 else None)


def _counted(run: Run, root: str) -> Iterator[str]:
    """Yield the files of a project, and those that its settings name."""
    environment = run.settings.environment
    named = (*run.settings.files, *(() if environment is None else environment.files))
    counted = [os.path.relpath(os.path.realpath(file)) for file in named]
    known = frozenset(counted)
    for path in (*counted, *run.inputs, *run.runtimes):
        if not os.path.isfile(path):
            yield from (file for file in _project_files(path, root, run) if file not in known)
        elif is_within(os.path.realpath(path), root):
            yield path


def _project_files(path: str, root: str, run: Run) -> Iterator[str]:
    return files_below(path, root, exclude=run.settings.exclude, projects=run.apart.projects)


def _fault(message: str, file: str | None = None) -> Diagnostic:
    """Return the diagnostic, placed at the file that has most of the bytes, if there is one."""
    from trainc.diagnostics import Diagnostic, Location

    return Diagnostic.declared(
        APPLICATION_TOO_LARGE,
        f"the Application {message}",
        "split it into several Applications, or exclude files that are not manifests in trainc.yaml",
        place=None if file is None else Location(file=file),
    )


def _files(folder: str, real: str, root: str, seen: set[str], depth: int, excluded: Excluded | None) -> Iterator[str]:
    """Yield the files below a folder; `real` is its resolved path."""
    try:
        with os.scandir(folder) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
    except OSError:
        return
    prefix, above = "" if folder == os.curdir else folder + os.sep, os.path.join(real, "")
    for entry in entries:
        if entry.name.startswith("."):
            continue
        link = entry.is_symlink()
        below = os.path.realpath(prefix + entry.name) if link else above + entry.name
        if below in seen or (link and not is_within(below, root)):
            continue
        type = _type_of(entry)
        if excluded is not None and excluded.matches(prefix + entry.name, is_folder=link or type == "folder"):
            continue
        if type == "folder":
            if depth < DEEPEST:
                seen.add(below)
                yield from _files(prefix + entry.name, below, root, seen, depth + 1, excluded)
        elif type == "file" and is_manifest(entry.name):
            seen.add(below)
            yield prefix + entry.name


def _type_of(entry: os.DirEntry[str]) -> str:
    try:
        return "folder" if entry.is_dir() else "file" if entry.is_file() else ""
    except OSError:  # a circular link
        return ""
