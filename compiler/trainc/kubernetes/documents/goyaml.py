"""go-yaml compatibility: the differences between the YAML scanners of Go and libyaml.

Reads texts and events; reports texts that only libyaml accepts, and rewrites texts that only Go accepts.
Source: go.yaml.in/yaml/v2 (scannerc.go) and libyaml 0.2.5, compared on a million texts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.documents.events import MarkedYAMLError, ScalarEvent, start
from trainc.kubernetes.documents.scalars import without_escapes

if TYPE_CHECKING:
    from trainc.kubernetes.documents.composer_messages import Message
    from trainc.kubernetes.documents.events import YAMLError

_TAG_AND_COMMA: Final = re.compile(r"(?:&[\w-]+\s+)?![^\s,\[\]{}]*,")
_ESCAPED_SLASH: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")
_REWRITTEN: Final = 2**24
"""Maximum number of characters that are parsed again for rewritten texts."""


def go_error(text: str, event: Any, *, in_flow: bool) -> Message | None:
    """Return the message and hint for a value that only Go rejects, by its start; None if Go accepts it."""
    is_scalar = event.__class__ is ScalarEvent
    if is_scalar and event.style == '"':
        if _ESCAPED_SLASH.search(text, start(event), event.end_mark.index):
            return r"the escape \/ is valid in JSON, but not in YAML", "remove the backslash"
    elif in_flow and is_scalar and not event.style and "?" in event.value:
        what = "a value in brackets or braces cannot contain `?`: Kubernetes reads it as the start of a key"
        return what, "quote the value"
    if in_flow and event.tag is not None and _TAG_AND_COMMA.match(text, start(event)):
        what = "a tag must end with a space: Kubernetes reads the comma as part of it"
        return what, "add a space before the comma"
    return None


def rewritings(text: str) -> range:
    """Return how often a text may be rewritten: at least once, and less often for a long text, to limit the time."""
    return range(1 + _REWRITTEN // (len(text) + 1))


def rewritten(text: str, error: YAMLError, quote: str = "'") -> str | None:
    r"""Return the text without the \' escapes in the rejected double-quoted string; None if that is not the error.

    quote   the replacement for each escape
    """
    if not isinstance(error, MarkedYAMLError) or error.problem != "found unknown escape character":
        return None
    begin = error.context_mark.index if error.context_mark is not None else 0
    if not text.startswith('"', begin):
        return None
    end = without_escapes(text[begin + 1 :]).find('"')
    string = text[begin : begin + end + 1] if end >= 0 else text[begin:]
    # Two backslashes are an escaped one, so the character after them is not escaped.
    unescaped = r"\\".join(part.replace(r"\'", quote) for part in string.split(r"\\"))
    return text[:begin] + unescaped + text[begin + len(string) :] if unescaped != string else None
