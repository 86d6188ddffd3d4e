"""Checkouts: the files of a commit whose content git changes when it checks them out.

Reads    the .gitattributes of a commit in the folders above the files that a review has read.
Returns  a diagnostic for each attribute that changes such a file, because a review reads git's objects, while Argo CD,
         Flux and CI deploy a checkout. git itself reads the attributes, in a temporary repository whose index has only
         the .gitattributes. Those outside the commit (`info/attributes`) have no effect.
Source   git 2.39: gitattributes(5), convert.c.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic, Location
from trainc.review.git_objects import FOLDER, MODULE
from trainc.review.temporary_repository import TemporaryRepository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.review.revisions import Commit
    from trainc.review.sides import SideSpec

CHECKOUT_ATTRIBUTE: Final = Declaration(
    "checkout-attribute", ("read",), "Attribute that changes a file at the checkout", trainc_only=True
)
NAME: Final = ".gitattributes"
ATTRIBUTES: Final = ("working-tree-encoding", "ident", "filter", "eol")
TEXT: Final = "text"
"""The attribute that decides whether `eol` is in force."""
NONE: Final = frozenset({"unspecified", "unset"})
PLAIN: Final = frozenset({"unspecified", "", "utf-8", "utf8"})
"""The encodings of a working tree that change no file. Without one (`-working-tree-encoding`), a checkout fails."""


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
    attributes = _attribute_files(commit)
    if not attributes:
        return
    repository = commit.repository or TemporaryRepository()
    index = b"".join(b"100644 %s\t%s\0" % (object.encode(), os.fsencode(path)) for path, object in attributes.items())
    repository.checked("update-index", "-z", "--index-info", stdin=index)
    names = b"".join(os.fsencode(path) + b"\0" for path in commit.read)
    found = repository.checked("check-attr", "--cached", "--stdin", "-z", TEXT, *ATTRIBUTES, stdin=names)
    words = os.fsdecode(found).split("\0")[:-1]
    files: dict[str, list[str]] = {}
    values: dict[str, str] = {}
    for path, name, value in zip(words[::3], words[1::3], words[2::3], strict=True):
        values[name] = value  # those of a path come together, `text` first
        if name != TEXT and _changes(name, values, commit.read[path]):
            shown = name if value == "set" else f"{name}={value}"
            files.setdefault(shown, []).append(path)
    for attribute, paths in files.items():
        more = f" and {len(paths) - 1} more files" if len(paths) > 1 else ""
        yield Diagnostic.declared(
            CHECKOUT_ATTRIBUTE,
            f"the attribute {attribute} changes this file{more} at the checkout",
            f"remove the attribute in {NAME}, such as with `{paths[0]} !{attribute.partition('=')[0]}`",
            place=Location(commit.named(paths[0])),
        )


def _attribute_files(commit: Commit) -> dict[str, str]:
    """Return the objects of the .gitattributes in the folders above the files that were read, by path."""
    folders = {""}
    for path in commit.read:
        at = path.rpartition("/")[0]
        while at not in folders:
            folders.add(at)
            at = at.rpartition("/")[0]
    paths = (f"{folder}/{NAME}" if folder else NAME for folder in sorted(folders))
    entries = ((path, commit.entry(path)) for path in paths)
    # To git, a link in the index is a file with its target as the content.
    return {path: entry.object for path, entry in entries if entry is not None and entry.mode not in {FOLDER, MODULE}}


def _changes(name: str, values: Mapping[str, str], data: bytes) -> bool:
    """Return whether one of a file's attributes changes its content.

    The line ends of UTF-8 mean the same to YAML; in UTF-16, git inserts a byte and moves all that follow.
    """
    value = values[name]
    match name:
        case "working-tree-encoding":
            return value.lower() not in PLAIN
        case "ident":
            return value == "set" and b"$Id" in data
        case "filter":
            return value not in {*NONE, "set"}
        case _:
            return value == "crlf" and values[TEXT] not in {"auto", "unset"} and b"\0" in data
