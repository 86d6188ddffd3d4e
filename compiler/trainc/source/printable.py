"""Input text, made safe for a terminal and for the log of a pipeline.

Reads    text of the input: names, values, paths.
Returns  the text on one line. Characters without a glyph are escaped: control characters and bidirectional marks, which
         a terminal obeys. So is the start of a workflow command, which a runner of GitHub or Azure obeys: `::error ...`
         at the start of a line, after any white space, and `##[error]` or `##vso[...]` anywhere.
Source   actions/runner: ActionCommand; microsoft/azure-pipelines-agent: Command.
"""

from __future__ import annotations

import json
import re
from typing import Final

_AT_START: Final = re.compile(r"\A([ \t]*+):(?=:)")
_ANYWHERE: Final = re.compile(r"#(?=#\w{0,32}\[)")


def escape(text: str) -> str:
    r"""Replace unprintable characters, such as terminal control sequences, and workflow commands with escape codes.

    >>> print(escape("a\x1b[2J"), escape("  ::error::x"), escape("a::b ##[error]"))
    a\x1b[2J   \x3a:error::x a::b \x23#[error]
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return _without_commands(text)


def escape_line(line: str) -> str:
    """Escape a line of a text, except its tabs and its final newline."""
    body, newline = (line[:-1], "\n") if line.endswith("\n") else (line, "")
    if not body.isprintable():
        body = "\t".join(map(escape, body.split("\t")))
    return _without_commands(body) + newline


def escape_at(text: str, index: int) -> str:
    """Return one character of a text, escaped. It is not at the start of a line."""
    return r"\x23" if _ANYWHERE.match(text, index) else escape(text[index])


def escape_json(text: str) -> str:
    r"""Escape the same characters in a JSON text, as JSON does: the text keeps its value.

    >>> print(escape_json('["a\u202e ##[error]"]\n'), end="")
    ["a\u202e \u0023#[error]"]
    """
    if "##" in text:
        text = _ANYWHERE.sub(r"\\u0023", text)
    if text.isascii():
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _without_commands(text: str) -> str:
    if "::" in text:
        text = _AT_START.sub(r"\1\\x3a", text, count=1) if _AT_START.match(text) else text
    return _ANYWHERE.sub(r"\\x23", text) if "##" in text else text
