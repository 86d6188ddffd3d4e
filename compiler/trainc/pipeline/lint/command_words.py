"""Several words of a command in one item of `command` or `args`, or the words of a script as several items.

Source: Kubernetes 1.36, which starts the first word of a container's command as a program and passes each other word
as one argument. No shell splits them. POSIX.1-2024, sh: with -c, the script is one word, and the next ones are $0, $1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import SHELLS, Word, program, script, words
from trainc.pipeline.lint import containers, lint_rule
from trainc.pipeline.lint.triggers import may_hold_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

OPTION: Final = re.compile(r"--?[A-Za-z][\w.-]{0,63}")
"""The name of an option, which ends the word or precedes its value."""
PARAMETERS: Final = re.compile(
    r"\$[0-9@*#]|\$\{[0-9@*#!]|\$\([A-Za-z_][\w.-]*\)|\b(?:getopts|shift|source)\b|(?:^|[\s;&|])\.\s|\bfor\s+\w+\s*[;\n]"
)
"""What reads the parameters of a script, or may do so: another script, or a variable that Kubernetes replaces."""
UNREAD: Final = "script"
QUOTES: Final = ("'", '"')
LONGEST: Final = 40
"""Characters of a program's name in a message."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the first such word of each container."""
    for path, container in containers(plan):
        if found := joined(container):
            key, index, what = found
            yield LintFinding("command-words", (*path, key, index), what)
        elif word := unread(words(container)):
            yield LintFinding("command-words", (*path, *word.path), (UNREAD,))


def unread(command: list[Word]) -> Word | None:
    """Return the first word after a script that does not read its parameters; None for a name of the script alone.

    >>> unread([Word(text, ("command", index)) for index, text in enumerate(("bash", "-c", "torchrun", "train.py"))])
    Word(text='train.py', path=('command', 3), part=None)
    """
    text = script(command)
    if text is None or PARAMETERS.search(text.text):
        return None
    after = command[command.index(text) + 1 :]
    is_name = len(after) == 1 and (after[0].text in ("--", "-", "_") or program(after[0].text) in SHELLS)
    return after[0] if after and not is_name else None


def joined(container: Tree) -> tuple[str, int, tuple[str, ...]] | None:
    """Return the field and the index of the first word that holds several, and its program, or two of its options."""
    command = container.get("command") or ()
    if command and any(map(str.isspace, command[0])):
        return "command", 0, (next(iter(command[0].split(maxsplit=1)), ""),)
    words = [(key, index, word) for key in ("command", "args") for index, word in enumerate(container.get(key) or ())]
    if any(program(word) in SHELLS for _, _, word in words):
        return None
    before = ""
    for key, index, word in words:
        is_value = before.startswith("-") and "=" not in before
        if not is_value and may_hold_option(word) and (options := two_options(word)):
            return key, index, options
        before = word
    return None


def two_options(word: str) -> tuple[str, str] | None:
    """Return the option with which a word begins and the next one in it; None if there is no other.

    >>> two_options("--lr=1 --bf16"), two_options("--extra=--lr=1 --bf16"), two_options("--text='a --b'")
    (('--lr', '--bf16'), None, None)
    """
    first, *others = word.split()
    name, _, value = first.partition("=")
    if not OPTION.fullmatch(name) or value[:1] == "-" or any(quote in word for quote in QUOTES):
        return None
    names = (other.partition("=")[0] for other in others)
    second = next((other for other in names if OPTION.fullmatch(other)), None)
    return None if second is None else (name, second)


@lint_rule("command-words")
def warning(_: Plan, finding: LintFinding) -> Finding:
    """Kubernetes runs the first item as a program, and passes each other item as one argument."""
    if finding.what[0] == UNREAD:
        return Finding(
            message="the shell runs only the word after -c as its script: this word is its parameter $0, and the "
            "script reads no parameters",
            help="write the whole script as one item after -c",
        )
    if len(finding.what) > 1:
        first, second = finding.what
        return Finding(
            message=f"the program gets {first} and {second} as one argument: no shell splits it into words",
            help=f"write {second} as an item of its own",
        )
    (name,) = finding.what
    shown = f'"{name}" and its arguments are' if name and len(name) <= LONGEST and name.isprintable() else "it is"
    return Finding(
        message=f"{shown} one word, so that the container starts a program with white space in its name: no shell "
        "splits it",
        help="write each word as an item, or run the command with a shell: `command: [sh, -c, ...]`",
    )
