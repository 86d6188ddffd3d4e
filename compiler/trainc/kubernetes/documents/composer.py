"""Compose one YAML document from its parser's events into a JSON value, in a single pass.

Reads a text without a byte order mark; returns dicts with string keys, lists, and JSON scalars. Anchored values are
shared, never copied, so the result must not be modified.
Source: sigs.k8s.io/yaml 1.6.0 (strict) on go.yaml.in/yaml/v2 (decode.go). Deliberate differences: a key may override an
earlier merged one, and keys that differ in Go but not in JSON (1 and "1") are rejected.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.documents import yamlerror
from trainc.kubernetes.documents.events import (
    MOST_ALIASES,
    MOST_EVENTS,
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    MarkedYAMLError,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    YAMLError,
    events,
    start,
)
from trainc.kubernetes.documents.scalars import HINTS, MERGE_TAG, json_number, key_text, plain_scalar
from trainc.kubernetes.documents.yamlerror import YamlError

if TYPE_CHECKING:
    from trainc.kubernetes.documents.yamlerror import Message

_KEY: Final = object()
"""The key of a mapping that expects its next key."""
TOO_DEEP: Final = "exceeded maximum nesting depth"
"""The problem of libyaml 0.2.6 and later with a flow collection."""
DEEPEST_IN_LIBYAML: Final = 1000
"""The maximum nesting depth of flow collections in libyaml 0.2.6 and later."""
_MERGE: Final = object()
"""The key `<<`: its value's fields become fields of the mapping."""
_NO_KEYS: Final[set[str]] = set()
"""The initial set of merged keys; the first merge of a mapping replaces it with a new set."""
_FEW: Final = 400_000
_SHARE_OF_FEW: Final = 0.99
_MANY: Final = 4_000_000


def compose(text: str, *, deepest: int, sole: bool) -> Any:
    """Return the value of the first document of a text; with `sole`, nothing may follow it.

    deepest   the maximum nesting depth, with aliases resolved
    Raises YamlError.
    """
    try:
        return _composed(text, deepest, sole=sole)
    except YAMLError as error:
        return _composed_again(text, error, deepest, sole=sole)
    except UnicodeEncodeError as error:
        from trainc.kubernetes.documents.parser_messages import not_utf8

        raise not_utf8(text, error.start) from None


def _composed_again(text: str, error: YAMLError, deepest: int, *, sole: bool) -> Any:
    """Return the value of a text that libyaml rejects, if Go accepts it."""
    from trainc.kubernetes.documents.goyaml import rewritings, rewritten
    from trainc.kubernetes.documents.parser_messages import translated

    if isinstance(error, MarkedYAMLError) and error.problem == TOO_DEEP and error.problem_mark is not None:
        message, help = yamlerror.too_deep(min(deepest, DEEPEST_IN_LIBYAML))
        raise YamlError.at(text, error.problem_mark.index, message, help=help) from None
    for _ in rewritings(text):
        again = rewritten(text, error)
        if again is None:
            break
        text = again
        try:
            return _composed(text, deepest, sole=sole)
        except YAMLError as next_error:
            error = next_error
    raise translated(text, error) from None


def _composed(text: str, deepest: int, *, sole: bool) -> Any:
    composer = _Composer(text, deepest)
    value = composer.document()
    if sole:
        composer.expect_end()
    return value


class _Frame:
    """A collection under construction: exactly one of sequence and mapping is not None."""

    height = 1  # its nesting depth, including itself
    merged: set[str] = _NO_KEYS  # keys set by a merge, which the mapping's own keys may override
    anchor: Anchor | None = None
    merge: Event | None = None  # the most recent `<<`
    before = 0  # the node count at the start of an anchored collection

    def __init__(self, sequence: list[Any] | None, mapping: dict[str, Any] | None, *, flow: bool | None) -> None:
        self.sequence = sequence
        self.mapping = mapping
        self.key: Any = None if mapping is None else _KEY
        self.flow = flow


class _Composer:
    def __init__(self, text: str, deepest: int) -> None:
        self.text = text
        self.deepest = deepest
        self.next_event = events(text)
        self.odd = "?" in text or "!" in text or "\\/" in text  # whether Go may reject a text that libyaml accepts
        self.special = self.odd or "&" in text  # whether a scalar may have an anchor or tag, or be rejected by Go
        self.stack: list[_Frame] = []  # the collections that enclose the innermost one
        self.anchors: dict[str, Anchor] = {}
        # Events that Go's decoder does not count, minus nodes without an event: the document and aliased nodes.
        self.uncounted = -1
        self.aliases = 0
        self.aliased = 0  # nodes that aliases refer to
        self.checked = 0  # the node count up to which the share of aliases has been checked

    def document(self) -> Any:
        """Return the next document's value; None at the end of the stream."""
        self.next_event()  # the stream's start
        event = self.next_event()
        if not isinstance(event, DocumentStartEvent):
            return None
        if event.version not in (None, (1, 1)):
            raise self._error(event, yamlerror.WRONG_VERSION)
        return self._content()

    def expect_end(self) -> None:
        """Raise YamlError if anything follows the document."""
        event = self.next_event()
        if event is not None and not isinstance(event, StreamEndEvent):
            raise self._error(event, yamlerror.SECOND_DOCUMENT)

    def _content(self) -> Any:
        """Return the value between a document's start and its end."""
        root: list[Any] = []
        frame = _Frame(root, None, flow=False)
        # The innermost collection's state in local variables: this is the compiler's hottest loop.
        sequence: Any = root
        mapping: Any = None
        key: Any = None
        event: Any
        special = self.special
        for number, event in enumerate(iter(self.next_event, None)):
            if number == MOST_EVENTS:
                raise self._error(event, yamlerror.too_many(MOST_EVENTS))
            kind = event.__class__
            if kind is ScalarEvent:
                value = event.value
                if special:
                    value = self._special_scalar(event, frame)
                elif (not value or value[0] in HINTS) and event.implicit[0]:
                    value = plain_scalar(value)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                frame.key = key
                frame = self._begin(frame, event, number)
                sequence, mapping, key = frame.sequence, frame.mapping, frame.key
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                frame = self._end(frame, event, number)
                sequence, mapping, key = frame.sequence, frame.mapping, frame.key
                continue
            elif kind is AliasEvent:
                frame.key = key
                value = self._alias(frame, event, number)
            else:
                self._reject_bomb(event, number - self.uncounted)
                break
            if key is _KEY:
                fresh = value.__class__ is str and value != "<<" and value not in mapping
                key = value if fresh else self._key(frame, value, event)
                continue
            if value.__class__ is float:
                value = self._finite_number(value, event)
            if mapping is None:
                sequence.append(value)
            elif key is _MERGE:
                self._merge(frame, value, event)
                key = _KEY
            else:
                mapping[key] = value
                key = _KEY
        return root[0]

    def _begin(self, frame: _Frame, event: Any, number: int) -> _Frame:
        """Open a collection and attach it to its parent; the value of a merge key is merged at its end instead."""
        key = frame.key
        if key is _KEY:
            raise self._complex_key(event)
        if self.odd:
            self._reject_if_go_rejects(event, frame)
        value: Any
        if event.__class__ is MappingStartEvent:
            value = {}
            inner = _Frame(None, value, flow=event.flow_style)
        else:
            value = []
            inner = _Frame(value, None, flow=event.flow_style)
            self.uncounted += key is _MERGE
        if frame.sequence is not None:
            frame.sequence.append(value)
        elif key is not _MERGE:
            frame.mapping[key] = value  # type: ignore[index]
        if event.anchor is not None:
            self.anchors[event.anchor] = inner.anchor = Anchor(value, open=True)
            inner.before = number - self.uncounted
        self.stack.append(frame)
        if len(self.stack) > self.deepest:
            raise self._error(event, yamlerror.too_deep(self.deepest))
        return inner

    def _end(self, frame: _Frame, event: Event, number: int) -> _Frame:
        """Close a collection; return the enclosing one."""
        self.uncounted += 1
        outer = self.stack.pop()
        grown = frame.height + 1
        if outer.key is _MERGE:  # a merged mapping moves one level up; in a list, two
            grown -= 1 if frame.sequence is None else 2
        outer.height = max(outer.height, grown)
        if frame.anchor is not None:
            frame.anchor.open = False
            frame.anchor.height = frame.height
            frame.anchor.nodes = number + 1 - self.uncounted - frame.before
        if outer.key is _MERGE:
            self._merge(outer, frame.sequence if frame.mapping is None else frame.mapping, event)
        if outer.mapping is not None:
            outer.key = _KEY
        return outer

    def _alias(self, frame: _Frame, event: AliasEvent, number: int) -> Any:
        self.aliases += 1
        if self.aliases > MOST_ALIASES:
            raise self._error(event, yamlerror.too_many_aliases(MOST_ALIASES))
        anchor = self.anchors.get(event.anchor or "")
        if anchor is None:
            raise self._error(event, yamlerror.UNKNOWN_ALIAS)
        if anchor.open:
            raise self._error(event, yamlerror.endless_alias(event.anchor or ""))
        self._reject_bomb(event, number + 1 - self.uncounted)
        self.aliased += anchor.nodes
        self.uncounted -= anchor.nodes
        self.checked = number - self.uncounted  # within one alias, the share is largest at its last node
        self._reject_bomb(event, number + 1 - self.uncounted)
        height = anchor.height - (frame.key is _MERGE)
        if len(self.stack) + height > self.deepest:
            raise self._error(event, yamlerror.too_deep(self.deepest))
        frame.height = max(frame.height, height + 1)
        if frame.key is _MERGE and not isinstance(anchor.value, dict):
            raise self._error(event, yamlerror.NOT_MERGEABLE)
        return anchor.value

    def _key(self, frame: _Frame, value: Any, event: Any) -> Any:
        """Return a key that needs a check: not a string, a merge, or already in the mapping."""
        if isinstance(event, ScalarEvent) and value == "<<" and (event.implicit[0] or event.tag == MERGE_TAG):
            self.uncounted += 1
            frame.merge = event
            return _MERGE
        if isinstance(value, dict | list):
            raise self._complex_key(event)
        key = key_text(value)
        if key is None:
            raise self._error(event, yamlerror.invalid_key(value))
        if frame.mapping is not None and key in frame.mapping:
            if key not in frame.merged:
                raise self._duplicate(key, event)
            frame.merged.remove(key)
        return key

    def _merge(self, frame: _Frame, value: Any, event: Event) -> None:
        """Add the fields of `<<` to the mapping. The mappings of a list are merged last to first."""
        mapping = frame.mapping
        assert mapping is not None
        if frame.merged is _NO_KEYS:
            frame.merged = set()
        sources = value[::-1] if isinstance(value, list) else [value]
        for source in sources:
            if not isinstance(source, dict):
                raise self._error(event, yamlerror.NOT_MERGEABLE)
            for key in source:
                if key in mapping:
                    raise self._merge_error(frame, key, frame.merge or event)
            mapping.update(source)
            frame.merged.update(source)

    def _special_scalar(self, event: Any, frame: _Frame) -> Any:
        """Return the value of a scalar that may have an anchor or a tag."""
        if self.odd:
            self._reject_if_go_rejects(event, frame)
        value = event.value
        if event.tag is not None:
            from trainc.kubernetes.documents.goyaml import TagError, tagged

            try:
                value = tagged(event.tag, value)
            except TagError as error:
                raise self._error(event, yamlerror.wrong_tag(str(error))) from None
        elif event.implicit[0]:
            value = plain_scalar(value)
        if event.anchor is not None:
            self.anchors[event.anchor] = Anchor(value, open=False)
        return value

    def _finite_number(self, value: float, event: Event) -> int | float:
        if not isfinite(value):
            raise self._error(event, yamlerror.NOT_FINITE)
        return json_number(value)

    def _reject_if_go_rejects(self, event: Any, frame: _Frame) -> None:
        from trainc.kubernetes.documents.goyaml import go_error

        found = go_error(self.text, event, in_flow=bool(frame.flow))
        if found is not None:
            raise self._error(event, found)

    def _reject_bomb(self, event: Event, nodes: int) -> None:
        """Check the share of aliases at every node count since the last check."""
        first, self.checked = self.checked + 1, nodes
        if is_bomb(self.aliased, first, nodes):
            raise self._error(event, yamlerror.bomb(nodes))

    def _complex_key(self, event: Event) -> YamlError:
        index = start(event)
        return self._error(event, yamlerror.complex_key(self.text[max(index - 1, 0) : index + 1]))

    def _duplicate(self, key: str, event: Event) -> YamlError:
        written = self.text[start(event) : event.end_mark.index] if event.end_mark is not None else key
        return self._error(event, yamlerror.duplicate(key, written), since=self._line_of(key))

    def _merge_error(self, frame: _Frame, key: str, event: Event) -> YamlError:
        if key in frame.merged:
            return self._error(event, yamlerror.merged_twice(key))
        return self._error(event, yamlerror.late_merge(key), since=self._line_of(key))

    def _line_of(self, key: str) -> int:
        """Return the line of the first occurrence of a key in the innermost mapping."""
        from trainc.kubernetes.documents.positions import locate

        path = [outer.key if outer.sequence is None else len(outer.sequence) - 1 for outer in self.stack[1:]]
        line, _ = locate(self.text, (*(part for part in path if part is not _MERGE), key), key=True)
        return line

    def _error(self, event: Event, message: Message, *, since: int = 0) -> YamlError:
        what, help = message
        return YamlError.at(self.text, start(event), what, help=help, since=since)


class Anchor:
    """The value of an anchor, its node count and its nesting depth. Open while it is being read."""

    __slots__ = ("height", "nodes", "open", "value")

    def __init__(self, value: Any, *, open: bool) -> None:
        self.value = value
        self.open = open
        self.nodes = 1
        self.height = 0


def is_bomb(aliased: int, first: int, last: int) -> bool:
    """Whether the share of aliased nodes is too large at any node count from first to last.

    aliased   the nodes from aliases before first; those from first to last are not aliased

    The share is closest to its limit at both ends of the range and where the limit stops decreasing.
    """
    if aliased <= 100 or last <= 1000:
        return False
    first = min(max(first, 1001), last)
    if last <= _FEW:
        return aliased / first > _SHARE_OF_FEW
    return any(aliased / nodes > _allowed_share(nodes) for nodes in (first, min(max(first, _MANY), last), last))


def _allowed_share(nodes: int) -> float:
    """Return the allowed share: 99 %, which decreases to 10 % for large documents."""
    if nodes <= _FEW:
        return _SHARE_OF_FEW
    if nodes >= _MANY:
        return 0.10
    return _SHARE_OF_FEW - 0.89 * ((nodes - _FEW) / (_MANY - _FEW))
