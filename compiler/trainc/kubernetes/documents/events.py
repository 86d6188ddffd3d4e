"""YAML texts as the events of a parser: the only file that knows which parser that is.

Reads a text; returns a function that gives its events one by one, and None after the last.
libyaml's parser is some thirty times faster than PyYAML's own one, which stands in where the extension is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "MOST_ALIASES",
    "MOST_EVENTS",
    "AliasEvent",
    "CollectionEndEvent",
    "CollectionStartEvent",
    "DocumentEndEvent",
    "DocumentStartEvent",
    "Event",
    "MappingEndEvent",
    "MappingStartEvent",
    "MarkedYAMLError",
    "NodeEvent",
    "ScalarEvent",
    "SequenceEndEvent",
    "SequenceStartEvent",
    "StreamEndEvent",
    "YAMLError",
    "events",
    "start",
]


MOST_ALIASES: Final = 50_000
"""How many aliases a document may have: each takes as long as ten keys."""
MOST_EVENTS: Final = 250_000
"""How many keys and values a document may have, a list or mapping counting twice: at its start and at its end."""


def events(text: str) -> Callable[[], Event | None]:
    """The events of a text. Each call may raise YAMLError; the first one UnicodeEncodeError, for lone surrogates."""
    try:
        from yaml._yaml import CParser
    except ImportError:
        from yaml import BaseLoader

        return BaseLoader(text).get_event
    return CParser(text).get_event


def start(event: Event) -> int:
    """Where an event starts: the index of a character in the text."""
    mark = event.start_mark
    return mark.index if mark is not None else 0
