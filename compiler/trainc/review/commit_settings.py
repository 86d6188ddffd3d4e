"""Commit settings: the settings of a project at a commit.

Reads    a settings file of a commit, and the files that it extends, which are those of the same commit.
Returns  the settings, with git's names of the files.
"""

from __future__ import annotations

import errno
import os
from functools import partial
from typing import TYPE_CHECKING

from trainc.files.inputs import LARGEST_SETTINGS, LINK_OUT, File, fault
from trainc.review.git_objects import FOLDER, MODULE
from trainc.review.revisions import CommitLinkError
from trainc.settings import load_file
from trainc.settings.extending import FileSource

if TYPE_CHECKING:
    from trainc.diagnostics import Diagnostic
    from trainc.review.revisions import Commit
    from trainc.settings import Settings


def settings_of(commit: Commit, file: File) -> Settings:
    """Return the settings of a file of a commit."""
    source = FileSource(partial(_read, commit), partial(_resolved, commit))
    return load_file(file, commit.path_of(file), source, root=commit.top)


def _resolved(commit: Commit, path: str) -> str:
    return os.path.normpath(os.path.join(commit.top, commit.real_path(path)))


def _read(commit: Commit, path: str) -> File | Diagnostic:
    """Return the file that has a path in the working tree, with the messages of `inputs.settings`."""
    inside = commit.path_in_repository(path) or ""
    name = commit.named(inside)
    try:
        real = commit.resolved(inside)
    except CommitLinkError:
        return fault(
            name, "is a link to a target outside the repository", "copy the file into the repository", declared=LINK_OUT
        )
    entry = None if real is None else commit.entry(real)
    if entry is None:
        reason = os.strerror(errno.ENOENT)
        return fault(name, f"cannot be read: {reason}", "check the path and its permissions")
    if entry.mode in {FOLDER, MODULE}:
        return fault(name, "is a folder", "use a file with settings")
    [content] = commit.objects.blobs([entry.object], most=LARGEST_SETTINGS)
    if isinstance(content, int):
        return fault(name, f"is {content >> 20} MiB, more than the limit of {LARGEST_SETTINGS >> 20} MiB", "split it")
    commit.read[real or inside] = content
    return File(name, content)
