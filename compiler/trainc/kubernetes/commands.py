"""The command of a container: its words, its shell script, and the commands in a script.

Reads    a container's command and args, which Kubernetes concatenates. Without a command, the program is the image's
         entry point, which is unknown.
Returns  words with their places: the field, the index in its list, and for a word of a script its position there.
Source   Kubernetes 1.36; POSIX.1-2024, the shell. Only simple scripts are read: a word of a script is found only in a
         command that always runs, and quotes must be closed on the same line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree

SHELLS: Final = frozenset({"ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "mksh", "sh", "tcsh", "zsh"})
LONGEST: Final = 4096
"""Characters of a command in a script that are read; what follows is usually a program's own text."""
_WORD: Final = re.compile(r"""(?:[^\s\\'"`;&|<>()#]|\\[^\n]|'[^'\n]*'|"(?:[^"\\\n]|\\.)*")+""")
_BETWEEN: Final = re.compile(r"(?:[ \t]|\\\n)*")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=\S*")
_CONDITION: Final = re.compile(r"^[ \t]*(?:if|case|for|while|until|function)\b|^[ \t]*\w+[ \t]*\(\)", re.MULTILINE)
_PREFIXES: Final = frozenset({"exec", "nohup", "time"})
_OPTIONS: Final = re.compile(r"[-+][A-Za-z]+")


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


def invocations(within: Word, name: str) -> Iterator[list[Word]]:
    """Yield each command of a script that runs a program on its own line, with its words from the program on."""
    text, begin = within.text, 0
    while (found := text.find(name, begin)) >= 0:
        begin = found + len(name)
        line = text.rfind("\n", 0, found) + 1
        before = text[max(line, found - 256) : found]
        if _starts_command(before) and text[begin : begin + 1] in ("", " ", "\t", "\n", "\\"):
            yield _words_at(within, found)


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


def _words_at(within: Word, at: int) -> list[Word]:
    """Return the words of the command that starts at an index of a script."""
    text, end = within.text, min(at + LONGEST, len(within.text))
    found = []
    while word := _WORD.match(text, at, end):
        found.append(Word(_without_quotes(word[0]), within.path, word.span()))
        space = _BETWEEN.match(text, word.end(), end)
        at = space.end() if space else word.end()
    return found


def _without_quotes(word: str) -> str:
    """Return a word without its quotes; in single quotes a dollar sign is not special, but is kept as unknown."""
    return re.sub(r"""\\(.)|["']""", r"\1", word)
