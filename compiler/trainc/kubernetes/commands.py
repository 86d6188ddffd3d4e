"""The command of a container: its words, its shell script, and the commands in a script.

Reads    a container's command and args, which Kubernetes concatenates. Without a command, the program is the image's
         entry point, which is unknown.
Returns  words with their places: the field, the index in its list, and for a word of a script its position there.
         Known variables are replaced as the kubelet does, `$(X)`, and in a script as the shell does, `$X`, `${X}` and
         `${X:-default}`. Any other dollar sign stays: the text of such a word is not known.
Source   Kubernetes 1.36; POSIX.1-2024, the shell. Only simple scripts are read: a word of a script is found only in a
         command that always runs, and quotes must be closed on the same line.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.kubernetes.trees import Path, Tree

    Lookup = Callable[[str], str | None]
    """Returns the value of a variable of the container; None if it is not known, or not set."""

SHELLS: Final = frozenset({"ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "mksh", "sh", "tcsh", "zsh"})
LONGEST: Final = 4096
"""Characters of a command in a script that are read; what follows is usually a program's own text."""
_WORD: Final = re.compile(r"""(?:\$\([^()'"\n]*\)|[^\s\\'"`;&|<>()#]|\\[^\n]|'[^'\n]*'|"(?:[^"\\\n]|\\.)*")+""")
_BETWEEN: Final = re.compile(r"(?:[ \t]|\\\n)*")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=\S*")
_CONDITION: Final = re.compile(r"^[ \t]*(?:if|case|for|while|until|function)\b|^[ \t]*\w+[ \t]*\(\)", re.MULTILINE)
_PREFIXES: Final = frozenset({"exec", "nohup", "time"})
_OPTIONS: Final = re.compile(r"[-+][A-Za-z]+")
_REFERENCE: Final = re.compile(
    r"\$\$|'[^'\n]*'|\\.|\$\(([A-Za-z_]\w*)\)|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)(?::?-[^{}$`]*)?\}", re.DOTALL
)
"""An escaped dollar sign, a part in which the shell replaces nothing, or a reference to a variable."""
_OF_KUBELET: Final = re.compile(r"\$\$|\$\(([A-Za-z_]\w*)\)")
_SPLIT_OR_GLOB: Final = re.compile(r"[\s*?\[]")
"""What makes several words of a value without quotes, or other words."""
_SET: Final = re.compile(
    r"(?<![\w$])([A-Za-z_]\w*)\+?=|\$\{(\w+):?=|\b(?:read|for|unset|getopts|mapfile|readarray)\b([^\n;]*)"
)
_SET_BY_OTHERS: Final = re.compile(r"(?:^|[\n;&|({])[ \t]*(?:source|eval|\.|printf[ \t]+-v)[ \t]")
_PYTHON: Final = re.compile(r"python[0-9.]*(?:[ \t]+-[A-Za-z]+)*[ \t]+-m[ \t]+\Z")


class Word(NamedTuple):
    """A word of a container's command, without quotes."""

    text: str
    path: Path
    """Its path in the container: the field and the index."""
    part: tuple[int, int] | None = None
    """Its begin and end in the string at `path`, if it is a part of it."""


def words(container: Tree) -> list[Word]:
    """Return the words of a container's command; none if the image determines the program."""
    if not container.get("command"):
        return []
    return [
        Word(text, (key, index)) for key in ("command", "args") for index, text in enumerate(container.get(key) or ())
    ]


def program(word: str) -> str:
    """Return a program's name without its folder.

    >>> program("/usr/bin/python3")
    'python3'
    """
    return word.rpartition("/")[2]


def script(command: list[Word]) -> Word | None:
    """Return the script that a shell gets as an argument, or None.

    >>> script([Word(text, ("command", 0)) for text in ("bash", "-euo", "pipefail", "-c", "make")]).text
    'make'
    """
    if not command or program(command[0].text) not in SHELLS:
        return None
    inline, value = False, False
    for word in command[1:]:
        if value:
            value = False
        elif _OPTIONS.fullmatch(word.text):
            inline = inline or "c" in word.text
            value = word.text.endswith(("o", "O"))
        elif not word.text.startswith("--"):
            return word if inline else None
    return None


def runs(container: Tree, programs: frozenset[str], lookup: Lookup = lambda _: None) -> list[Word]:
    """Return the words of the command that runs one of these programs or Python modules, from the program on.

    No words if no command certainly does, or if several do. Known variables are replaced.
    """
    command = words(container)
    inline = script(command)
    if inline is not None:
        found = () if is_conditional(inline.text) else list(islice(invocations(inline, programs, lookup), 2))
        return found[0] if len(found) == 1 else []
    at = begin(command, programs)
    return [] if at is None else [word._replace(text=_expanded(word.text, lookup)) for word in command[at:]]


def begin(command: list[Word], programs: frozenset[str]) -> int | None:
    """Return the index of the program or Python module that a command without a shell runs, if it is one of these.

    The names of modules have a dot.

    >>> begin([Word(text, ()) for text in ("/bin/python3", "-u", "-m", "a.b", "--c")], frozenset({"a.b"}))
    3
    """
    first = program(command[0].text) if command else ""
    if first in programs:
        return 0
    if first.startswith("python"):
        for at, word in enumerate(command[1:-1], start=1):
            if word.text == "-m":
                return at + 1 if (name := command[at + 1].text) in programs and "." in name else None
            if not word.text.startswith("-"):
                break
    return None


def invocations(within: Word, programs: frozenset[str], lookup: Lookup = lambda _: None) -> Iterator[list[Word]]:
    """Yield each command of a script that runs a program or a Python module on its own line, from the program on."""
    text, found = within.text, list[tuple[int, str]]()
    for name in programs:
        end = 0
        while (at := text.find(name, end)) >= 0:
            end = at + len(name)
            found.append((at, name))
    known = _lookup_of_script(text, lookup) if found else lookup
    for at, name in sorted(found):
        before = text[max(text.rfind("\n", 0, at) + 1, at - 256) : at]
        module = _PYTHON.search(before)
        before = before[: module.start()] if module else before
        after = text[at + len(name) : at + len(name) + 1]
        if ("." in name) == bool(module) and _starts_command(before) and after in ("", " ", "\t", "\n", "\\"):
            yield _words_at(within, at, known)


def _lookup_of_script(text: str, lookup: Lookup) -> Lookup:
    """Return the variables of the container that a script does not set."""
    if _SET_BY_OTHERS.search(text):
        return lambda _: None
    names = {
        name for match in _SET.finditer(text) for group in match.groups() for name in re.findall(r"\w+", group or "")
    }
    return lambda name: None if name in names else lookup(name)


def _expanded(text: str, lookup: Lookup) -> str:
    """Return a word with the known variables that the kubelet replaces."""
    if "$(" not in text:
        return text
    return _OF_KUBELET.sub(lambda match: (lookup(match[1]) if match[1] else None) or match[0], text)


def is_conditional(text: str) -> bool:
    """Return whether a script has conditions, loops or functions."""
    return _CONDITION.search(text) is not None


def _starts_command(before: str) -> bool:
    """Return whether a program after this text of its line is run, and not an argument or a part of a text."""
    if before.count('"') % 2 or before.count("'") % 2 or "#" in before:
        return False
    last = re.split(r"[;&|({]", before)[-1]
    *earlier, folder = re.split(r"[ \t]+", last) if last else [""]
    if folder and not folder.endswith("/"):
        return False
    return all(not word or word in _PREFIXES or _ASSIGNMENT.fullmatch(word) for word in earlier)


def _words_at(within: Word, at: int, lookup: Lookup) -> list[Word]:
    """Return the words of the command that starts at an index of a script."""
    text, end = within.text, min(at + LONGEST, len(within.text))
    found = []
    while word := _WORD.match(text, at, end):
        rest = "`" if text[word.end() : word.end() + 1] == "`" else ""  # a command substitution: the word is unknown
        found.append(Word(f"{_without_quotes(_replaced(word[0], lookup))}{rest}", within.path, word.span()))
        space = _BETWEEN.match(text, word.end(), end)
        at = space.end() if space else word.end()
    return found


def _replaced(word: str, lookup: Lookup) -> str:
    """Return a word of a script with the known variables that the kubelet or the shell replaces.

    >>> [_replaced(word, {"A": "1", "B": "x y"}.get) for word in ("--a=$A", "'$A'", "$(A)${A:-2}", "$B", '"$B"')]
    ['--a=1', "'$A'", '11', '$B', '"x y"']
    """
    if "$" not in word:
        return word
    is_quoted = word.startswith('"') and word.endswith('"')

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        found = lookup(name) if name else None
        return found if found and (is_quoted or not _SPLIT_OR_GLOB.search(found)) else match[0]

    return _REFERENCE.sub(value, word)


def _without_quotes(word: str) -> str:
    """Return a word without its quotes; in single quotes a dollar sign is not special, but is kept as unknown."""
    return re.sub(r"""\\(.)|["']""", r"\1", word)
