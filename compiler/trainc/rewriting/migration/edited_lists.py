"""A List with new documents in place of some of its items, and nothing else changed.

Reads    the text of the List, in YAML or JSON, and the new documents.
Returns  its new text: an item ends with the comments at the end of its fields. The other documents of a job become the
         next items. An alias of an anchor in a replaced item becomes the value.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import flow
from trainc.base.records import NamedTuple
from trainc.emit.yaml import Writer
from trainc.kubernetes.documents import YamlError, parse
from trainc.kubernetes.documents.events import AliasEvent, NodeEvent, YAMLError, end, events, start
from trainc.kubernetes.documents.positions import extent
from trainc.kubernetes.trees import get, put
from trainc.rewriting.migration.source_comments import source_comments
from trainc.source.source_text import MappingNode, SequenceNode, TextField, parsed, shifted
from trainc.source.text_spans import TextSpan, with_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.kubernetes.trees import Path, Tree
    from trainc.source.source_text import Text, TextNode

_MARGIN: Final = re.compile(r"[ \t]*")


class NewItem(NamedTuple):
    """The documents that replace an item."""

    within: Path
    text: str
    values: tuple[Tree, ...]
    """The TrainJob and the documents beside it."""


def with_items(text: str, items: Sequence[NewItem]) -> str | None:
    """Return the text of a List with new items; None if they cannot be replaced in place."""
    try:
        spans = [*_in_json(text, items)] if is_json(text) else [*_in_yaml(parsed(text), items)]
        new = with_spans(text, spans)
        return new if parse(new) == _expected(parse(text), items) else None
    except (YAMLError, YamlError, LookupError):
        return None


def _expected(whole: Any, items: Iterable[NewItem]) -> Any:
    for item in sorted(items, key=lambda item: item.within, reverse=True):
        *above, index = item.within
        known = get(whole, tuple(above))
        whole = put(whole, tuple(above), [*known[:index], *item.values, *known[int(index) + 1 :]])
    return whole


def is_json(text: str) -> bool:
    """Return whether a text is a JSON object."""
    try:
        return text.lstrip().startswith("{") and bool(json.loads(text))
    except ValueError:
        return False


def json_text(value: Any, like: str) -> str:
    """Return a value as JSON, indented as another text is, without a final line break."""
    second = like.strip().partition("\n")[2]
    margin = _MARGIN.match(second)
    indent = (margin[0] if margin else "") or None
    separators = None if indent or '": ' in like else (",", ":")
    return json.dumps(value, indent=indent, separators=separators, ensure_ascii=False)


def _in_json(text: str, items: Iterable[NewItem]) -> Iterator[TextSpan]:
    for item in items:
        begin, last = extent(text, item.within) or (0, 0)
        line = text[text.rfind("\n", 0, begin) + 1 : begin]
        margin = line[: len(line) - len(line.lstrip())]
        between = "," + (f"\n{margin}" if "\n" in text[begin:last] else " " if ", " in text else "")
        new = (json_text(value, text).replace("\n", f"\n{margin}") for value in item.values)
        yield TextSpan(begin, last, between.join(new))


def _in_yaml(read: Text, items: Iterable[NewItem]) -> Iterator[TextSpan]:
    spans, values = list[TextSpan](), dict[int, Any]()
    tree = parse(read.text)
    for item in items:
        field = read.field(item.within)
        if field is None:
            raise LookupError(item.within)
        spans.append(_item_span(read, field, item))
        values |= _values(field.value, get(tree, item.within))
    yield from spans
    for begin, last, target in _aliases(read.text):
        if target in values and not any(span.begin <= begin < span.end for span in spans):
            yield TextSpan(begin, last, flow(values[target]))


def _item_span(read: Text, field: TextField, item: NewItem) -> TextSpan:
    begin, column = int(field.value.start_mark.index), int(field.value.start_mark.column)
    others = item.values[1:]
    if field.flow:
        return TextSpan(begin, int(field.value.end_mark.index), ", ".join((item.text.rstrip("\n"), *map(flow, others))))
    own = source_comments(read.text).part(field.value)
    _, dash = own.fields[0].blocks[-2]
    last = max((read.last_line(field), *(each.line + len(each.texts) - 1 for each in own.comments)))
    first, *below = item.text.rstrip("\n").split("\n")
    lines = [first, *shifted(below, column)]
    for other in others:
        label = f"{' ' * dash}- "
        first, *below = Writer(as_given=True).document(other).rstrip("\n").split("\n")
        lines += [label + first, *shifted(below, len(label))]
    line_end = read.starts[last] + len(read.lines[last])
    return TextSpan(begin, line_end - (read.text[line_end - 1 : line_end] == "\r"), "\n".join(lines))


def _values(node: TextNode, value: Any) -> dict[int, Any]:
    """Return the values of a node and of all nodes in it, by the index at which each begins."""
    found = {int(node.start_mark.index): value}
    if isinstance(node, SequenceNode):
        for child, item in zip(node.value, value, strict=True):
            found |= _values(child, item)
    elif isinstance(node, MappingNode):
        for key, child in node.value:
            if key.value in value:
                found |= _values(child, value[key.value])
    return found


def _aliases(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the begin and the end of each alias, and the index of its anchor's node."""
    anchors: dict[str | None, int] = {}
    for event in iter(events(text), None):
        if isinstance(event, AliasEvent):
            yield start(event), end(event), anchors[event.anchor]
        elif isinstance(event, NodeEvent) and event.anchor is not None:
            anchors[event.anchor] = start(event)
