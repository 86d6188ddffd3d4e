"""The texts on which Go's scanner of YAML and libyaml's disagree.

Reads texts and events; tells what Go refuses and libyaml accepts, and rewrites what libyaml refuses and Go accepts.
Source: go.yaml.in/yaml/v2 (scannerc.go) beside libyaml 0.2.5, compared on a million texts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.documents.events import MarkedYAMLError, ScalarEvent, start

if TYPE_CHECKING:
    from trainc.kubernetes.documents.composer_messages import Message
    from trainc.kubernetes.documents.events import YAMLError

_TAG_AND_COMMA: Final = re.compile(r"(?:&[\w-]+\s+)?![^\s,\[\]{}]*,")
_ESCAPED_SLASH: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")
_DOUBLE_QUOTED: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_REWRITTEN: Final = 2**24
"""As many characters are read again for rewritten texts."""


def refused(text: str, event: Any, *, in_flow: bool) -> Message | None:
    """What is wrong with the beginning of a value to Go alone, and the way out."""
    is_scalar = event.__class__ is ScalarEvent
    if is_scalar and event.style == '"':
        if _ESCAPED_SLASH.search(text, start(event), event.end_mark.index):
            return r"the escape \/ is JSON's, and unknown in YAML", "write / without the backslash"
    elif in_flow and is_scalar and not event.style and "?" in event.value:
        what = "a value between brackets or braces cannot hold a `?`: Kubernetes takes it for the start of a key"
        return what, "put the value in quotes"
    if in_flow and event.tag is not None and _TAG_AND_COMMA.match(text, start(event)):
        what = "a tag must end with a space: Kubernetes takes the comma for a part of it"
        return what, "put a space before the comma"
    return None


def rewritings(text: str) -> range:
    """How often a text may be rewritten, once at least: a long one not as often, so that no text takes long."""
    return range(1 + _REWRITTEN // (len(text) + 1))


def rewritten(text: str, error: YAMLError, quote: str = "'") -> str | None:
    r"""The text without the escapes \' of the double-quoted string that libyaml refuses; None if that is not the error.

    quote   what is written for each of them
    """
    if not isinstance(error, MarkedYAMLError) or error.problem != "found unknown escape character":
        return None
    begin = error.context_mark.index if error.context_mark is not None else 0
    string = _DOUBLE_QUOTED.match(text, begin)
    if string is None:
        return None
    # Two backslashes are one that is escaped: what follows them is no escape of theirs.
    spelled = r"\\".join(part.replace(r"\'", quote) for part in string[0].split(r"\\"))
    return text[:begin] + spelled + text[string.end() :] if spelled != string[0] else None
