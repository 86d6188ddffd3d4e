"""The hints that quote numbers, with each number as its file has it.

A parsed number has lost its form: `1.10` is 1.1, and `010` is 8.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Written, filled
from trainc.diagnostics import Place

if TYPE_CHECKING:
    from trainc.base.fixes import Fix
    from trainc.diagnostics import Document

_PLAIN: Final = re.compile(r"[-+.\w]{1,60}", re.ASCII)


def as_written(help: str, fix: Fix | None, document: Document) -> tuple[str, Fix | None]:
    """Return a hint and its fix with the texts of the document instead of parsed numbers.

    If a text is not known, the hint shows no value, and there is no fix.
    """
    if fix is None:
        return help, fix
    try:
        new = fix.mapped(lambda _, value: filled(value, lambda written: _text(written, document)))
    except LookupError:
        return help.replace(fix.title, fix.bare), None
    return help.replace(fix.title, new.title), new


def _text(written: Written, document: Document) -> str | None:
    """Return the text of a scalar without quotes, if its file has one."""
    from trainc.source.excerpt import place as indices

    place = Place(document, written.path)
    at: Any = place.locate()
    if at.source is None:
        return None
    begin, end = indices(at)
    text: str = at.source.text[begin:end]
    return text if _PLAIN.fullmatch(text) else None
