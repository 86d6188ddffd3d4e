"""Commits: the files of a git commit, read from git's objects. The working tree and the index stay unchanged.

Reads    the output of `git rev-parse`, and git's objects (`git_objects`). Neither runs a filter, textconv, hook or
         file system monitor of the repository; with the environment in `SAFE` they fetch nothing.
Returns  files as `trainc.files.inputs` does, under git's names: `main:jobs/a.yaml`. A word of a command line with two
         meanings is an error, because the author of a change may have chosen one of them.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic
from trainc.files.confine import is_within, repository_above
from trainc.files.inputs import STDIN, File
from trainc.files.selection import SETTINGS
from trainc.files.walk import fault
from trainc.review.commits.git_objects import FOLDER, LINK, MODULE, Objects, RevisionError, TreeEntry, run

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

    from trainc.review.commits.git_objects import TemporaryRepository


HEAD: Final = "HEAD"
AMBIGUOUS: Final = b"is ambiguous"
"""The part of git's warning about a name with two meanings."""
UNKNOWN: Final = "Needed a single revision"
"""Git's message about an unknown revision."""
REFS: Final = ("", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/")
"""The prefixes with which git completes the name of a ref, in its order."""
MAX_LINKS: Final = 40
"""The maximum number of links that are followed for one file, as in Linux."""
AMBIGUOUS_ARGUMENT: Final = Declaration("ambiguous-argument", ("read",), trainc_only=True)
AMBIGUOUS_REVISION: Final = Declaration("ambiguous-revision", ("read",), trainc_only=True)


class CommitLinkError(Exception):
    """A link to a target outside the repository."""


class Commit:
    """The files of a commit."""

    def __init__(
        self, revision: str, commit: str, top: str, folder: str, repository: TemporaryRepository | None = None
    ) -> None:
        """`revision` as the user wrote it, `commit` its hash, `top` the repository root, `folder` any folder in it.

        `repository` has the objects of a merge, whose tree is the `commit`.
        """
        self.revision = revision
        self.commit = commit
        self.top = top
        self.folder = folder
        self.repository = repository
        self.objects = Objects(folder, revision, None if repository is None else repository.environment)
        self.read: dict[str, bytes] = {}
        """The content of the files that were read, by path without links."""

    def settings(self, path: str) -> File | Diagnostic | None:
        """Return the trainc.yaml nearest to a path, in its folder or above; a diagnostic if it is not a file."""
        at = self.path_in_repository(path)
        if at is not None:
            at = self._resolved_path(at) or at
        while at is not None:
            name = f"{at}/{SETTINGS}" if at else SETTINGS
            if self.has(name):
                help = "use a file of at most 256 MiB, or a link to one in the repository"
                return self.file(name) or fault(self.named(name), "is not a settings file", help)
            at = at.rpartition("/")[0] if at else None
        return None

    def path_of(self, file: File) -> str:
        """Return the absolute path that a file of the commit has in the working tree."""
        return os.path.join(self.top, file.path.removeprefix(self.named("")))

    def real_path(self, path: str) -> str:
        """Return a path of the working tree relative to the repository root, without the commit's links.

        It is empty outside the repository. A path that does not exist keeps its links.
        """
        inside = self.path_in_repository(path) or ""
        return self._resolved_path(inside) or inside

    def file(self, path: str) -> File | None:
        """Return the file at a path of the commit; None if there is no file, or if it is too large."""
        found = self.file_entry(path)
        content = 0 if found is None else self.objects.blob(found.object)
        if isinstance(content, int):
            return None
        self.read[self._resolved_path(path) or path] = content
        return File(self.named(path), content)

    def path_in_repository(self, path: str) -> str | None:
        """Return a path of the working tree relative to the repository root; None outside the repository.

        The path is resolved lexically, because links of the working tree do not apply to a commit. `resolved` follows
        the commit's own links.
        """
        return None if path == STDIN else _relative_path(path, self.top)

    def has(self, path: str) -> bool:
        """Whether a path exists in the commit, dangling links included."""
        try:
            return self.entry(path) is not None or self.resolved(path) is not None
        except CommitLinkError:
            return True

    def file_entry(self, path: str) -> TreeEntry | None:
        """Return the file at a path; links are followed."""
        real = self._resolved_path(path)
        entry = None if real is None else self.entry(real)
        return None if entry is None or entry.mode in {FOLDER, MODULE} else entry

    def is_file(self, path: str) -> bool:
        """Whether a path of the working tree is a file in the commit."""
        inside = self.path_in_repository(path)
        return inside is not None and self.file_entry(inside) is not None

    def _resolved_path(self, path: str) -> str | None:
        """Return a path without links; None if it does not exist, or if a link leads out of the repository."""
        try:
            return self.resolved(path)
        except CommitLinkError:
            return None

    def named(self, path: str) -> str:
        """Return git's name of a file."""
        return f"{self.revision}:{path}"

    def entry(self, path: str) -> TreeEntry | None:
        """Return the entry at a path, which may be a link; the whole commit is a folder."""
        found = TreeEntry(FOLDER, f"{self.commit}^{{tree}}")
        for name in path.split("/") if path else ():
            below = self.objects.tree(found.object).get(name) if found.mode == FOLDER else None
            if below is None:
                return None
            found = below
        return found

    def entries(self, folder: TreeEntry) -> Mapping[str, TreeEntry]:
        """Return the entries of a folder by name."""
        return self.objects.listed(folder.object)

    def resolved(self, path: str) -> str | None:
        """Return a path without links; None for a dangling or circular link. Raises LinkOutError."""
        rest, done, links = path.split("/")[::-1], list[str](), 0
        while rest:
            step = rest.pop()
            if step == "..":
                if not done:
                    raise CommitLinkError(path)
                done.pop()
            if step in {"", ".", ".."}:
                continue
            entry = self.entry("/".join([*done, step]))
            if entry is None:
                return None
            if entry.mode != LINK:
                done.append(step)
                continue
            links += 1
            if links > MAX_LINKS:
                return None
            target = self.objects.target(entry.object)
            if target is None:
                return None
            if os.path.isabs(target):
                if not is_within(target, self.top):
                    raise CommitLinkError(path)
                target, done = os.path.relpath(target, self.top), []
            rest += target.split("/")[::-1]
        return "/".join(done)


def commit(revision: str, *, folder: str = ".") -> Commit:
    """Return the commit of a revision, in the repository that contains a folder. Raises RevisionError."""
    return Commit(revision, _verified(folder, revision), top(folder), folder)


def top(folder: str = ".") -> str:
    """Return the root of the working tree that contains a folder; without one, the folder, as a bare repository."""
    return os.path.realpath(repository_above(os.path.abspath(folder)) or folder)


def _relative_path(path: str, top: str) -> str | None:
    """Return a path relative to a folder without links, lexically; None if it is not below the folder.

    Only links above the folder are followed on disk.
    """
    rest, at, links = _absolute_path(path).split(os.sep)[::-1], os.sep, 0
    while at != top:
        if not rest:
            return None
        step = rest.pop()
        if step == os.pardir:
            at = os.path.dirname(at)
        elif step not in {"", os.curdir}:
            folder, at = at, os.path.join(at, step)
            if os.path.islink(at):
                links += 1
                if links > MAX_LINKS:
                    return None
                target = os.readlink(at)
                rest += target.split(os.sep)[::-1]
                at = os.sep if os.path.isabs(target) else folder
    below = os.path.normpath(os.path.join(*rest[::-1])) if rest else os.curdir
    if below == os.pardir or below.startswith(os.pardir + os.sep):
        return None
    return "" if below == os.curdir else below.replace(os.sep, "/")


def _absolute_path(path: str) -> str:
    """Return an absolute path. The current folder is the shell's, with its links (PWD)."""
    here, logical = os.getcwd(), os.environ.get("PWD", "")
    if os.path.isabs(logical) and os.path.realpath(logical) == here:
        here = logical
    return os.path.normpath(os.path.join(here, path))


def names(most: int, *, folder: str = ".") -> list[str]:
    """Return HEAD and the names of some branches and tags, the latest first; none outside of a repository."""
    arguments = ("--sort=-creatordate", f"--count={most}", "--format=%(refname:short)")
    try:
        found = _git(folder, "for-each-ref", *arguments, "refs/heads", "refs/tags", "refs/remotes").decode()
    except (RevisionError, UnicodeDecodeError):
        return []
    return [HEAD, *found.split()]


def known(revision: str, *, folder: str = ".") -> bool:
    """Whether a revision exists in the repository that contains a folder."""
    try:
        _verified(folder, revision)
    except AmbiguousWordError:
        return True
    except RevisionError:
        return False
    return True


def _verified(folder: str, revision: str) -> str:
    """Return the hash of a revision.

    Raises RevisionError if it is unknown, and AmbiguousWordError if git finds two meanings for it.
    """
    done = run(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    if done.returncode:
        message = _message(done)
        raise RevisionError(_unknown_revision(folder, revision) if message == UNKNOWN else message)
    if AMBIGUOUS in done.stderr:
        raise ambiguous_revision(revision, _matching_refs(folder, revision))
    return done.stdout.decode().strip()


def _matching_refs(folder: str, revision: str) -> list[str]:
    """Return the refs that a revision can name, in git's order."""
    name = re.split(r"[~^:]|@\{", revision, maxsplit=1)[0]
    candidates = [f"{prefix}{name}" for prefix in REFS]
    listed = _git(folder, "for-each-ref", "--format=%(refname)", *candidates).decode(errors="replace").split("\n")
    return [ref for ref in candidates if ref in listed]


def _unknown_revision(folder: str, revision: str) -> str:
    """Return the message about an unknown revision."""
    message = f'unknown revision "{revision}"'
    if revision != HEAD and known(HEAD, folder=folder):
        return message
    return f"{message}: the current branch has no commits yet; commit first, or compare two folders"


def _git(folder: str, *arguments: str) -> bytes:
    """Return the output of a git command. Raises RevisionError with git's message."""
    done = run(folder, *arguments)
    if done.returncode:
        raise RevisionError(_message(done))
    return done.stdout


def _message(failed: subprocess.CompletedProcess[bytes]) -> str:
    """Return the first line of git's message about a command that failed."""
    return failed.stderr.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]


class AmbiguousWordError(Exception):
    """A word with two meanings."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        """`diagnostic` reports it."""
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def ambiguous_argument(argument: str) -> AmbiguousWordError:
    """Return the error for an argument that is both a revision and a path."""
    return AmbiguousWordError(
        Diagnostic.declared(
            AMBIGUOUS_ARGUMENT,
            f"ambiguous argument '{argument}': both revision and path",
            f"use -- to separate revisions from paths, or './{argument}' for the path",
        )
    )


def ambiguous_revision(revision: str, refs: Sequence[str]) -> AmbiguousWordError:
    """Return the error for a revision that several refs match, or one ref and the start of a hash."""
    if len(refs) > 1:
        matching, help = " and ".join(refs), "use the full name of one of them"
    else:
        matching = f"{refs[0] if refs else 'a ref'} and another commit"
        help = "use the full name of the ref, or the full hash"
    message = f"ambiguous revision '{revision}': {matching} match it"
    return AmbiguousWordError(Diagnostic.declared(AMBIGUOUS_REVISION, message, help))
