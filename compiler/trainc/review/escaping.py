"""Inert: words of the input as they stand in HTML and in Markdown, where they must not mean anything.

Reads    text.
Returns  the same on one line, with what does not print as its escape, and cut where it is too long to be read. In
         Markdown a word that might mean something to GitHub or GitLab (a mention, a reference, a link, an emoji) stands
         in code, where neither looks for such; nothing gets out of code, a table's cell, a fence or an element.
Source   GitHub Flavored Markdown 0.29, HTML, and the references that both services know.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from trainc.source.printable import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LINE: Final = 4000
"""So many characters of a line of a page."""
WIDTH: Final = 200
"""So many characters of a line of a comment."""
SENTENCE: Final = 600
"""So many characters of a sentence."""
_PLAIN: Final = re.compile(r"(?!(?i:www)\.|[A-Za-z]+-\d)[A-Za-z0-9]+(?:['.-][A-Za-z0-9]+)*")
"""Words that mean nothing to either service: neither a link nor, as GH-12 would be, a reference."""
_WORD: Final = re.compile(r'"([^"]+)"|([^\s"(),;]+)|([\s(),;]+|")')
"""A quotation, a word, or what is between them."""


def text(given: str) -> str:
    """Text of a page.

    >>> text("</details>\\u202e")
    '&lt;/details&gt;\\\\u202e'
    """
    return html.escape(_with_tabs(given if len(given) <= LINE else f"{given[:LINE]}…"), quote=False)


def _with_tabs(given: str) -> str:
    """A line of a text, whose tabs may stay."""
    return given if given.isprintable() else "\t".join(map(escape, given.split("\t")))


def path(given: str) -> str:
    """The name of a field of a page, which may be broken between its steps."""
    return text(given).replace(".", ".<wbr>").replace("[", "<wbr>[")


def cut(given: str) -> str:
    """A line of a comment."""
    shown = escape(given[: WIDTH + 1])
    return shown if len(shown) <= WIDTH else f"{shown[:WIDTH]}…"


def in_html(given: str) -> str:
    """Code, where Markdown has given way to HTML: in the summary of a fold."""
    return f"<code>{html.escape(cut(given))}</code>"


def code(given: str) -> str:
    """Code in Markdown, and in the cell of a table, where a pipe would end the cell even behind a backslash.

    >>> code("a"), code("a|b")
    ('`a`', '<code>a&#124;b</code>')
    """
    shown = cut(given)
    if shown and shown == shown.strip() and not any(mark in shown for mark in "`|\\"):
        return f"`{shown}`"
    return f"<code>{''.join(c if c.isalnum() or c == ' ' else f'&#{ord(c)};' for c in shown)}</code>"


def prose(given: str, as_code: Callable[[str], str] = code) -> str:
    """A sentence: what is quoted in it, and any word that might mean something, as code.

    >>> prose('patch "a/b" of @somebody (so)')
    'patch `a/b` of `@somebody` (so)'
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
    """A diff, behind a fence that is longer than any in it."""
    shown = [_with_tabs(line if len(line) <= WIDTH else f"{line[:WIDTH]}…") for line in lines[:most]]
    if len(lines) > most:
        shown.append(f"  ... and {len(lines) - most} more lines")
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}diff", *shown, fence])
