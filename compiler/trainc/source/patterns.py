"""Secrets in a text that is not parsed: the values of options and variables with secret names, and forms of secrets.

Reads    a source line, a value, a script or a message.
Returns  the ranges that are masked (`masking`, rules 1 and 2).
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final

from trainc.source.secret_names import is_secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Stretch = tuple[int, int]
"""The index of the first character, and the index after the last one."""

NAME: Final = r"[A-Za-z_][\w./-]{0,252}"
_QUOTED: Final = r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*')"""
_SUBSTITUTION: Final = r"(?:\$\([^()\n]*\)|\$\{[^{}\n]*\}|`[^`\n]*`)"
_WORD: Final = (
    # A quoted word, after which a shell word can continue: 'it'\''s'.
    rf"""(?:{_QUOTED}(?:\\{{1,2}}['"]{_QUOTED}?)*|["'][^\n]*"""
    # A plain word; an apostrophe between letters does not start a quotation.
    rf"""|(?:{_SUBSTITUTION}|(?<=\w)'(?=\w)|[^\s"',;&|(){{}}\[\]`])+)"""
)
FLAG: Final = rf"""(?<![\w-])--?({NAME})(?:["']?(?:[ \t]*,[ \t]*|[ \t]+)|=)(?!-)"""
"""An option, up to its value."""
_FLAG: Final = re.compile(rf"{FLAG}({_WORD})")
_VARIABLE: Final = re.compile(rf"(?<![\w./-])({NAME})=({_WORD})")
_FIELD: Final = re.compile(
    rf"""(?:([{{\[,])[ \t]*+)?(?<![\w./-])(?:(["']?)({NAME})\2[ \t]*:[ \t]+|"({NAME})":[ \t]*)"""
)
"""A field, and the sign before it in a flow mapping."""
_IN_FLOW: Final = re.compile(r"""["'][^"']*["']?|[^,}\]\n]+""")
_TO_THE_END: Final = re.compile(
    r"""(?:"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|'[^'\n]*+(?:''[^'\n]*+)*')(?=[ \t\r]*+(?:#|$))"""
    r"""|[^\n \t\r]++(?:[ \t\r]++(?!(?<=[ \t])#|$)[^\n \t\r]++)*(?=[ \t\r]*+$|[ \t\r]*[ \t]#)"""
)
_LONGEST: Final = 256
_NO_SCALAR: Final = ("", "{", "[", "&", "#")
_PART: Final = re.compile(r"\$\(|\$\{|\{\{|\}\}|[(){}`]")
"""The start or end of a substitution, or of parentheses in it."""
_CLOSED_BY: Final = {"$(": ")", "${": "}", "{{": "}}", "`": "`", "(": ")", "{": "}"}
_USER: Final = re.compile(r"""://([^\s"'/:@]+)@""")
_PASSWORD: Final = re.compile(r"""://[^\s"'/:@]{0,256}+:(?![0-9]{1,9}/)((?:[^\s"'@]{1,4096}+(?=@))?)[^\s"'@]*+""")
"""The text before an @; empty without one, so that no text is read twice."""
_NO_SCHEME: Final = re.compile(r"""(?<![\w./-])[\w.+-]{1,256}+:([^\s"'/:@]{1,4096}+)@(?!sha[0-9])\w""")
_QUERY: Final = re.compile(r"""[?&](?i:sig|signature|x-(?:amz|goog)-signature|key|code)=([^\s&"'#;]+)""")
LOGIN: Final = re.compile(
    r"""(?<![\w-])(?:-[uU]|--user|--proxy-user)(?:[ \t="',]{1,8}|(?=\w))["']?(?![0-9]+:[0-9]+(?![^\s"',]))"""
    r"""[\w.@%+-]{1,256}:([^\s"',/][^\s"',]*)"""
)
"""The password after `curl -u user:`; two numbers are the ids of a user and a group."""
PROGRAM: Final = re.compile(
    r"""(?<![\w-])(?:(?:mysql|mariadb|mongo)\w*|sshpass"""
    r"""|(?:docker|podman|nerdctl|helm)[ \t"',]+(?:registry[ \t"',]+)?login)(?![\w-])"""
    r"""(?:[^\n|;&]{0,512}?[ \t"',])-p(?!ort\b|rotocol\b)[ \t"',]*([^\s"',-][^\s"',]*)"""
)
"""The password after `-p` of a program."""
_NETRC: Final = re.compile(
    r"\blogin\s{1,8}\S{1,256}\s{1,8}(?:account\s{1,8}\S{1,256}\s{1,8})?password\s{1,8}(\S{1,256})"
)
_BEARER: Final = re.compile(r"\b(?:[Bb]earer|[Bb]asic)[ \t]+([\w.~+/=-]{8,})")
_TOKEN: Final = re.compile(
    r"(?<![\w-])(hf_[A-Za-z0-9]{30,64}|gh[opsru]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255}|glpat-[\w-]{20,64}"
    r"|npm_[A-Za-z0-9]{36}|nvapi-[\w-]{40,80}|xox[abeoprs]-[0-9][\w-]{20,255}|AIza[\w-]{35}|sk-[A-Za-z0-9]{32,64}"
    r"|sk-(?:ant|proj|svcacct)-[\w-]{20,255}|eyJ[\w-]{10,4096}\.eyJ[\w-]{10,4096}\.[\w-]{10,4096})(?![\w-])"
)
"""Tokens whose service is known by their form, and JSON Web Tokens."""
PRIVATE_KEY: Final = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----((?:[^-]|-(?!----)){1,16384})")
_HARMLESS: Final = re.compile(r"(?i:true|false|yes|no|on|off|null|none|~)|\$\w+|[|>][-+0-9]*|")
"""Values that are not secret under any name: switches, references, and the sign of a longer text."""
FORMS: Final = (
    ("", _TOKEN),
    ("PRIVATE KEY-----", PRIVATE_KEY),
    ("@", _USER),
    ("@", _PASSWORD),
    ("@", _NO_SCHEME),
    (" ", _BEARER),
    ("=", _QUERY),
    ("-", LOGIN),
    ("-p", PROGRAM),
    ("login", _NETRC),
)
"""The forms of secrets, each with a part of every text that has it. The first group is the secret."""


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


def in_line(line: str) -> Iterator[Stretch]:
    """Yield the secrets in a line of YAML, JSON or a script."""
    yield from in_message(line)
    for match in _FIELD.finditer(line):
        index, in_json = match.end(), match[4] is not None
        if is_secret(match[3] or match[4]) and line[index : index + 1] not in _NO_SCALAR:
            value = (_IN_FLOW if in_json or match[1] else _TO_THE_END).match(line, index)
            yield from hidden(line, *value.span()) if value else ()


def in_message(text: str) -> Iterator[Stretch]:
    """Yield the secrets in a text that is not YAML, such as a sentence: those in commands and URIs, and tokens."""
    named_values = (stretch for _, stretch in named(text))
    for stretch in chain(named_values, *(_with_form(text, *form) for form in FORMS)):
        yield from hidden(text, *stretch)


def _with_form(text: str, sign: str, form: re.Pattern[str]) -> Iterator[Stretch]:
    return (match.span(1) for match in form.finditer(text)) if sign in text else iter(())


def named(text: str) -> Iterator[tuple[str, Stretch]]:
    """Yield the values of options and variables with secret names, with the names; harmless values included."""
    for sign, pattern in (("-", _FLAG), ("=", _VARIABLE)):
        for match in pattern.finditer(text) if sign in text else ():
            if is_secret(match[1]):
                yield match[1], match.span(2)


def tokens(text: str) -> Iterator[Stretch]:
    """Yield the tokens that have the form of a service's."""
    return _with_form(text, "", _TOKEN)


def private_keys(text: str) -> Iterator[Stretch]:
    """Yield the private keys in PEM format, without their first lines."""
    return _with_form(text, "PRIVATE KEY-----", PRIVATE_KEY)


def passwords(text: str) -> Iterator[Stretch]:
    """Yield the passwords in URIs, except references and masks."""
    for stretch in _with_form(text, "@", _PASSWORD):
        yield from hidden(text, *stretch)


def hidden(text: str, begin: int, end: int, *, literal: bool = False) -> Iterator[Stretch]:
    """Yield the ranges to mask in a value: all of it except its quotes; nothing for a harmless value.

    Command substitutions and references stay visible, so that a name such as TOKEN hides no code. A `literal` value has
    none.
    """
    if end - begin > 1 and text[begin] in "\"'" and text[end - 1] == text[begin]:
        begin, end = begin + 1, end - 1
    if literal:
        if begin < end:
            yield begin, end
    elif begin < end and not is_harmless(text, begin, end):
        yield from _between_substitutions(text, begin, end)


def is_harmless(text: str, begin: int, end: int) -> bool:
    """Whether a value is not secret under any name, such as a switch."""
    return end - begin < _LONGEST and _HARMLESS.fullmatch(text, begin, end) is not None


def _between_substitutions(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the parts of a value outside of complete `$(...)`, `${...}`, `{{...}}` and backquotes."""
    opened: list[tuple[str, int]] = []
    at = begin
    for match in _PART.finditer(text, begin, end):
        sign, last = match[0], opened[-1][0] if opened else ""
        if sign == last:
            _, start = opened.pop()
            if not opened:
                if text[at:start].strip():
                    yield at, start
                at = match.end()
        elif sign in _CLOSED_BY and (opened or sign not in "({"):
            opened.append((_CLOSED_BY[sign], match.start()))
    if text[at:end].strip():
        yield at, end
