"""go-yaml compatibility: tagged scalars, and the differences between the YAML scanners of Go and libyaml.

Reads    texts and events, and the text of a scalar with a tag. Imported only for a tag, a quoted string, or an error.
Returns  the message for a text that only libyaml accepts, a rewritten text that only Go accepts, and the value of a
         tagged scalar.
Source   go.yaml.in/yaml/v2 (scannerc.go, resolve.go, decode.go) and libyaml 0.2.5, compared on a million texts;
         time.Parse of Go's library.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.documents.events import MarkedYAMLError, ScalarEvent, start
from trainc.kubernetes.documents.scalars import Scalar, plain_scalar, without_escapes

if TYPE_CHECKING:
    from trainc.kubernetes.documents.events import YAMLError
    from trainc.kubernetes.documents.yamlerror import Message

_TAG_AND_COMMA: Final = re.compile(r"(?:&[\w-]+\s+)?![^\s,\[\]{}]*,")
_ESCAPED_SLASH: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")
_REWRITTEN: Final = 2**24
"""Maximum number of characters that are parsed again for rewritten texts."""
_TAGS: Final = "tag:yaml.org,2002:"
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    _TAGS + "null": (type(None),),
    _TAGS + "bool": (bool,),
    _TAGS + "int": (int,),
    _TAGS + "float": (float, int),
}
_BASE64: Final = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
_DATE: Final = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
_TIME: Final = r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})(?:[.,][0-9]+)?"
_ZONE: Final = r"(?:Z|[-+](?P<ahead>[0-9]{2}):(?P<minutes>[0-9]{2}))"
_TIMESTAMP: Final = f"{_DATE}(?:[Tt]{_TIME}{_ZONE}| {_TIME.replace('P<', 'P<just_')})?"
_MOST: Final = {"hour": 23, "minute": 59, "second": 59, "ahead": 24, "minutes": 60}


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


class TagError(ValueError):
    """A text that does not match its tag; the message is the reason."""


def tagged(tag: str, text: str) -> Scalar:
    """Return the value of a scalar with a tag, quoted or not; with a tag unknown to Kubernetes, a string.

    Raises TagError.
    """
    kinds = _KINDS.get(tag)
    if kinds is not None:
        value = plain_scalar(text)
        if type(value) not in kinds or (kinds[0] is float and isinstance(value, int) and value >= 2**63):
            raise TagError(f"{'the' if text else 'an empty'} value is not a valid {tag.removeprefix(_TAGS)}")
        return float(value) if kinds[0] is float and isinstance(value, int) else value
    if tag == _TAGS + "binary":
        return _binary(text)
    if tag == _TAGS + "timestamp" and not _is_timestamp(text):
        raise TagError("the value is not a valid timestamp")
    return text


def _binary(text: str) -> str:
    import base64

    text = re.sub(r"[\r\n]", "", text)
    if not re.fullmatch(_BASE64, text):
        raise TagError("the value is not valid base64")
    # Go's JSON writer replaces each byte that is not UTF-8 with U+FFFD.
    decoded = base64.b64decode(text).decode("utf-8", "surrogateescape")
    return re.sub(r"[\udc80-\udcff]", "\ufffd", decoded)


def _is_timestamp(text: str) -> bool:
    """Whether the text has one of the timestamp formats that Go's reader tries, and its date exists."""
    import calendar

    match = re.fullmatch(_TIMESTAMP, text)
    if match is None:
        return False
    parts = {name.removeprefix("just_"): int(part) for name, part in match.groupdict().items() if part is not None}
    month, day = parts["month"], parts["day"]
    if not 1 <= month <= 12 or not 1 <= day <= calendar.monthrange(parts["year"] or 2000, month)[1]:
        return False
    return all(parts.get(name, 0) <= most for name, most in _MOST.items())
