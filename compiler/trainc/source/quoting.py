"""The help for a number where a string is required, with the number as its file has it.

A parsed number has lost its form: `1.10` is 1.1, and `010` is 8.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from trainc.diagnostics import Place

_PARSED: Final = 'quote it: "'
"""The start of the help of `trainc.kubernetes.structural.hints` for a number."""
_NUMBER: Final = re.compile(r"[-+.\w]{1,60}", re.ASCII)


def as_written(help: str, place: Place) -> str:
    """Return the help for a value; one that shows a parsed number with the number's text instead."""
    if not help.startswith(_PARSED):
        return help
    from trainc.source.excerpt import place as indices

    at = place.locate()
    if at.source is None:
        return "quote it"
    begin, end = indices(at)
    text = at.source.text[begin:end]
    return f'{_PARSED}{text}"' if _NUMBER.fullmatch(text) else "quote it"
