"""Revisions: the files of a git commit, read from its objects. The working tree and the index stay as they are.

Reads    `git rev-parse`, `git ls-tree` and `git cat-file --batch`, and nothing else: they run no filter, no textconv,
         no hook and no file system monitor of the repository, and with what `SAFE` says they fetch nothing.
Returns  files as `trainc.inputs` does, under the names that git gives them: `main:jobs/a.yaml`.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc import inputs
from trainc.inputs import DEEPEST, LARGEST_FILE, SETTINGS, STDIN, SUFFIXES, File, fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Diagnostic

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


class RevisionError(Exception):
    """A revision that git does not know, or no repository; the message says why."""


class Entry(NamedTuple):
    """What a commit has at a path."""

    mode: str
    object: str
    size: int


class Found(NamedTuple):
    """A file of a commit."""

    path: str
    entry: Entry


class Commit:
    """A commit's files."""

    def __init__(self, revision: str, commit: str, top: str) -> None:
        """`revision` as the user wrote it, `commit` its full hash, `top` the repository's own folder."""
        self.revision = revision
        self.commit = commit
        self.top = top
        self._entries: dict[str, Entry] = {}
        self._listed: set[str] = set()

    def read(
        self, paths: Iterable[str], *, skip: Iterable[str] = (), settings: str = "", root: str | None = None
    ) -> Iterator[File | Diagnostic]:
        """Every file of the paths, as `inputs.read` finds them in the working tree.

        Paths are those of the working tree; what is not in the repository is read from the disk. A path that the
        commit does not have holds nothing.
        """
        walk = _Walk(self, skip=[os.path.realpath(path) for path in skip])
        wanted: list[Found | Diagnostic] = []
        elsewhere = []
        for path in paths:
            inside = self.inside(path)
            if inside is None:
                elsewhere.append(path)
            else:
                wanted += walk.path(inside)
        small = [each.entry.object for each in wanted if isinstance(each, Found) and each.entry.size <= LARGEST_FILE]
        contents = self._contents(small)
        for each in wanted:
            if not isinstance(each, Found):
                yield each
            elif each.entry.object in contents:
                yield File(self.named(each.path), contents[each.entry.object])
            else:
                size = f"{each.entry.size >> 20} MiB"
                yield fault(self.named(each.path), f"has {size}; files of more than 256 MiB are not read", "split it")
        if elsewhere:
            yield from inputs.read(elsewhere, skip=skip, settings=settings, root=root)

    def settings(self, path: str) -> File | None:
        """The trainc.yaml nearest to a path: in its folder, or in one above it."""
        at = self.inside(path)
        while at is not None:
            found = self.entry(f"{at}/{SETTINGS}" if at else SETTINGS)
            if found is not None and found.mode not in {LINK, FOLDER, MODULE} and found.size <= LARGEST_FILE:
                name = f"{at}/{SETTINGS}" if at else SETTINGS
                return File(self.named(name), self._contents([found.object])[found.object])
            at = at.rpartition("/")[0] if at else None
        return None

    def inside(self, path: str) -> str | None:
        """A path of the working tree as git has it: below the repository, `/` between its parts; None outside."""
        if path == STDIN:
            return None
        folder, name = os.path.split(os.path.abspath(path))
        real = os.path.join(os.path.realpath(folder), name)
        if not inputs.within(real, self.top):
            return None
        below = os.path.relpath(real, self.top)
        return "" if below == "." else below.replace(os.sep, "/")

    def named(self, path: str) -> str:
        """A file as git names it."""
        return f"{self.revision}:{path}"

    def entry(self, path: str) -> Entry | None:
        """What the commit has at a path; the whole commit is a folder."""
        if not path:
            return Entry(FOLDER, self.commit, 0)
        if path not in self._entries and path not in self._listed:
            self._list(path)
        return self._entries.get(path)

    def below(self, folder: str) -> list[Found]:
        """All files below a folder, in git's order."""
        self._list(f"{folder}/" if folder else "")
        start = f"{folder}/" if folder else ""
        return [Found(path, self._entries[path]) for path in sorted(self._entries) if path.startswith(start)]

    def _list(self, path: str) -> None:
        """Ask git for a file, a folder itself, or all below a folder (`folder/`, and the whole commit for "")."""
        if path in self._listed:
            return
        self._listed.add(path)
        deep = ["-r"] if not path or path.endswith("/") else []
        listed = _git(
            self.top, "ls-tree", "-z", "-l", *deep, "--full-tree", "--end-of-options", self.commit, path or "."
        )
        for line in listed.split(b"\0")[:-1]:
            facts, _, name = line.partition(b"\t")
            mode, _, object, size = facts.split()
            self._entries[os.fsdecode(name)] = Entry(mode.decode(), object.decode(), int(size) if size.isdigit() else 0)

    def link(self, entry: Entry) -> str:
        """Where a link leads."""
        return os.fsdecode(self._contents([entry.object])[entry.object])

    def _contents(self, objects: list[str]) -> dict[str, bytes]:
        """The content of some files."""
        wanted = list(dict.fromkeys(objects))
        if not wanted:
            return {}
        data = _git(self.top, "cat-file", "--batch", given="".join(f"{object}\n" for object in wanted).encode())
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


class _Walk:
    """One walk over all given paths; remembers what it has found, so that nothing is read twice."""

    def __init__(self, commit: Commit, *, skip: list[str]) -> None:
        self.commit = commit
        self.skip = skip
        self.seen: set[str] = set()

    def path(self, path: str) -> list[Found | Diagnostic]:
        """What is to be read of a given path."""
        entry = self.commit.entry(path)
        if entry is None:
            return []
        if entry.mode == FOLDER:
            return self._folder(path)
        return self._file(path, entry, depth=0)

    def _folder(self, folder: str, depth: int = 0) -> list[Found | Diagnostic]:
        if folder in self.seen:
            return []
        self.seen.add(folder)
        found: list[Found | Diagnostic] = []
        for path, entry in self.commit.below(folder):
            parts = path[len(folder) :].lstrip("/").split("/")
            named = path.endswith(SUFFIXES) or entry.mode == LINK
            if named and parts[-1] != SETTINGS and not any(part.startswith(".") for part in parts):
                found += self._file(path, entry, depth=depth)
        return found

    def _file(self, path: str, entry: Entry, *, depth: int) -> list[Found | Diagnostic]:
        real = os.path.join(self.commit.top, path)
        if path in self.seen or entry.mode == MODULE or any(inputs.within(real, out) for out in self.skip):
            return []
        self.seen.add(path)
        return self._followed(path, entry, depth) if entry.mode == LINK else [Found(path, entry)]

    def _followed(self, path: str, entry: Entry, depth: int) -> list[Found | Diagnostic]:
        """What a link leads to."""
        target = self.commit.link(entry)
        to = os.path.normpath(os.path.join(os.path.dirname(path), target))
        name = self.commit.named(path)
        if os.path.isabs(target) or to.split("/")[0] == "..":
            return [fault(name, "is a link that leads out of the repository", "copy the file", id="link-out")]
        to = "" if to == "." else to
        there = self.commit.entry(to)
        if there is None or depth > DEEPEST:
            return [fault(name, "is a link that leads nowhere, or in a circle", "remove it, or mend its target")]
        if there.mode == FOLDER:
            return self._folder(to, depth + 1)
        return self._file(to, there, depth=depth + 1) if to.endswith(SUFFIXES) or there.mode == LINK else []


def commit(revision: str, *, folder: str = ".") -> Commit:
    """The commit of that name, in the repository that a folder is in. Raises RevisionError."""
    top = os.fsdecode(_git(folder, "rev-parse", "--show-toplevel")).rstrip("\n")
    return Commit(revision, _verified(folder, revision), os.path.realpath(top))


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
