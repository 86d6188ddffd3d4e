"""Texts: a noun with its number or article, lines that fit a terminal, rows in aligned columns, escaped input.

Reads    rows of cells, each row with the same number of cells; names, values and paths of the input.
Returns  the cells padded to the widths of their columns, or whole lines, which are folded in a narrow terminal; text of
         the input on one line. Characters without a glyph are escaped: control characters and bidirectional marks,
         which a terminal obeys. So is the start of a workflow command, which a runner of GitHub or Azure obeys:
         `::error ...` at the start of a line, after any white space, and `##[error]` or `##vso[...]` anywhere.
Source   actions/runner: ActionCommand; microsoft/azure-pipelines-agent: Command.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


UNLIMITED: Final = 2**31
"""The width of a file or a pipe."""
ESCAPE: Final = "\x1b"
"""The start of a color, which ends with an m."""
GAP: Final = "  "
"""The space between columns, and the indentation of folded ones."""


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return one line per row, without trailing spaces.

    >>> table([("NAME", "NODES"), ("torch-distributed", "1")])
    ['NAME               NODES', 'torch-distributed  1']
    """
    return [line(cells) for cells in padded(rows)]


def folded(rows: Iterable[Sequence[str]], width: int) -> list[list[str]]:
    """Return the lines of each row, none wider than a terminal if a name is not.

    Columns that do not fit beside the first ones are on further lines, indented by two spaces; of these, a cell that is
    too long is broken after its commas.

    >>> folded([("POD", "RESOURCES"), ("ocean-node-0-0", "cpu=8,memory=16Gi")], 17)
    [['POD', '  RESOURCES'], ['ocean-node-0-0', '  cpu=8,', '  memory=16Gi']]
    """
    listed = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    groups: list[list[int]] = []
    free = 0
    for column, wide in enumerate(widths):
        if groups and wide + len(GAP) <= free:
            groups[-1].append(column)
            free -= wide + len(GAP)
        else:
            free = width - wide - len(GAP) * bool(groups)
            groups.append([column])
    return [[text for group in groups for text in _group(row, group, widths, width)] for row in listed]


def _group(row: Sequence[str], group: list[int], widths: list[int], width: int) -> Iterator[str]:
    """Yield the lines of the cells of one row in some columns."""
    indent = GAP if group[0] else ""
    text = indent + line(row[column].ljust(widths[column]) for column in group)
    while len(text) > width and (end := text.rfind(",", len(indent), width) + 1):
        yield text[:end]
        text = indent + text[end:].lstrip()
    if text.strip():
        yield text


def padded(rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """Yield the cells of each row, padded to the widths of their columns."""
    listed = list(rows)
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    for row in listed:
        yield [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]


def line(cells: Iterable[str]) -> str:
    """Return padded cells as one line, without trailing spaces."""
    return GAP.join(cells).rstrip()


def wrapped(text: str, width: int) -> str:
    """Return lines of text broken at spaces, so that none is wider than a terminal if a word is not.

    The rest of a line is indented by four spaces more. Colors take no space.

    >>> wrapped("  field: old value -> new value", 20)
    '  field: old value\\n      -> new value'
    """
    if width == UNLIMITED:
        return text
    return "\n".join(part for each in text.split("\n") for part in _parts_of(each, width))


def _parts_of(text: str, width: int) -> Iterator[str]:
    """Yield the parts of a line. A word that is wider than the terminal is not broken."""
    rest = text.lstrip(" ")
    indent = " " * (len(text) - len(rest))
    below = indent + "    "
    while (end := _last_space(rest, width - len(indent))) > 0:
        yield indent + rest[:end]
        rest, indent = rest[end:].lstrip(" "), below
    yield indent + rest


def _last_space(text: str, width: int) -> int:
    """Return the index of the last space within a width, or of the first one; 0 if the text fits, or has none."""
    found = seen = index = 0
    if len(text) <= width:
        return 0
    while index < len(text):
        if text[index] == ESCAPE:
            index = text.find("m", index) + 1 or len(text)
            continue
        if seen > width and found:
            return found
        if text[index] == " ":
            found = index
        seen += 1
        index += 1
    return found if seen > width else 0


def terminal() -> int:
    """Return the width of the terminal; a file or a pipe has no limit, unless COLUMNS sets one."""
    import os
    import sys
    from shutil import get_terminal_size

    limited = "COLUMNS" in os.environ or (sys.stdout is not None and sys.stdout.isatty())
    return get_terminal_size().columns if limited else UNLIMITED


def plural(count: int, noun: str) -> str:
    """Return the number with the noun in the singular or plural.

    >>> plural(1, "file"), plural(2000, "file"), plural(0, "PodGroup")
    ('1 file', '2,000 files', '0 PodGroups')
    """
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def with_article(noun: str) -> str:
    """Return the noun with the indefinite article. The letters of an initialism are spoken one by one.

    >>> [with_article(noun) for noun in ("TrainJob", "MPIJob", "XGBoostJob", "JAXJob")]
    ['a TrainJob', 'an MPIJob', 'an XGBoostJob', 'a JAXJob']
    """
    vowels = "AEFHILMNORSX" if noun[:2].isupper() else "AEIOUaeiou"
    return f"{'an' if noun[:1] in vowels else 'a'} {noun}"


def only_elsewhere(what: str, namespaces: Sequence[str], namespace: str) -> str:
    """Return the message about an object that only other namespaces have.

    >>> print(only_elsewhere('Secret "a"', ["nlp", "cv"], "team"))
    the given paths have Secret "a" in namespace "nlp" (and 1 other namespace), but not in "team"
    """
    others = and_others(len(namespaces) - 1, "other namespace")
    own = f'not in "{namespace}"' if namespace else "the TrainJob has no namespace"
    return f'the given paths have {what} in namespace "{namespaces[0]}"{others}, but {own}'


def first_of(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """Return the first names, and the number of the others.

    >>> first_of(["a", "b"], 2), first_of(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return separator.join(names[:most]) + more


def and_others(others: int, noun: str = "more TrainJob") -> str:
    """Return the end of a message that applies to several objects; empty if it applies to one.

    >>> and_others(0), and_others(1), and_others(2)
    ('', ' (and 1 more TrainJob)', ' (and 2 more TrainJobs)')
    """
    return f" (and {plural(others, noun)})" if others else ""


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
