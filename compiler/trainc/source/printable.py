"""Input text, made safe for a terminal."""

from __future__ import annotations


def escape(text: str) -> str:
    """Replace unprintable characters, such as terminal control sequences, with their escape codes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
