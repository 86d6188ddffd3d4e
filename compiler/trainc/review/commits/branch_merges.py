"""Merges: the tree that `git merge` makes of two commits, which is what a pull request deploys; and its checkout.

Reads    two commits; the .gitattributes of a commit in the folders above the files that a review has read.
Returns  the two sides of a review: the base, and the merge of the branch into it. Where git cannot merge, the branch is
         compared with its merge base, and the name of the old side says why. `faults` returns a diagnostic for each
         attribute that changes a file when git checks it out, because a review reads git's objects, while Argo CD, Flux
         and CI deploy a checkout. Attributes outside the commit (`info/attributes`) have no effect.
Source   git 2.38: `merge-tree --write-tree`; git 2.39: gitattributes(5), convert.c.

git merges, and reads the attributes, in a temporary repository without configuration, attributes and hooks, so that the
result depends on the commits alone.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.declarations import Declaration
from trainc.base.texts import first_of
from trainc.diagnostics import Diagnostic
from trainc.files import attributes
from trainc.files.attributes import READ, AttributedFile
from trainc.files.inputs import ATTRIBUTES
from trainc.review.commits import Commit, commit
from trainc.review.commits.git_objects import FOLDER, MODULE, RevisionError, TemporaryRepository, asked, succeeded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


SHOWN: Final = 5
"""The maximum number of files of a conflict that a message names."""
CONFLICT: Final = 1
USAGE: Final = 129
"""The exit codes of `git merge-tree` for a conflict, and of git for an unknown option."""


MERGE_CONFLICT: Final = Declaration("merge-conflict", ("read",), trainc_only=True)


class MergeConflictError(Exception):
    """Two revisions with a conflict."""

    def __init__(self, base: str, branch: str, files: Sequence[str]) -> None:
        """`files` are those of the conflict."""
        message = f"{base} and {branch} conflict in {first_of(files, SHOWN)}"
        super().__init__(message)
        self.diagnostic = Diagnostic.declared(
            MERGE_CONFLICT,
            message,
            f"merge {base} into the branch and resolve the conflict, or compare {base}..{branch}",
        )


class Merge(NamedTuple):
    """The sides of a review of a branch, and their names."""

    base: Commit
    base_name: str
    merged: Commit
    merged_name: str


def merge(base: str, branch: str) -> Merge:
    """Return the merge of a branch into a base. Raises MergeConflictError, or RevisionError if git cannot tell."""
    old, new = commit(base), commit(branch)
    shallow, *ends = asked("--is-shallow-repository", f"{old.commit}...{new.commit}").split("\n")
    bases = [end[1:] for end in ends if end.startswith("^")]
    is_shallow = shallow == "true"
    if not bases:
        history = ": the clone is shallow; fetch the history of both" if is_shallow else ""
        raise RevisionError(f"{base} and {branch} have no merge base{history}")
    name = f"merge of {branch}"
    if old.commit in bases:  # the merge is a fast-forward
        return Merge(old, base, new, name)
    why = "shallow clone"
    if not is_shallow:
        tree = _merged_tree(old, new)
        if tree is not None:
            return Merge(old, base, tree, name)
        why = "git is older than 2.38"
    if len(bases) > 1:
        help = "fetch the whole history" if is_shallow else "use git 2.38 or later"
        raise RevisionError(f"{base} and {branch} have {len(bases)} merge bases, and cannot be merged ({why}); {help}")
    ancestor = Commit(base, bases[0], old.top, old.folder)
    return Merge(ancestor, f"merge base of {base} and {branch} ({why})", new, branch)


def _merged_tree(old: Commit, new: Commit) -> Commit | None:
    """Return the merge of two commits; None if git is too old to make it."""
    repository = TemporaryRepository()
    options = ("--write-tree", "--name-only", "--no-messages", "-z")
    done = repository.run("merge-tree", *options, old.commit, new.commit)
    tree, *files = os.fsdecode(done.stdout).removesuffix("\0").split("\0")
    if done.returncode == USAGE:
        return None
    if done.returncode == CONFLICT and tree:
        raise MergeConflictError(old.revision, new.revision, sorted({file for file in files if file}))
    try:
        succeeded(done)
    except RevisionError as error:
        raise RevisionError(f"git cannot merge {old.revision} and {new.revision}: {error}") from None
    revision = f"{old.revision}...{new.revision}"
    return Commit(revision, tree, old.top, old.folder, repository)


def faults(old: Commit | None, new: Commit | None, prefix: str) -> Iterator[Diagnostic]:
    """Yield the errors of the new commit, and those that only the old one has as warnings with a prefix."""
    ours = [] if new is None else [*_faults(new)]
    yield from ours
    known = {fault.message for fault in ours}
    for fault in () if old is None else _faults(old):
        if fault.message not in known:
            yield fault._replace(severity="warning", message=prefix + fault.message)


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
