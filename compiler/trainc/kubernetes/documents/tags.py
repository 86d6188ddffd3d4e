"""Tagged YAML scalars, resolved as the API server resolves them. Imported only for a tag.

Reads the text of one scalar and its tag, quoted or not; returns a Python value.
Source: go.yaml.in/yaml/v2 (resolve.go, decode.go), and time.Parse of Go's library.
"""

from __future__ import annotations

import re
from typing import Final

from trainc.kubernetes.documents.scalars import Scalar, plain_scalar

_TAGS: Final = "tag:yaml.org,2002:"
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    _TAGS + "null": (type(None),),
    _TAGS + "bool": (bool,),
    _TAGS + "int": (int,),
    _TAGS + "float": (float, int),
}
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


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
    if not _BASE64.fullmatch(text):
        raise TagError("the value is not valid base64")
    # Go's JSON writer replaces each byte that is not UTF-8 with U+FFFD.
    decoded = base64.b64decode(text).decode("utf-8", "surrogateescape")
    return re.sub(r"[\udc80-\udcff]", "\ufffd", decoded)


_DATE: Final = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
_TIME: Final = r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})(?:[.,][0-9]+)?"
_ZONE: Final = r"(?:Z|[-+](?P<ahead>[0-9]{2}):(?P<minutes>[0-9]{2}))"
_TIMESTAMP: Final = re.compile(f"{_DATE}(?:[Tt]{_TIME}{_ZONE}| {_TIME.replace('P<', 'P<just_')})?")
_MOST: Final = {"hour": 23, "minute": 59, "second": 59, "ahead": 24, "minutes": 60}


def _is_timestamp(text: str) -> bool:
    """Whether the text has one of the timestamp formats that Go's reader tries, and its date exists."""
    import calendar

    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return False
    parts = {name.removeprefix("just_"): int(part) for name, part in match.groupdict().items() if part is not None}
    month, day = parts["month"], parts["day"]
    if not 1 <= month <= 12 or not 1 <= day <= calendar.monthrange(parts["year"] or 2000, month)[1]:
        return False
    return all(parts.get(name, 0) <= most for name, most in _MOST.items())
