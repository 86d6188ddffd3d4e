"""Revisions: the files of a git commit, read from its objects. The working tree and the index stay as they are.

Reads    `git rev-parse`, `git ls-tree` and `git cat-file --batch`, and nothing else: they run no filter, no textconv,
         no hook and no file system monitor of the repository, and with what `SAFE` says they fetch nothing.
Returns  files as `trainc.inputs` does, under the names that git gives them: `main:jobs/a.yaml`.
"""

from __future__ import annotations

import os
import subprocess
from typing import Final, NamedTuple

from trainc.confine import within
from trainc.inputs import LARGEST_FILE, SETTINGS, STDIN, File

SAFE: Final = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
"""Paths are no patterns, nothing is fetched, nobody is asked, and git speaks English."""
OPTIONS: Final = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
LINK: Final = "120000"
FOLDER: Final = "040000"
MODULE: Final = "160000"
MOST_LINKS: Final = 40
"""So many links are followed on the way to one file, as Linux does."""


class RevisionError(Exception):
    """A revision that git does not know, or no repository; the message says why."""


class LinkOutError(Exception):
    """A link that leads out of the repository."""


class Entry(NamedTuple):
    """What a commit has at a path."""

    mode: str
    object: str
    size: int


class Commit:
    """A commit's files."""

    def __init__(self, revision: str, commit: str, top: str, folder: str) -> None:
        """`revision` as the user wrote it, `commit` its full hash, `top` the repository's own folder, `folder` any."""
        self.revision = revision
        self.commit = commit
        self.top = top
        self.folder = folder
        self._entries: dict[str, Entry | None] = {"": Entry(FOLDER, commit, 0)}
        self._names: dict[str, set[str]] = {}
        self._listed: set[str] = set()

    def settings(self, path: str) -> File | None:
        """The trainc.yaml nearest to a path: in its folder, or in one above it."""
        at = self.inside(path)
        while at is not None:
            name = f"{at}/{SETTINGS}" if at else SETTINGS
            found = self._file(name)
            if found is not None and found.size <= LARGEST_FILE:
                return File(self.named(name), self.contents([found.object])[found.object])
            at = at.rpartition("/")[0] if at else None
        return None

    def inside(self, path: str) -> str | None:
        """A path of the working tree as git has it: below the repository, `/` between its parts; None outside."""
        if path == STDIN:
            return None
        folder, name = os.path.split(os.path.abspath(path))
        real = os.path.join(os.path.realpath(folder), name)
        if not within(real, self.top):
            return None
        below = os.path.relpath(real, self.top)
        return "" if below == "." else below.replace(os.sep, "/")

    def is_file(self, path: str) -> bool:
        """Whether a path of the working tree is a file here."""
        inside = self.inside(path)
        return inside is not None and self._file(inside) is not None

    def _file(self, path: str) -> Entry | None:
        """The file at a path, be it by links."""
        try:
            real = self.resolved(path)
        except LinkOutError:
            return None
        entry = None if real is None else self.entry(real)
        return None if entry is None or entry.mode in {FOLDER, MODULE} else entry

    def named(self, path: str) -> str:
        """A file as git names it."""
        return f"{self.revision}:{path}"

    def entry(self, path: str) -> Entry | None:
        """What the commit has at a path, itself a link or not; the whole commit is a folder."""
        if path not in self._entries and not self._is_listed(path):
            self._list(path)
        return self._entries.get(path)

    def names(self, folder: str) -> list[str]:
        """What is in a folder, in the order of the names."""
        if not self._is_listed(f"{folder}/"):
            self._list(f"{folder}/" if folder else "")
        return sorted(self._names.get(folder, ()))

    def resolved(self, path: str) -> str | None:
        """A path without links. None where a link leads nowhere or in a circle; raises LinkOutError, where out."""
        ahead, done, links = path.split("/")[::-1], list[str](), 0
        while ahead:
            step = ahead.pop()
            if step == "..":
                if not done:
                    raise LinkOutError(path)
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
            if links > MOST_LINKS:
                return None
            target = os.fsdecode(self.contents([entry.object])[entry.object])
            if os.path.isabs(target):
                if not within(target, self.top):
                    raise LinkOutError(path)
                target, done = os.path.relpath(target, self.top), []
            ahead += target.split("/")[::-1]
        return "/".join(done)

    def _is_listed(self, path: str) -> bool:
        """Whether git has been asked for a path, or for all below a folder that it is in."""
        if path in self._listed or "" in self._listed:
            return True
        ends = (index + 1 for index, letter in enumerate(path) if letter == "/")
        return any(path[:end] in self._listed for end in ends)

    def _list(self, path: str) -> None:
        """Ask git for a file, a folder itself, or all below a folder (`folder/`, and the whole commit for "")."""
        self._listed.add(path)
        deep = ["-r", "-t"] if not path or path.endswith("/") else []
        asked = ("-z", "-l", *deep, "--full-tree", "--end-of-options", self.commit, path or ".")
        for line in _git(self.folder, "ls-tree", *asked).split(b"\0")[:-1]:
            facts, _, name = line.partition(b"\t")
            mode, _, object, size = facts.split()
            found = os.fsdecode(name)
            self._entries[found] = Entry(mode.decode(), object.decode(), int(size) if size.isdigit() else 0)
            folder, _, last = found.rpartition("/")
            self._names.setdefault(folder, set()).add(last)

    def contents(self, objects: list[str]) -> dict[str, bytes]:
        """The content of some files."""
        wanted = list(dict.fromkeys(objects))
        if not wanted:
            return {}
        data = _git(self.folder, "cat-file", "--batch", given="".join(f"{object}\n" for object in wanted).encode())
        found, position = {}, 0
        for object in wanted:
            end = data.index(b"\n", position)
            facts = data[position:end].split()
            if len(facts) != len(("object", "type", "size")):
                raise RevisionError(f"{self.revision} is not whole here: git has no object {object}")
            size = int(facts[2])
            found[object] = data[end + 1 : end + 1 + size]
            position = end + 1 + size + 1
        return found


def commit(revision: str, *, folder: str = ".") -> Commit:
    """The commit of that name, in the repository that a folder is in. Raises RevisionError."""
    return Commit(revision, _verified(folder, revision), top(folder), folder)


def top(folder: str = ".") -> str:
    """The folder that a repository's paths are below; for a bare one, the folder itself. Raises RevisionError."""
    if _git(folder, "rev-parse", "--is-inside-work-tree").strip() != b"true":
        return os.path.realpath(folder)
    return os.path.realpath(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel")).removesuffix("\n"))


def common(first: str, second: str, *, folder: str = ".") -> str:
    """The commit from which two have gone separate ways, as `git diff first...second` takes it."""
    ends = f"{_verified(folder, first)}...{_verified(folder, second)}"
    bases = [line[1:] for line in _git(folder, "rev-parse", ends).decode().split() if line.startswith("^")]
    if not bases:
        raise RevisionError(f"{first} and {second} have no commit in common")
    return bases[0]


def known(revision: str, *, folder: str = ".") -> bool:
    """Whether git knows a revision of that name here."""
    try:
        _verified(folder, revision)
    except RevisionError:
        return False
    return True


def _verified(folder: str, revision: str) -> str:
    try:
        asked = f"{revision}^{{commit}}"
        return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", asked).decode().strip()
    except RevisionError as error:
        raise RevisionError(str(error) or f'git knows no revision "{revision}" here') from None


def _git(folder: str, *arguments: str, given: bytes = b"") -> bytes:
    """What a command of git prints. Raises RevisionError with what it says against it."""
    try:
        done = subprocess.run(
            ["git", *OPTIONS, *arguments],
            cwd=folder,
            input=given,
            capture_output=True,
            env=os.environ | SAFE,
            check=False,
        )
    except FileNotFoundError:
        raise RevisionError("revisions are read with git, and there is none on the PATH") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise RevisionError(said.partition("\n")[0])
    return done.stdout
