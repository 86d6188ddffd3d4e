"""User-facing messages for YAML parser errors: the message, the position and the hint.

Reads a text and its parser's error; returns the YamlError that the user sees. Imported only on an error.
A common cause is a space that YAML reads as text: a no-break space or another one, pasted from a web page or a chat.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents.events import MarkedYAMLError
from trainc.kubernetes.documents.yamlerror import YamlError, place

if TYPE_CHECKING:
    from trainc.kubernetes.documents.events import YAMLError

_QUOTE: Final = "quote the value if these characters belong to it"
_GLUED: Final = re.compile(r"[ -]*+(?:(?<=-)|[\w.])[\w.-]*+:[^\s:]++\s*")
_UNREADABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACES: Final = "\xa0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff"
_INDENTED: Final = re.compile(rf" *(?:- +)*([{_SPACES}])[{_SPACES} ]*(?:- |[\w./\"'-]+ *:(?: |$))", re.MULTILINE)
_LEADING: Final = re.compile(rf"[{_SPACES}]")
_NAMES: Final = {"\xa0": "no-break space", "\u200b": "zero-width space", "\u3000": "ideographic space"}
HELP: Final = "indent with spaces"


class _Message(NamedTuple):
    message: str
    help: str = ""
    opening: bool = False
    """Whether to report the start of the construct instead of the position at which the parser stopped."""
    since: bool = False
    """Whether the message ends with the line on which the construct starts."""


_TAB: Final = _Message("a tab is not allowed where YAML requires spaces", "indent with spaces")


_MESSAGES: Final = {
    "block sequence entries are not allowed in this context": _Message(
        "a list item (`- `) cannot start here",
        "start the list on the next line, or quote a value that starts with `- `",
    ),
    "could not find expected ':'": _Message(
        "this line is neither `key: value` nor part of the value before it",
        "write a `:` and a space after a key, and indent the lines of a longer text below its key, after `|`",
        opening=True,
    ),
    "could not find expected directive name": _Message("a `%` at the start of a line starts a directive", _QUOTE),
    "did not find expected ',' or ']'": _Message(
        "a `,` or `]` is missing in the list opened with `[`",
        "separate items with commas, close the list with `]`, and quote items that contain brackets, commas or `?`",
        since=True,
    ),
    "did not find expected ',' or '}'": _Message(
        "a `,` or `}` is missing in the mapping opened with `{`",
        "separate fields with commas, close the mapping with `}`, and quote values that contain braces, commas or `?`",
        since=True,
    ),
    "did not find expected '-' indicator": _Message(
        "this line is not an item, but has the indentation of the list that starts",
        "start the line with `- `, or change its indentation",
        since=True,
    ),
    "did not find expected <document start>": _Message(
        "the document ended before this line: a document has only one top-level value",
        "put `---` on its own line between documents",
    ),
    "did not find expected alphabetic or numeric character": _Message(
        "a `&` or `*` starts an anchor or alias here, but its name is missing", _QUOTE
    ),
    "did not find expected comment or line break": _Message(
        "only `+`, `-`, a digit or a comment may follow `|` or `>`", "start the text on the next line"
    ),
    "did not find expected hexdecimal number": _Message(
        "this quoted string contains an incomplete escape",
        r"write \x with 2, \u with 4 or \U with 8 hexadecimal digits, or a backslash as \\",
    ),
    "did not find expected key": _Message(
        "this line does not fit into the mapping that starts",
        "check the indentation and the closing quotes, and that no `-` or `:` is missing",
        since=True,
    ),
    "did not find expected node content": _Message("a value is missing here", _QUOTE),
    "did not find expected tag URI": _Message("a `!` starts a tag here, but its name is missing", _QUOTE),
    "did not find expected whitespace or line break": _Message("an anchor or tag must end with a space", _QUOTE),
    "found a tab character that violates indentation": _TAB,
    "found a tab character where an indentation space is expected": _TAB,
    "found an indentation indicator equal to 0": _Message("the indentation after `|` or `>` must be from 1 to 9"),
    "found incompatible YAML document": _Message("Kubernetes reads only YAML 1.1", "remove the %YAML line"),
    "found invalid Unicode character escape code": _Message(
        "this quoted string contains an escape that represents no character",
        "write characters beyond U+FFFF directly, or as \\U with 8 hexadecimal digits",
    ),
    "found undefined tag handle": _Message("the tag prefix is not declared", _QUOTE),
    "found unexpected ':'": _Message("a `:` must be followed by a space here", "add a space after the colon"),
    "found unexpected document indicator": _Message(
        "a `---` or `...` ends the document inside a quoted string",
        "close the string, or indent the line",
        opening=True,
    ),
    "found unexpected end of stream": _Message(
        "the quoted string that starts here is never closed", "add the closing quote", opening=True
    ),
    "found unknown directive name": _Message("a `%` at the start of a line starts a directive", _QUOTE),
    "found unknown escape character": _Message(
        "unknown escape in a double-quoted string", r"write a backslash as \\, or use single quotes"
    ),
    "mapping keys are not allowed in this context": _Message("a `? ` is not allowed here", _QUOTE),
    "mapping values are not allowed in this context": _Message(
        "a key is not allowed here: the line before it already has a value, or the key is longer than 1024 characters",
        "check the indentation, and quote a value that contains `: ` or ends with `:`",
    ),
}


_UNCLOSED: Final = {
    "did not find expected ',' or ']'": _Message(
        "the list opened with `[` is never closed", "add a closing `]`", opening=True
    ),
    "did not find expected ',' or '}'": _Message(
        "the mapping opened with `{` is never closed", "add a closing `}`", opening=True
    ),
}
"""The messages for two problems at the end of the text."""


def translated(text: str, error: YAMLError) -> YamlError:
    """Return the user-facing error for a parser error."""
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
    if (space := _index_in_indentation(text, at)) is not None:
        return YamlError.at(text, space, _message(text[space]), help=HELP)
    entry = _in_context(problem, text, at, opened) or _MESSAGES.get(problem)
    if entry is None:
        entry = _Message(f"{error.context}: {problem}" if error.context else problem)
    return YamlError.at(
        text,
        opened if entry.opening else at,
        entry.message,
        help=entry.help,
        since=place(text, opened)[0] if entry.since else 0,
    )


def _in_context(problem: str, text: str, at: int, opened: int) -> _Message | None:
    """Return a message that depends on the text near the problem."""
    char = text[at : at + 1]
    line_start = text.rfind("\n", 0, at) + 1
    before = text[line_start:at].lstrip(" -")
    if problem in _UNCLOSED and not text[at:].strip():
        return _UNCLOSED[problem]
    if problem == "found character that cannot start any token":
        return _TAB if char == "\t" else _Message(f"a value cannot start with `{char}`", _QUOTE)
    if problem == "did not find expected node content" and char and char in "]},":
        return _Message(f"a value cannot start with `{char}`", _QUOTE)
    if problem == "did not find expected key" and before:
        return _Message("this text follows a complete value", "put the whole value in one pair of quotes")
    if problem == "mapping values are not allowed in this context":
        if ": " in before:
            return _Message("the value on this line contains a second `:`", "quote the value")
        if _GLUED.fullmatch(text, text.rfind("\n", 0, max(line_start - 1, 0)) + 1, max(line_start - 1, 0)):
            return _Message("the key on the previous line has no space after its `:`", "write `key: value`")
    if problem == "could not find expected ':'" and text[opened : opened + 1] == "-":
        return _Message("a list item has no space after its `-`", "write `- item`", opening=True)
    if problem == "did not find expected <document start>" and text.startswith("%"):
        return _Message("a directive must be followed by `---`", "remove the line that starts with `%`")
    return None


def _character(text: str, index: int) -> YamlError:
    code = ord(text[index])
    if code == 0:
        return YamlError.at(
            text, index, "the text contains NUL bytes: it is not YAML, or not UTF-8", help="save the file as UTF-8"
        )
    return YamlError.at(
        text,
        index,
        f"the control character U+{code:04X} is not allowed in YAML",
        help=f'remove it, or write it in double quotes as "\\x{code:02x}"' if code < 256 else "remove it",
    )


def not_utf8(text: str, index: int) -> YamlError:
    """Return the error for a lone surrogate, which `surrogateescape` decodes from a byte that is not UTF-8."""
    code = ord(text[index])
    what = (
        f"the byte 0x{code - 0xDC00:02x} is not UTF-8"
        if 0xDC80 <= code <= 0xDCFF
        else f"U+{code:04X} is half of a surrogate pair"
    )
    return YamlError.at(text, index, what, help="save the file as UTF-8")


def _index_in_indentation(text: str, index: int) -> int | None:
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


def _message(char: str) -> str:
    """Return the message for such a space in an indentation."""
    return f"this line is indented with {named(char)}, which YAML reads as text"


def named(char: str) -> str:
    """Return a character's name with its code point."""
    return f"a {_NAMES.get(char, 'Unicode space')} (U+{ord(char):04X})"


def leading_space(key: str) -> str:
    """Return the space with which a key starts, if YAML reads it as text."""
    return key[:1] if _LEADING.match(key) else ""
