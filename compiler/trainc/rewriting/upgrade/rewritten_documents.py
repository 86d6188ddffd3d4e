"""The new texts of documents: each is rewritten, parsed, and compared with its expected value.

Reads    the documents to upgrade, with their moves and expected values.
Returns  the new texts, and the reason for each document that cannot be rewritten. The items of a List are rewritten one
         by one as separate texts without their indentation, so that the time is proportional to the length of the List;
         items that share anchors are rewritten in the text of the List.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents import YamlError, parse
from trainc.kubernetes.documents.events import YAMLError
from trainc.kubernetes.trees import get
from trainc.rewriting.upgrade.rewrite import rewrite, rewrite_json
from trainc.rewriting.upgrade.text_edits import NotRewritableError
from trainc.source.source_text import MappingNode, indentation, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.diagnostics import Document
    from trainc.frontends.lowering import Move
    from trainc.kubernetes.trees import Path, Tree


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


class ListItem(NamedTuple):
    """The lines of an item, and its text."""

    first: int
    last: int
    column: int
    text: str


Texts = dict[tuple[str, int, int], NewText]
"""The new texts of documents by file, line and column; the items of a List share one text."""
Refused = list[tuple["Document", str]]
"""Documents that cannot be rewritten, with the reasons."""
Result = tuple[NewText | None, Refused]
"""The new text of a document, if one of its items can be upgraded, and the items that cannot."""


def rewritten(todo: Iterable[UpgradedJob]) -> tuple[Texts, Refused]:
    """Return the new texts."""
    by_text: dict[tuple[str, int, int], list[UpgradedJob]] = {}
    for job in todo:
        by_text.setdefault(text_place(job.document), []).append(job)
    texts: Texts = {}
    refused: Refused = []
    for place, jobs in by_text.items():
        text = jobs[0].document.text
        if text.lstrip().startswith("{") and _is_json(text):
            new, failed = _json(text, jobs)
        else:
            new, failed = _items(text, jobs) or _one_by_one(text, jobs)
        refused += failed
        if new is not None:
            texts[place] = new
    return texts, refused


def _json(text: str, jobs: Sequence[UpgradedJob]) -> Result:
    new = rewrite_json(text, {job.document.within: job.value for job in jobs})
    tree = parse(new)
    assert all(get(tree, job.document.within) == job.value for job in jobs), "JSON keeps values"
    return NewText(new, tree), []


def _items(text: str, jobs: Sequence[UpgradedJob]) -> Result | None:
    """Return the text of a List whose items have texts of their own; None if they do not."""
    if len(jobs) == 1:
        return None
    plain = text.replace("\r\n", "\n")
    items: list[tuple[UpgradedJob, ListItem, str]] = []
    refused: Refused = []
    for job in sorted(jobs, key=lambda job: job.document.within):
        document = job.document
        try:
            item = cut(plain, document.within)
            if item is None:
                return None
            new = rewrite(item.text, (), document.value, job.moves, job.gone, job.renames)
            if parse(new) != job.value:
                return None
        except (NotRewritableError, YAMLError, YamlError) as error:
            refused.append((document, str(error)))
        else:
            items.append((job, item, new))
    if not items:
        return None, refused
    whole = pasted(plain, ((item, new) for _, item, new in items))
    tree = parse(whole)
    if any(get(tree, job.document.within) != job.value for job, _, _ in items):
        return None
    return NewText(whole.replace("\n", "\r\n") if plain != text else whole, tree), refused


def _one_by_one(text: str, jobs: Sequence[UpgradedJob]) -> Result:
    new: NewText | None = None
    refused: Refused = []
    for job in jobs:
        document = job.document
        try:
            changed = rewrite(text, document.within, document.value, job.moves, job.gone, job.renames)
            tree = parse(changed)
            if get(tree, document.within) != job.value:
                raise NotRewritableError("its YAML style cannot be preserved")
        except (NotRewritableError, YamlError) as error:
            refused.append((document, str(error)))
        else:
            text, new = changed, NewText(changed, tree)
    return new, refused


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def text_place(document: Document) -> tuple[str, int, int]:
    """Return the place of a document's text."""
    return document.file, document.line, document.column


def cut(text: str, within: Path) -> ListItem | None:
    """Return an item in block style that has no alias of an anchor outside of it."""
    read = parsed(text)
    found = read.field(within)
    if found is None or found.key is not None or found.flow or read.has_alias(found):
        return None
    node = found.value
    if not isinstance(node, MappingNode) or node.flow_style or not node.value:
        return None
    start, column = node.start_mark, node.start_mark.column
    if read.lines[start.line][:column].strip() != "-" or start.index != node.value[0][0].start_mark.index:
        return None  # several dashes, an anchor or a tag
    last = read.last_line(found)
    while last + 1 < len(read.lines) and _is_comment(read.lines[last + 1], column):
        last += 1
    below = read.lines[start.line + 1 : last + 1]
    if any(line.strip() and indentation(line) < column for line in below):
        return None
    return ListItem(start.line, last, column, "\n".join(line[column:] for line in (read.lines[start.line], *below)))


def _is_comment(line: str, column: int) -> bool:
    return line.lstrip(" ").startswith("#") and indentation(line) >= column


def pasted(text: str, items: Iterable[tuple[ListItem, str]]) -> str:
    """Return the List with new texts of items, which are in the order of the List."""
    old = text.split("\n")
    lines: list[str] = []
    end = 0
    for item, new in items:
        first, *below = new.split("\n")
        lines += (*old[end : item.first], old[item.first][: item.column] + first)
        lines += (" " * item.column + line if line.strip() else line for line in below)
        end = item.last + 1
    return "\n".join((*lines, *old[end:]))
