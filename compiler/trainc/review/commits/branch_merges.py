"""Merges: the tree that `git merge` makes of two commits, which is what a pull request deploys.

Reads    two commits.
Returns  the two sides of a review: the base, and the merge of the branch into it.

The merge is made in a temporary repository, so that it depends on the commits alone. Where git cannot merge, the branch
is compared with its merge base, and the name of the old side says why.
Source   git 2.38: `merge-tree --write-tree`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic
from trainc.review.commits import Commit, commit
from trainc.review.commits.git_objects import RevisionError
from trainc.review.temporary_repository import TemporaryRepository, asked, succeeded

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN: Final = 5
"""The maximum number of files of a conflict that a message names."""
CONFLICT: Final = 1
USAGE: Final = 129
"""The exit codes of `git merge-tree` for a conflict, and of git for an unknown option."""


MERGE_CONFLICT: Final = Declaration("merge-conflict", ("read",), "Revisions that git cannot merge", trainc_only=True)


class MergeConflictError(Exception):
    """Two revisions with a conflict."""

    def __init__(self, base: str, branch: str, files: Sequence[str]) -> None:
        """`files` are those of the conflict."""
        shown = ", ".join(files[:SHOWN]) + (f" and {len(files) - SHOWN} more" if len(files) > SHOWN else "")
        message = f"{base} and {branch} conflict in {shown}"
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
