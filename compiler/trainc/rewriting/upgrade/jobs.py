"""The documents that an upgrade changes, and their new texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from trainc.diagnostics import Document
    from trainc.frontends.moves import Move
    from trainc.kubernetes.trees import Tree


class UpgradedJob(NamedTuple):
    """A document to upgrade."""

    document: Document
    dialect: str
    moves: tuple[Move, ...]
    """The moves of overrides, and changes of values in their place."""
    gone: tuple[str, ...]
    """The fields of its spec that it does not keep."""
    value: Tree
    """The expected value of the new text."""
    renames: tuple[Move, ...] = ()
    """The later moves of single fields, to the names of the release."""


class NewText(NamedTuple):
    """The new text of a document, and its value."""

    text: str
    tree: Any


Texts = dict[tuple[str, int, int], NewText]
"""The new texts of documents by file, line and column; the items of a List share one text."""


def text_place(document: Document) -> tuple[str, int, int]:
    """Return the place of a document's text."""
    return document.file, document.line, document.column
