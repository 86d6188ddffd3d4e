"""A document to write as YAML: its fields, each with its comments and with the text that its value has in a source.

Reads    fields, and the columns that the source indents them by.
Returns  lines. Fields are in the given order, and no line is folded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import flow
from trainc.base.records import NamedTuple
from trainc.emit.yaml import Writer, inline
from trainc.kubernetes.documents import YamlError, parse
from trainc.source.source_text import ScalarNode, shifted
from trainc.source.text_spans import FLOW_SYNTAX

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.rewriting.migration.source_comments import Spot
    from trainc.source.source_text import Text, TextNode

LONG: Final = 24
"""A list of more numbers is on one line."""
_MARKS: Final = frozenset("&*!")
"""The first characters of anchors, aliases and tags, which the copy of a text cannot have."""
_DASH: Final = 2
"""The columns of `- `."""


class Indentation(NamedTuple):
    """The columns by which a document indents its fields."""

    step: int = 2
    """Those of a mapping below its key."""
    offset: int = 0
    """Those of the dashes of a list below its key."""


class Source(NamedTuple):
    """A field or an item of the source from which a new one is made."""

    spot: Spot
    value: Any
    node: TextNode | None
    """Its value in the text; None if a merge key adds it."""
    column: int
    """The column of its key or its dash; -1 in brackets."""
    before: Spot | None
    """The field or item before it."""


class NewValue:
    """A value of a new document: fields or items below one another, or a text."""

    def __init__(self, value: Any, sources: Sequence[Source], *, is_of_pod: bool) -> None:
        self.value, self.is_of_pod = value, is_of_pod
        self.blocks = {id(source.node) for source in sources if source.node is not None}
        self.fields: list[NewField] = []
        self.text: list[str] = []
        """Its lines, the first one behind its key or dash; empty for a block."""
        self.last: list[str] = []
        """The comments at the end of a block."""
        self.is_copied = False
        """Whether the text is that of a source, with the comments in it."""


class NewField:
    """A field of a mapping or an item of a list, with its comments."""

    def __init__(self, key: str | int, value: NewValue, parent: NewValue, sources: Sequence[Source]) -> None:
        self.key, self.value, self.parent, self.sources = key, value, parent, sources
        self.above: list[str] = []
        self.behind = ""
        self.below: list[str] = []

    def is_after(self, other: NewField | None) -> bool:
        """Return whether it follows another field in the source, too."""
        spots = {source.spot for source in other.sources} if other is not None else set()
        return any(source.before in spots for source in self.sources)


def lines(value: NewValue, layout: Indentation, column: int = 0) -> list[str]:
    """Return the lines of a block whose fields have a column."""
    found: list[str] = []
    before = None
    for field in value.fields:
        above = field.above
        while above[:1] == [""] and not field.is_after(before):
            above = above[1:]
        found += (*_at(column, above), *_field(field, layout, column), *_at(column, field.below))
        before = field
    return [*found, *_at(column, value.last)]


def _at(column: int, comments: Iterable[str]) -> list[str]:
    return [" " * column + comment if comment else "" for comment in comments]


def _field(field: NewField, layout: Indentation, column: int) -> list[str]:
    margin, value, is_item = " " * column, field.value, isinstance(field.key, int)
    label = margin + ("-" if is_item else label_of(str(field.key)))
    if value.text:
        first, *below = value.text
        found = [f"{label} {first}", *shifted(below, column)]
        found[0 if first[0] in "|>" else -1] += field.behind
        return found
    if not is_item:
        below = lines(value, layout, column + (layout.offset if isinstance(value.value, list) else layout.step))
        return [label + field.behind, *below]
    found = lines(value, layout, column + _DASH)
    head = next(number for number, line in enumerate(found) if line.lstrip()[:1] not in ("", "#"))
    found[head] = f"{label} {found[head][column + _DASH :]}"
    behind = [margin + field.behind.lstrip()] if field.behind else []
    return [*behind, *shifted(found[:head], -_DASH), *found[head:]]


def label_of(key: str) -> str:
    """Return a key with its colon."""
    return f"{inline(key)}:"


def scalar(value: Any, sources: Iterable[Source], read: Text | None) -> list[str]:
    """Return the lines of a scalar or of an empty list or mapping, as a source has it; below a key in column 0."""
    for source in sources:
        if isinstance(source.node, ScalarNode) and is_same(value, source) and read is not None:
            raw = read.text[source.node.start_mark.index : source.node.end_mark.index].rstrip("\n")
            if source.node.style in ("|", ">"):
                header, line, body = raw.partition("\n")
                raw = header.partition("#")[0].rstrip() + line + body
            found = _from_column_0(raw, source)
            is_short = "\n" not in raw
            if raw and raw[0] not in _MARKS and (is_short or (source.column >= 0 and _is_text_of(found, value))):
                return found
    first, *below = Writer(as_given=True).document({"-": value}).removesuffix("\n").split("\n")
    return [first.partition(":")[2].removeprefix(" "), *below]


def copied(value: Any, sources: Iterable[Source], read: Text) -> list[str]:
    """Return the lines of a list or mapping in brackets as a source has it; none if no source has it."""
    for source in sources:
        if source.node is not None and is_same(value, source) and is_in_brackets(source.node):
            raw = read.text[source.node.start_mark.index : source.node.end_mark.index]
            if not _MARKS & set(raw) and ("\n" not in raw or source.column >= 0):
                return _from_column_0(raw, source)
    return []


def in_brackets(value: NewValue) -> str:
    """Return a value on one line."""
    if not value.fields:
        [text, *more] = value.text
        is_plain = text[0] not in "\"'[{" and isinstance(value.value, str)
        return flow(value.value) if more or text[0] in "|>" or (is_plain and FLOW_SYNTAX & set(text)) else text
    items = [in_brackets(field.value) for field in value.fields]
    if isinstance(value.value, list):
        return f"[{', '.join(items)}]"
    pairs = (f"{label_of(str(field.key))} {item}" for field, item in zip(value.fields, items, strict=True))
    return f"{{{', '.join(pairs)}}}"


def is_in_brackets(node: TextNode | None) -> bool:
    """Return whether a node is a list or mapping in flow style."""
    return bool(getattr(node, "flow_style", False))


def is_same(value: Any, source: Source) -> bool:
    """Return whether a source has a value: a number is no boolean."""
    return type(value) is type(source.value) and bool(value == source.value)


def _from_column_0(raw: str, source: Source) -> list[str]:
    first, *below = raw.split("\n")
    return [first, *shifted(below, -source.column)]


def _is_text_of(lines: Sequence[str], value: Any) -> bool:
    """Return whether lines have a value at each indentation."""
    if any(line.isspace() for line in lines):
        return False
    try:
        return bool(parse("k: " + "\n".join(lines) + "\n") == {"k": value})
    except YamlError:
        return False
