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
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

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


LONG: Final = 1_000
"""Lines of a text that `difflib` compares as a whole; its time grows with the square."""


def unified_diff(old: str, new: str, old_name: str, new_name: str) -> Iterator[str]:
    """Yield the lines of a unified diff, escaped. Only a newline ends a line."""
    import difflib

    from_lines, to_lines = _lines(old), _lines(new)
    if max(len(from_lines), len(to_lines)) > LONG:
        from trainc.source.sections import unified_diff

        difference = unified_diff(from_lines, to_lines, old_name, new_name)
    else:
        difference = difflib.unified_diff(from_lines, to_lines, old_name, new_name)
    for line in difference:
        yield escape_line(line if line.endswith("\n") else line + "\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file\n"


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


def _lines(text: str) -> list[str]:
    return [line for line in re.split(r"(?<=\n)", text) if line]
