"""What YAML's parser complains about, said in words that help: the message, the place, and the way out.

Reads a text and the complaint of its parser; returns the YamlError that a user sees. Imported when there is one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.kubernetes.documents.events import MarkedYAMLError
from trainc.kubernetes.documents.yamlerror import YamlError, place
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from trainc.kubernetes.documents.events import YAMLError


class _Wording(NamedTuple):
    message: str
    help: str = ""
    opening: bool = False
    """Whether the place to show is the beginning of the construct, not where the parser gave up."""
    since: bool = False
    """Whether the message ends with the line on which the construct begins."""


_QUOTE: Final = "put the value in quotes if these characters belong to it"
_TAB: Final = _Wording("a tab stands where YAML takes spaces only", "indent with spaces")
_WORDINGS: Final = {
    "block sequence entries are not allowed in this context": _Wording(
        "a list item (`- `) cannot start here",
        "start the list on the next line, or quote a value that begins with `- `",
    ),
    "could not find expected ':'": _Wording(
        "this line is neither `key: value` nor a part of the value before it",
        "write a `:` and a space after a key, and indent the lines of a longer text below its key, after `|`",
        opening=True,
    ),
    "could not find expected directive name": _Wording("a `%` at the start of a line begins a directive", _QUOTE),
    "did not find expected ',' or ']'": _Wording(
        "a `,` or `]` is missing in the list opened with `[`",
        "separate the items with commas, close the list with `]`, and quote items that hold brackets, commas or `?`",
        since=True,
    ),
    "did not find expected ',' or '}'": _Wording(
        "a `,` or `}` is missing in the mapping opened with `{`",
        "separate the fields with commas, close the mapping with `}`, and quote values that hold braces, commas or `?`",
        since=True,
    ),
    "did not find expected '-' indicator": _Wording(
        "this line is no item, but stands at the indentation, of the list that starts",
        "begin the line with `- `, or change its indentation",
        since=True,
    ),
    "did not find expected <document start>": _Wording(
        "the document has ended before this line: only one value can stand at its top",
        "put `---` on a line of its own between two documents",
    ),
    "did not find expected alphabetic or numeric character": _Wording(
        "a `&` or `*` here begins an anchor or alias, whose name is missing", _QUOTE
    ),
    "did not find expected comment or line break": _Wording(
        "after `|` or `>` nothing but `+`, `-`, a digit or a comment may follow", "start the text on the next line"
    ),
    "did not find expected hexdecimal number": _Wording(
        "an escape in this quoted string is incomplete",
        r"write \x with 2, \u with 4 and \U with 8 hexadecimal digits, or a backslash as \\",
    ),
    "did not find expected key": _Wording(
        "this line fits no place in the mapping that starts",
        "check the indentation, that each quoted value ends where it should, and that no `-` or `:` is missing",
        since=True,
    ),
    "did not find expected node content": _Wording("a value is missing here", _QUOTE),
    "did not find expected tag URI": _Wording("a `!` here begins a tag, whose name is missing", _QUOTE),
    "did not find expected whitespace or line break": _Wording("an anchor or tag must end with a space", _QUOTE),
    "found a tab character that violates indentation": _TAB,
    "found a tab character where an indentation space is expected": _TAB,
    "found an indentation indicator equal to 0": _Wording("the indentation after `|` or `>` must be from 1 to 9"),
    "found incompatible YAML document": _Wording("Kubernetes reads YAML 1.1 only", "remove the %YAML line"),
    "found invalid Unicode character escape code": _Wording(
        "an escape in this quoted string stands for no character",
        "write characters beyond U+FFFF as they are, or as \\U with 8 hexadecimal digits",
    ),
    "found undefined tag handle": _Wording("the tag's prefix is not declared", _QUOTE),
    "found unexpected ':'": _Wording("a `:` must be followed by a space here", "put a space after the colon"),
    "found unexpected document indicator": _Wording(
        "a `---` or `...` ends the document within a quoted string",
        "close the string, or indent the line",
        opening=True,
    ),
    "found unexpected end of stream": _Wording(
        "the quoted string that starts here is never closed", "add the closing quote", opening=True
    ),
    "found unknown directive name": _Wording("a `%` at the start of a line begins a directive", _QUOTE),
    "found unknown escape character": _Wording(
        "this escape is unknown in a double-quoted string", r"write a backslash as \\, or use single quotes"
    ),
    "mapping keys are not allowed in this context": _Wording("a `? ` cannot stand here", _QUOTE),
    "mapping values are not allowed in this context": _Wording(
        "a key cannot stand here: the line before it has a value already, or the key is longer than 1024 characters",
        "check the indentation, and quote a value that holds `: ` or ends with `:`",
    ),
}
_UNCLOSED: Final = {
    "did not find expected ',' or ']'": _Wording(
        "the list opened with `[` is never closed", "add the `]`", opening=True
    ),
    "did not find expected ',' or '}'": _Wording(
        "the mapping opened with `{` is never closed", "add the `}`", opening=True
    ),
}
"""The wordings of two problems where the text ends."""
_GLUED: Final = re.compile(r"[ -]*[\w.-]+:[^\s:]+\s*")
_UNREADABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def complaint(text: str, error: YAMLError) -> YamlError:
    """The parser's complaint about a text, in our words."""
    if isinstance(error, MarkedYAMLError):
        return _marked(text, error)
    unreadable = _UNREADABLE.search(text)
    if unreadable is None:
        return YamlError("the text cannot be read as YAML")
    return _character(text, unreadable.start())


def _marked(text: str, error: MarkedYAMLError) -> YamlError:
    problem = str(error.problem)
    at = error.problem_mark.index if error.problem_mark is not None else 0
    opened = error.context_mark.index if error.context_mark is not None else at
    if problem == "did not find expected <document start>" and text.startswith("%"):
        at = 0
    wording = _in_context(problem, text, at, opened) or _WORDINGS.get(problem)
    if wording is None:
        wording = _Wording(f"{error.context}: {problem}" if error.context else problem)
    return YamlError.at(
        text,
        opened if wording.opening else at,
        wording.message,
        help=wording.help,
        since=place(text, opened)[0] if wording.since else 0,
    )


def _in_context(problem: str, text: str, at: int, opened: int) -> _Wording | None:
    """A wording that takes the text around the problem into account."""
    char = text[at : at + 1]
    line_start = text.rfind("\n", 0, at) + 1
    before = text[line_start:at].lstrip(" -")
    if problem in _UNCLOSED and not text[at:].strip():
        return _UNCLOSED[problem]
    if problem == "found character that cannot start any token":
        return _TAB if char == "\t" else _Wording(f"a value cannot begin with `{char}`", _QUOTE)
    if problem == "did not find expected node content" and char and char in "]},":
        return _Wording(f"a value cannot begin with `{char}`", _QUOTE)
    if problem == "did not find expected key" and before:
        return _Wording("this text stands behind a value that has ended", "put the whole value in one pair of quotes")
    if problem == "mapping values are not allowed in this context":
        if ": " in before:
            return _Wording("the value on this line holds a second `:`", "put the value in quotes")
        if _GLUED.fullmatch(text, text.rfind("\n", 0, max(line_start - 1, 0)) + 1, max(line_start - 1, 0)):
            return _Wording("the key on the line before lacks a space behind its `:`", "write `key: value`")
    if problem == "could not find expected ':'" and text[opened : opened + 1] == "-":
        return _Wording("a list item lacks the space behind its `-`", "write `- item`", opening=True)
    if problem == "did not find expected <document start>" and text.startswith("%"):
        return _Wording("a directive must be followed by `---`", "remove the line that begins with `%`")
    return None


def _character(text: str, index: int) -> YamlError:
    code = ord(text[index])
    if code == 0:
        return YamlError.at(
            text, index, "the text holds NUL bytes: it is no YAML, or not UTF-8", help="save the file as UTF-8"
        )
    return YamlError.at(
        text,
        index,
        f"the control character U+{code:04X} cannot stand in YAML",
        help=f'remove it, or write it in double quotes as "\\x{code:02x}"' if code < 256 else "remove it",
    )


def not_utf8(text: str, index: int) -> YamlError:
    """What is wrong with a lone surrogate: `surrogateescape` makes them of bytes that are no UTF-8."""
    code = ord(text[index])
    what = (
        f"the byte 0x{code - 0xDC00:02x} is not UTF-8"
        if 0xDC80 <= code <= 0xDCFF
        else f"U+{code:04X} is half a character"
    )
    return YamlError.at(text, index, what, help="save the file as UTF-8")
