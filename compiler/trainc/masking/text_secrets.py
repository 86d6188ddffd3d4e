"""Secrets in a text: the values of names that say so, and tokens and passwords by their forms.

Reads    a string, a comment, a sentence, a program, or the text of a document that cannot be parsed.
Returns  the ranges that are masked.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.masking.secret_names import SECRET, field_secrecy, is_secret, program_index, role_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.masking.secret_names import Secrecy

Stretch = tuple[int, int]
"""The index of the first character, and the index after the last one."""

_NAME: Final = r"[A-Za-z_][\w./-]{0,252}"
_REFERENCE: Final = r"(?:\$\([^()\n]*\)|\$\{[^{}\n]*\}|\{\{[^{}\n]*\}\}|`[^`\n]*`)"
_WORD: Final = (
    r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|["'][^\n]*"""
    # An apostrophe between letters does not start a quotation.
    rf"""|(?:{_REFERENCE}|(?<=\w)'(?=\w)|[^\s"',;&|(){{}}\[\]`])+)"""
)
_FLAG: Final = re.compile(
    rf"""(?<![\w-])--?({_NAME})(?:["']?(?:[ \t]*,[ \t]*|[ \t]+|[ \t]*\n[ \t]*-[ \t]+)|=)(?!-)({_WORD})"""
)
"""A flag and its value: the rest of its word, or the next word of a command line or list."""
_WHOLE_FLAG: Final = re.compile(rf"--?({_NAME})=(.+)", re.DOTALL)
_VARIABLE: Final = re.compile(rf"(?<![\w./-])({_NAME})=({_WORD})")
_REST: Final = r"([^\n \t\r]++(?:[ \t\r]++[^\n \t\r]++)*)"
"""The rest of a line, without the spaces at its end."""
_SETTING: Final = re.compile(rf"^[ \t]*+({_NAME})[ \t]++=[ \t]*+{_REST}", re.MULTILINE)
_FIELD: Final = re.compile(
    rf"""([{{\[,][ \t]*+)?(?<![\w./-])(["']?)({_NAME})\2[ \t]*:(?:(?<=["']:)[ \t]*|[ \t]+|(?=\r?$))""", re.MULTILINE
)
"""The start of a field: the sign before it in a flow mapping, its quote, its name."""
_NO_FIELD: Final = re.compile(rf"""^[ \t-]*+["']?({_NAME})["']?(?:[ \t]++|:(?![ \t])){_REST}""", re.MULTILINE)
"""A line that may be a field without its colon, or without the space after it."""
_ITEMS: Final = re.compile(r"\[([^\[\]{}\n]+)")
_END_OF_MAPPING: Final = re.compile(r"\}|\n[ \t]*-[ \t]")
_IN_FLOW: Final = re.compile(r""""(?:[^"\\]|\\.)*"?|'[^']*'?|[^,{}\[\]\n]*""")
_TO_THE_END: Final = re.compile(
    r"""(?:"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|'[^'\n]*+(?:''[^'\n]*+)*')(?=[ \t\r]*+(?:#|$))"""
    r"""|[^\n \t\r]++(?:[ \t\r]++(?!(?<=[ \t])#|$)[^\n \t\r]++)*|""",
    re.MULTILINE,
)
_NO_SCALAR: Final = ("{", "[", "&", "#")
_NEAR: Final = 8
"""The number of fields before and after a field that may belong to its mapping."""
_SWITCH: Final = re.compile(rf"(?i:true|false|yes|no|on|off|null|none|~)|\$\w+|{_REFERENCE}|[|>][-+0-9]*|")
"""Values that are not secret under any name: switches, references, and the sign of a longer text."""
_LONGEST: Final = 256

_TOKEN: Final = re.compile(
    r"(?<![\w-])(hf_[A-Za-z0-9]{30,64}|gh[opsru]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255}|glpat-[\w-]{20,64}"
    r"|npm_[A-Za-z0-9]{36}|nvapi-[\w-]{40,80}|xox[abeoprs]-[0-9][\w-]{20,255}|AIza[\w-]{35}|sk-[A-Za-z0-9]{32,64}"
    r"|sk-(?:ant|proj|svcacct)-[\w-]{20,255}|eyJ[\w-]{10,4096}\.eyJ[\w-]{10,4096}\.[\w-]{10,4096})(?![\w-])"
)
"""Tokens whose service is known by their form, and JSON Web Tokens."""
_NOT_IN_URI: Final = r"\s\"'@;&|<>(){}$`\\"
"""The characters that a URI escapes in a password: a shell acts on them."""
_PASSWORD: Final = re.compile(rf"""://[^\s"'/:@]{{0,256}}+:(?![0-9]{{1,9}}/)([^{_NOT_IN_URI}]{{1,4096}}+)""")
"""What is a password if an @ ends it."""
_END_OF_PASSWORD: Final = re.compile(r"""[\s"'@]""")
_NO_SCHEME: Final = re.compile(rf"""(?<![\w./-])[\w.+-]{{1,256}}+:([^/:{_NOT_IN_URI}]{{1,4096}}+)@(?!sha[0-9])\w""")
_SIGNATURE: Final = re.compile(r"""[?&](?i:sig|signature|x-(?:amz|goog)-signature)=([\w%.~+/=-]+)""")
_HEADER: Final = re.compile(r"""(?i:authorization["']?[:=][ \t]*["']?(?:bearer|basic|token))[ \t]+([\w.~+/=-]{8,})""")
_PRIVATE_KEY: Final = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----((?:[^-]|-(?!----)){1,16384})")
_BASE64_LINE: Final = re.compile(r"(?:^|\\n|(?<=-----))[ \t]*([A-Za-z0-9+/]+={0,2})(?=[ \t\r]*(?:\\n|$))", re.MULTILINE)


def known_forms(text: str) -> Iterator[Stretch]:
    """Yield the tokens, the passwords of URIs, and the base64 of private keys: code has none of these forms."""
    yield from tokens(text)
    yield from private_keys(text)
    yield from passwords(text)
    for sign, form in (("=", _SIGNATURE), ("uthorization", _HEADER)):
        yield from (match.span(1) for match in form.finditer(text)) if sign in text else ()


def tokens(text: str) -> Iterator[Stretch]:
    """Yield the tokens that have the form of a service's."""
    return (match.span(1) for match in _TOKEN.finditer(text))


def private_keys(text: str) -> Iterator[Stretch]:
    """Yield the lines of base64 of private keys in PEM format; other lines may be code."""
    for key in _PRIVATE_KEY.finditer(text) if "PRIVATE KEY" in text else ():
        yield from (line.span(1) for line in _BASE64_LINE.finditer(text, *key.span(1)))


def passwords(text: str) -> Iterator[Stretch]:
    """Yield the passwords of URIs, up to the first character that a shell acts on."""
    end = -1
    for match in _PASSWORD.finditer(text) if "://" in text and "@" in text else ():
        if match.end() > end:  # no text is searched twice
            found = _END_OF_PASSWORD.search(text, match.end())
            end = len(text) if found is None else found.start()
        if text[end : end + 1] == "@":
            yield match.span(1)


def named(text: str) -> Iterator[tuple[str, Stretch]]:
    """Yield the values of flags and variables with secret names, with the names; switches included."""
    for sign, pattern in (("-", _FLAG), ("=", _VARIABLE), (" =", _SETTING)):
        for match in pattern.finditer(text) if sign in text else ():
            if is_secret(match[1]):
                yield match[1], match.span(2)


def in_sentence(text: str) -> Iterator[Stretch]:
    """Yield the secrets in a text without fields, such as a message."""
    yield from known_forms(text)
    for _, stretch in named(text):
        yield from secret_value(text, *stretch)


def in_text(text: str, *, broken: bool = False) -> Iterator[Stretch]:
    """Yield the secrets in a text that may be YAML, JSON, or the settings of a program.

    broken    whether it is known to have a mistake, which may be in the notation of a secret

    >>> [text[begin:end] for text in ("a: {password: b c} # TOKEN=d",) for begin, end in in_text(text)]
    ['d', 'b c']
    """
    yield from in_sentence(text)
    yield from (match.span(1) for match in _NO_SCHEME.finditer(text)) if "@" in text else ()
    for mapping in _mappings(text) if ":" in text else ():
        for index, field in enumerate(mapping):
            near = mapping[max(index - _NEAR, 0) : index + _NEAR]
            if _secrecy(text, field, near, broken=broken) in SECRET:
                yield from _value(text, field)
    for line in _NO_FIELD.finditer(text) if broken else ():
        if line[1] == "value" or is_secret(line[1]):
            yield from secret_value(text, *line.span(2))


def in_value(text: str, secrecy: Secrecy) -> Iterator[Stretch]:
    """Yield the secrets in a string that is masked in some way."""
    if secrecy == "data":
        yield 0, len(text)
    elif secrecy == "program" or text.startswith("#!"):
        yield from known_forms(text)
    elif secrecy == "words":
        yield from in_words(NO_WORDS, 0, text)
    elif secrecy in SECRET:
        yield from secret_value(text, 0, len(text))
    else:
        yield from in_text(text)


class CommandLine(NamedTuple):
    """The words of a list, which may be a command line."""

    words: Sequence[object]
    options: int
    """The number of the words before a program text and before those that follow `--`, which are no options."""


def command_line(words: Sequence[object]) -> CommandLine:
    """Return the words of a list with the number of those that may be options.

    >>> command_line(["sh", "-c", "make --token=$1"]).options, command_line(["run", "--", "--token"]).options
    (2, 2)
    """
    code = program_index(words)
    options = len(words) if code is None else code
    return CommandLine(words, min(options, words.index("--") + 1) if "--" in words else options)


NO_WORDS: Final = CommandLine((), 0)


def in_words(line: CommandLine, index: int, word: str, secrecy: Secrecy = "words") -> Iterator[Stretch]:
    """Yield the secrets in an item of a list, which may be a command line: the value of a flag, or those of a text.

    >>> list(in_words(command_line(["--token", "abc"]), 1, "abc"))
    [(0, 3)]
    >>> list(in_words(command_line(["sh", "-c", "--token=$1 run"]), 2, "--token=$1 run"))
    []
    """
    flag = _WHOLE_FLAG.fullmatch(word)
    begin = flag.start(2) if flag is not None and is_secret(flag[1]) else 0
    is_value = begin > 0 or (is_flag_value(line.words, index) and not word.startswith("-"))
    if line.options <= index < len(line.words):
        yield from known_forms(word)
    elif is_value:
        yield from secret_value(word, begin, len(word))
    else:
        yield from known_forms(word) if secrecy == "words" else in_text(word)


def is_flag_value(words: Sequence[object], index: int) -> bool:
    """Whether a word of a command line follows a flag that says that its value is secret."""
    flag = words[index - 1] if index else ""
    return (
        isinstance(flag, str) and flag.startswith("-") and len(flag) <= _LONGEST and "=" not in flag and is_secret(flag)
    )


def secret_value(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the range of a secret value without its quotes; nothing for a switch or a reference."""
    begin, end = unquoted(text, begin, end)
    if begin < end and not (end - begin < _LONGEST and _SWITCH.fullmatch(text, begin, end)):
        yield begin, end


def unquoted(text: str, begin: int, end: int) -> Stretch:
    """Return the range of a value without its quotes."""
    is_quoted = end - begin > 1 and text[begin] in "\"'" and text[end - 1] == text[begin]
    return (begin + 1, end - 1) if is_quoted else (begin, end)


def joined(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield the ranges in order, with overlapping ones combined."""
    begin, end = -1, -1
    for a, b in sorted(stretches):
        if a < end:
            end = max(end, b)
            continue
        if end > begin:
            yield begin, end
        begin, end = a, b
    if end > begin:
        yield begin, end


def _mappings(text: str) -> list[list[re.Match[str]]]:
    """Return the fields of a text, by mappings; one in block style may have those of nested mappings."""
    fields = list(_FIELD.finditer(text))
    found = [fields[:1]]
    for before, field in pairwise(fields):
        if _END_OF_MAPPING.search(text, before.end(), field.start(3)):
            found.append([])
        found[-1].append(field)
    return found


def _secrecy(text: str, field: re.Match[str], near: Sequence[re.Match[str]], *, broken: bool) -> Secrecy:
    """Return how the value of a field is masked, by its name and the fields beside it: in its line or column."""
    if role_of(field[3]) not in ("value", "contents"):
        return field_secrecy(field[3], ())
    column, line = _place(text, field)
    beside = [each for each in near if column == (place := _place(text, each))[0] or line == place[1]]
    words = [(each[3], text[slice(*_scalar(text, each))].strip("\"'")) for each in beside]
    if broken and field[3] == "value" and not any(role_of(name) == "name" for name, _ in words):
        return "variable"
    return field_secrecy(field[3], words)


def _place(text: str, field: re.Match[str]) -> tuple[int, int]:
    """Return the column of a field, and the index at which its line starts."""
    start = text.rfind("\n", 0, field.start(3)) + 1
    return field.start(3) - len(field[2]) - start, start


def _scalar(text: str, field: re.Match[str]) -> Stretch:
    """Return the range of a field's value on its line."""
    match = (_IN_FLOW if field[1] or field[2] == '"' else _TO_THE_END).match(text, field.end())
    assert match is not None, "both match the empty text"
    return match.span()


def _value(text: str, field: re.Match[str]) -> Iterator[Stretch]:
    """Yield the secret value of a field, up to the last line that is indented more than the field."""
    begin, end = _scalar(text, field)
    if items := _ITEMS.match(text, begin):
        yield items.span(1)
        return
    if text[begin : begin + 1] in _NO_SCALAR:
        return
    line = _end_of_line(text, end)
    last = line if field[1] else _end_of_block(text, line, _place(text, field)[0])
    below = text[line:last].strip(" \t\r\n-")
    if not below:
        yield from secret_value(text, begin, end)
    elif begin == end and _FIELD.match(below):  # a mapping, whose fields have their own names
        return
    elif _SWITCH.fullmatch(text, begin, end):  # the sign of a block scalar
        yield text.index(below, line), last
    else:
        yield begin, last


def _end_of_block(text: str, end: int, column: int) -> int:
    """Return the end of the lines after the end of one that are indented more than a column."""
    while end < len(text):
        following = _end_of_line(text, end + 1)
        line = text[end + 1 : following]
        if line.strip() and len(line) - len(line.lstrip(" ")) <= column:
            break
        end = following
    return end


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)
