"""Checkouts: the files of a commit whose content git changes when it checks them out.

Reads    the .gitattributes of a commit in the folders above the files that a review has read.
Returns  a diagnostic for each attribute that changes such a file, because a review reads git's objects, while Argo CD,
         Flux and CI deploy a checkout. git itself reads the attributes, in a temporary repository whose index has only
         the .gitattributes. Those outside the commit (`info/attributes`) have no effect.
Source   git 2.39: gitattributes(5), convert.c.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from trainc.files import attributes
from trainc.files.attributes import READ, AttributedFile
from trainc.files.inputs import ATTRIBUTES
from trainc.review.commits.git_objects import FOLDER, MODULE
from trainc.review.temporary_repository import TemporaryRepository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Diagnostic
    from trainc.review.commits import Commit
    from trainc.review.sides import SideSpec


def faults(old: SideSpec, new: SideSpec, prefix: str) -> Iterator[Diagnostic]:
    """Yield the errors of the new side, and those that only the old side has as warnings with a prefix."""
    ours = [] if new.commit is None else [*_faults(new.commit)]
    yield from ours
    known = {fault.message for fault in ours}
    for fault in () if old.commit is None else _faults(old.commit):
        if fault.message not in known:
            yield fault._replace(severity="warning", message=prefix.format(old.name) + fault.message)


def _faults(commit: Commit) -> Iterator[Diagnostic]:
    """Yield an error for each attribute that changes files that were read of a commit, at the first of them."""
    lists = _attribute_files(commit)
    if not lists:
        return
    repository = commit.repository or TemporaryRepository()
    index = b"".join(b"100644 %s\t%s\0" % (object.encode(), os.fsencode(path)) for path, object in lists.items())
    repository.checked("update-index", "-z", "--index-info", stdin=index)
    names = b"".join(os.fsencode(path) + b"\0" for path in commit.read)
    found = repository.checked("check-attr", "--cached", "--stdin", "-z", *READ, stdin=names)
    yield from attributes.faults(_attributed(commit, os.fsdecode(found).split("\0")[:-1]))


def _attributed(commit: Commit, words: list[str]) -> Iterator[AttributedFile]:
    """Yield the files of a commit; `words` are the path, the name and the value of each attribute, in their order."""
    for at in range(0, len(words), 3 * len(READ)):
        path, of_file = words[at], words[at : at + 3 * len(READ)]
        values = dict(zip(of_file[1::3], of_file[2::3], strict=True))
        yield AttributedFile(path, commit.named(path), values, partial(commit.read.__getitem__, path))


def _attribute_files(commit: Commit) -> dict[str, str]:
    """Return the objects of the .gitattributes in the folders above the files that were read, by path."""
    folders = {""}
    for path in commit.read:
        at = path.rpartition("/")[0]
        while at not in folders:
            folders.add(at)
            at = at.rpartition("/")[0]
    paths = (f"{folder}/{ATTRIBUTES}" if folder else ATTRIBUTES for folder in sorted(folders))
    entries = ((path, commit.entry(path)) for path in paths)
    # To git, a link in the index is a file with its target as the content.
    return {path: entry.object for path, entry in entries if entry is not None and entry.mode not in {FOLDER, MODULE}}
