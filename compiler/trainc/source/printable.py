"""Text of the input, made fit for a terminal."""

from __future__ import annotations


def escape(text: str) -> str:
    """Text that a terminal cannot be taken over with: what does not print is shown as its code."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
