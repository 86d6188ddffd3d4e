"""Where a field stands in a manifest's text. Read a second time, and only when a diagnostic is printed.

Reads the text of one document (YAML or JSON) and a field path; returns a line and a column. Aliases and merge keys are
followed to where the value is written.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import Final

from trainc.kubernetes.documents.events import (
    MOST_EVENTS,
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
    YAMLError,
    events,
    start,
)
from trainc.kubernetes.documents.quirks import rewritings, rewritten
from trainc.kubernetes.documents.scalars import MERGE_TAG, key_text, plain
from trainc.kubernetes.documents.tags import TagError, tagged
from trainc.kubernetes.documents.yamlerror import place

_DEEPEST: Final = 1000
"""No document is nested as deep; libyaml takes very long over hostile texts that are."""
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89abcdefABCDEF][0-9a-fA-F]{2}")


def locate(text: str, path: tuple[str | int, ...], *, key: bool = False) -> tuple[int, int]:
    """1-based line and column of the value at a path of keys and indices, or with `key` of the value's key.

    Where the path leads to nothing: of the deepest value on the way that exists. Never raises.

    >>> locate("spec:\\n  ports:\\n  - 80\\n  - 443", ("spec", "ports", 1)), locate("a: b", ("a",), key=True)
    ((4, 5), (1, 1))
    """
    node = _tree(text)
    index = node.index
    for step, part in enumerate(path, 1):
        field = node.find(part)
        if field is None:
            break
        key_index, node = field
        index = key_index if key and step == len(path) else node.index
    return place(text, index)


class _Node:
    """A value of the text: where it starts, and its fields or items, each with its key's place and its value."""

    __slots__ = ("fields", "index", "key", "merges", "sequence")

    def __init__(self, index: int, *, sequence: bool = False) -> None:
        self.index = index
        self.sequence = sequence
        self.fields: dict[str | int, tuple[int, _Node]] = {}
        self.merges: list[_Node] = []
        self.key: tuple[str | None, int] | None = None  # read already, while its value is still to come

    def add(self, child: _Node) -> None:
        """Take in the next value; of equal keys the first one counts."""
        if self.sequence:
            self.fields[len(self.fields)] = (child.index, child)
        elif self.key is not None:
            name, index = self.key
            if name is None:
                self.merges.append(child)
            else:
                self.fields.setdefault(name, (index, child))
            self.key = None

    def find(self, part: str | int) -> tuple[int, _Node] | None:
        """A field or an item; the mapping's own fields come first, then those of the first one merged."""
        waiting, seen = [self], set()
        while waiting:
            node = waiting.pop()
            if part in node.fields and (node is self or not node.sequence):
                return node.fields[part]
            if id(node) not in seen:
                seen.add(id(node))
                merged = [child for _, child in node.fields.values()] if node.sequence else node.merges
                waiting.extend(reversed(merged if node is not self or not node.sequence else []))
        return None


@lru_cache(maxsize=4)
def _tree(text: str) -> _Node:
    """The root of a text's values, as far as the text can be read."""
    # JSON writes characters beyond U+FFFF as two escapes, which YAML refuses: a stand-in of the same length.
    text = _SURROGATE_ESCAPE.sub(r"\\u0020", text)
    for _ in rewritings(text):
        root = _Node(0, sequence=True)
        try:
            _fill(root, text)
        except YAMLError as error:
            again = rewritten(text, error, quote="''")  # as long as before: places stay
            if again is not None:
                text = again
                continue
        except UnicodeEncodeError:
            pass
        break
    _, first = root.fields.get(0, (0, root))
    return first


def _fill(root: _Node, text: str) -> None:
    byte_order_mark = text.startswith("\ufeff")
    anchors: dict[str | None, _Node] = {}
    names: dict[str | None, str] = {}
    stack = [root]
    for event in islice(iter(events(text[byte_order_mark:]), None), MOST_EVENTS):
        if isinstance(event, NodeEvent):
            node = stack[-1]
            child = _Node(start(event) + byte_order_mark, sequence=isinstance(event, SequenceStartEvent))
            index = child.index
            if isinstance(event, AliasEvent):
                child = anchors.get(event.anchor, child)
            elif event.anchor is not None:
                anchors[event.anchor] = child
                names[event.anchor] = event.value if isinstance(event, ScalarEvent) else ""
            if node.sequence or node.key is not None:
                node.add(child)
            else:
                node.key = (_name(event) if isinstance(event, ScalarEvent) else names.get(event.anchor, ""), index)
            if isinstance(event, CollectionStartEvent):
                stack.append(child)
                if len(stack) > _DEEPEST:
                    return
        elif isinstance(event, CollectionEndEvent):
            stack.pop()
        elif isinstance(event, DocumentEndEvent):
            return


def _name(event: ScalarEvent) -> str | None:
    """A key as JSON spells it; None for a merge."""
    text = event.value
    if text == "<<" and (event.implicit[0] or event.tag == MERGE_TAG):
        return None
    try:
        value = tagged(event.tag, text) if event.tag is not None else plain(text) if event.implicit[0] else text
    except TagError:
        value = text
    return key_text(value) or text
