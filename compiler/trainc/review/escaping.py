"""Escaping: text of the input in HTML and Markdown, where it must not be interpreted.

Reads    text.
Returns  the text on one line, with unprintable characters escaped, and truncated if it is too long to read. In
         Markdown, a word that GitHub or GitLab might interpret (a mention, a reference, a link, an emoji) becomes code,
         which neither interprets. No text can end a code span, a table cell, a fence or an element.
Source   GitHub Flavored Markdown 0.29, HTML, and the references of both services.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from trainc.source.printable import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LINE: Final = 4000
"""The maximum length of a line of a page."""
WIDTH: Final = 200
"""The maximum length of a line of a comment."""
SENTENCE: Final = 600
"""The maximum length of a sentence."""
_PLAIN: Final = re.compile(r"(?!(?i:www)\.|[A-Za-z]+-\d)[A-Za-z0-9]+(?:['.-][A-Za-z0-9]+)*")
"""Words that neither service interprets: not a link, and not a reference such as GH-12."""
_WORD: Final = re.compile(r'"([^"]+)"|([^\s"(),;]+)|([\s(),;]+|")')
"""A quotation, a word, or a separator."""


def text(given: str) -> str:
    """Return text for a page.

    >>> text("</details>\\u202e")
    '&lt;/details&gt;\\\\u202e'
    """
    return html.escape(_with_tabs(given if len(given) <= LINE else f"{given[:LINE]}…"), quote=False)


def _with_tabs(given: str) -> str:
    """Return a line with its unprintable characters escaped, except tabs."""
    return given if given.isprintable() else "\t".join(map(escape, given.split("\t")))


def path(given: str) -> str:
    """Return a field path for a page, with line break opportunities between its steps."""
    return text(given).replace(".", ".<wbr>").replace("[", "<wbr>[")


def cut(given: str) -> str:
    """Return a line of a comment, truncated."""
    shown = escape(given[: WIDTH + 1])
    return shown if len(shown) <= WIDTH else f"{shown[:WIDTH]}…"


def in_html(given: str) -> str:
    """Return code for HTML within Markdown: the summary of collapsed details."""
    return f"<code>{html.escape(cut(given))}</code>"


def code(given: str) -> str:
    """Return code for Markdown. In a table, a pipe would end the cell even after a backslash.

    >>> code("a"), code("a|b")
    ('`a`', '<code>a&#124;b</code>')
    """
    shown = cut(given)
    if shown and shown == shown.strip() and not any(mark in shown for mark in "`|\\"):
        return f"`{shown}`"
    return f"<code>{''.join(map(_entity, shown))}</code>"


def _entity(character: str) -> str:
    """Return a character as an entity. Even as one, an @ marks an address, unless a comment follows."""
    if character.isalnum() or character == " ":
        return character
    return f"&#{ord(character)};" + ("<!-- -->" if character == "@" else "")


def prose(given: str, as_code: Callable[[str], str] = code) -> str:
    """Return a sentence whose quotations, and words that might be interpreted, are code.

    >>> prose('patch "a/b" of @team (so)')
    'patch `a/b` of `@team` (so)'
    """
    found = []
    for quoted, word, between in _WORD.findall(escape(given[:SENTENCE])[:SENTENCE]):
        if quoted:
            found.append(as_code(quoted))
        elif word:
            bare = word.rstrip(".:")
            plain = not bare or _PLAIN.fullmatch(bare)
            found.append((bare if plain else as_code(bare)) + word[len(bare) :])
        else:
            found.append(between.replace('"', "&quot;"))
    return "".join(found)


def fenced(lines: Sequence[str], most: int) -> str:
    """Return a diff in a fence that is longer than any fence in it."""
    shown = [_with_tabs(line if len(line) <= WIDTH else f"{line[:WIDTH]}…") for line in lines[:most]]
    if len(lines) > most:
        shown.append(f"  ... and {len(lines) - most} more lines")
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}diff", *shown, fence])
