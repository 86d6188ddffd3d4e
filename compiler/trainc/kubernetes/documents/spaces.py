"""Spaces that YAML reads as text: no-break spaces and others, often pasted from a web page or a chat.

Reads    a text or a key.
Returns  the position and the name of such a space in an indentation. Imported only on an error.
"""

from __future__ import annotations

import re
from typing import Final

_SPACES: Final = "\xa0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff"
_INDENTED: Final = re.compile(rf" *(?:- +)*([{_SPACES}])[{_SPACES} ]*(?:- |[\w./\"'-]+ *:(?: |$))", re.MULTILINE)
_LEADING: Final = re.compile(rf"[{_SPACES}]")
_NAMES: Final = {"\xa0": "no-break space", "\u200b": "zero-width space", "\u3000": "ideographic space"}
HELP: Final = "indent with spaces"


def index_in_indentation(text: str, index: int) -> int | None:
    """Return the index of the first such space in the indentation of a line, or of the lines just above it.

    A key after such a space belongs to another mapping than it seems, and the parser stops at the line below it.
    """
    found = None
    begin = text.rfind("\n", 0, index) + 1
    space = _space(text, begin)
    if space is None and begin:
        begin = _lines_above(text, begin)
        space = _space(text, begin)
    while space is not None:
        found = space
        if not begin:
            break
        begin = _lines_above(text, begin)
        space = _space(text, begin)
    return found


def _lines_above(text: str, begin: int) -> int:
    return text.rfind("\n", 0, begin - 1) + 1


def _space(text: str, begin: int) -> int | None:
    match = _INDENTED.match(text, begin)
    return match.start(1) if match else None


def message(char: str) -> str:
    """Return the message for such a space in an indentation."""
    return f"this line is indented with {named(char)}, which YAML reads as text"


def named(char: str) -> str:
    """Return a character's name with its code point."""
    return f"a {_NAMES.get(char, 'Unicode space')} (U+{ord(char):04X})"


def leading_space(key: str) -> str:
    """Return the space with which a key starts, if YAML reads it as text."""
    return key[:1] if _LEADING.match(key) else ""
