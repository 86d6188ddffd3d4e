"""JSON objects in a text, read as Kubernetes reads them.

Reads a text and where an object begins; returns its value and where it ends, or None for what YAML should try: text
that is no JSON, and JSON that is refused, because a reading as YAML tells where the fault is.
Source: k8s.io/apimachinery 0.36 (util/yaml), sigs.k8s.io/json; on purpose, equal keys and half characters are refused.
"""

from __future__ import annotations

import json
import math
from typing import Any

from trainc.kubernetes.scalars import json_number, shorten
from trainc.kubernetes.yamlerror import YamlError


def json_object(text: str, begin: int, *, deepest: int) -> tuple[Any, int] | None:
    """The object that begins at a character of the text, and the index of its end.

    Raises YamlError for a number that no float can hold.
    """
    try:
        value, end = _DECODER.raw_decode(text, begin)
        written = text[begin:end]
        written.encode()
        if "\\u" in written:
            json.dumps(value, ensure_ascii=False).encode()
    except _TooLargeError as error:
        index = text.find(str(error), begin)
        raise YamlError.at(
            text, index, f"the number {shorten(str(error))} is too large", help="write a smaller one"
        ) from None
    except (ValueError, RecursionError):  # lone surrogates are a ValueError
        return None
    if written.count("[") + written.count("{") > deepest and _is_deeper(value, deepest):
        return None
    return value, end


class _TooLargeError(Exception):
    """A number beyond the largest float."""


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key stands twice")
    return fields


def _float(text: str) -> int | float:
    number = float(text)
    if math.isinf(number):
        raise _TooLargeError(text)
    return json_number(number)


def _integer(text: str) -> int | float:
    number = int(text) if len(text) <= 20 else 2**63
    return number if -(2**63) <= number < 2**63 else _float(text)


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_fields, parse_float=_float, parse_int=_integer, parse_constant=_constant)


def _is_deeper(value: Any, deepest: int) -> bool:
    level = [value]
    for _ in range(deepest):
        level = [
            child
            for collection in level
            for child in (collection.values() if isinstance(collection, dict) else collection)
            if isinstance(child, dict | list)
        ]
    return bool(level)
