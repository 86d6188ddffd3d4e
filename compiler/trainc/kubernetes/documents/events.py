"""YAML texts as parser events: the only module that depends on the parser.

Reads a text; returns a function that returns its events one by one, and None after the last.
libyaml's parser is about thirty times faster than PyYAML's own, which is the fallback if the extension is missing.
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
    "end",
    "events",
    "start",
]


MOST_ALIASES: Final = 50_000
"""Maximum aliases in a document: each takes as long as ten keys."""
MOST_EVENTS: Final = 250_000
"""Maximum keys and values in a document; a list or mapping counts twice: at its start and at its end."""


def events(text: str) -> Callable[[], Event | None]:
    """Return the events of a text. Each call may raise YAMLError; the first, UnicodeEncodeError for lone surrogates."""
    try:
        from yaml._yaml import CParser
    except ImportError:
        from yaml import BaseLoader

        return BaseLoader(text).get_event
    return CParser(text).get_event


def start(event: Event) -> int:
    """Return the index in the text at which an event starts."""
    mark = event.start_mark
    return mark.index if mark is not None else 0


def end(event: Event) -> int:
    """Return the index in the text at which an event ends."""
    mark = event.end_mark
    return mark.index if mark is not None else 0
