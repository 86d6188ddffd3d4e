"""Merges: the tree that `git merge` makes of two commits, which is what a pull request deploys.

Reads    two commits, in a temporary repository that has only the objects of theirs.
Returns  the two sides of a review: the base, and the merge of the branch into it.

The temporary repository has no configuration, attributes, index or hooks, so that the merge depends on the commits
alone and starts no other program, such as a merge driver. It is removed with the objects that the merge writes. Where
git cannot merge, the branch is compared with its merge base, and the name of the old side says why.
Source   git 2.38: `merge-tree --write-tree`.
"""

from __future__ import annotations

import os
import subprocess
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic
from trainc.review.git_objects import OPTIONS, SAFE, Objects, RevisionError
from trainc.review.revisions import Commit, commit, parsed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS: Final = 30
"""The longest time of a merge. A tree that has itself in ten folders, ten times over, costs git more."""
SHOWN: Final = 5
"""The maximum number of files of a conflict that a message names."""
SHA256_LENGTH: Final = 64
"""The hexadecimal digits of an object's name in a repository with SHA-256."""
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
    shallow, *ends = parsed("--is-shallow-repository", f"{old.commit}...{new.commit}").split("\n")
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
        tree = _merged_tree(old, new, os.path.abspath(parsed("--git-path", "objects")))
        if tree is not None:
            return Merge(old, base, tree, name)
        why = "git is older than 2.38"
    if len(bases) > 1:
        help = "fetch the whole history" if is_shallow else "use git 2.38 or later"
        raise RevisionError(f"{base} and {branch} have {len(bases)} merge bases, and cannot be merged ({why}); {help}")
    ancestor = Commit(base, bases[0], old.top, old.folder)
    return Merge(ancestor, f"merge base of {base} and {branch} ({why})", new, branch)


def _merged_tree(old: Commit, new: Commit, objects: str) -> Commit | None:
    """Return the merge of two commits, whose objects are in a folder; None if git is too old to make it."""
    try:
        at = TemporaryDirectory(prefix="trainc-merge-")
    except OSError as error:
        raise RevisionError(f"a merge needs a temporary folder, set TMPDIR: {error.strerror}") from None
    variables = _variables(at.name)
    is_sha256 = len(old.commit) == SHA256_LENGTH
    made = _git(variables, "init", "--quiet", "--bare", "--template=", *["--object-format=sha256"] * is_sha256, at.name)
    _check(made)
    with open(os.path.join(at.name, "objects", "info", "alternates"), "wb") as alternates:
        shared = (objects, *filter(None, os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)))
        alternates.writelines(_quoted(os.path.abspath(folder)) for folder in shared)
    names = f"{old.revision} and {new.revision}"
    try:
        options = ("--write-tree", "--name-only", "--no-messages", "-z")
        done = _git(variables, "merge-tree", *options, old.commit, new.commit, seconds=SECONDS)
    except subprocess.TimeoutExpired:
        raise RevisionError(f"the merge of {names} takes longer than {SECONDS} seconds") from None
    tree, *files = os.fsdecode(done.stdout).removesuffix("\0").split("\0")
    if done.returncode == CONFLICT and tree:
        raise MergeConflictError(old.revision, new.revision, sorted({file for file in files if file}))
    if done.returncode == USAGE:
        return None
    _check(done, names)
    revision = f"{old.revision}...{new.revision}"
    return Commit(revision, tree, old.top, old.folder, Objects(old.folder, revision, variables, at))


def _variables(folder: str) -> Mapping[str, str]:
    """Return the environment of git in a temporary repository: none of the user's settings is in force."""
    own = {name: value for name, value in os.environ.items() if name == "GIT_EXEC_PATH" or not name.startswith("GIT_")}
    nothing = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
    return own | SAFE | nothing | {"GIT_DIR": folder, "HOME": folder, "XDG_CONFIG_HOME": folder}


def _git(
    variables: Mapping[str, str], *arguments: str, seconds: int | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a git command in the temporary repository. It ends after some seconds with TimeoutExpired."""
    command = ["git", *OPTIONS, *arguments]
    return subprocess.run(command, capture_output=True, env=variables, timeout=seconds, check=False)


def _check(done: subprocess.CompletedProcess[bytes], names: str = "") -> None:
    """Raise RevisionError with git's message for a command that failed."""
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise RevisionError(f"git cannot merge {names}: {message}" if names else message)


def _quoted(folder: str) -> bytes:
    """Return the line of a folder in a list of object folders, quoted as git does."""
    text = os.fsencode(folder).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + text + b'"\n'
