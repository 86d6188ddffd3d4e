"""Shell syntax in a command that no shell runs.

Source: Kubernetes 1.36, which starts a container's command directly and replaces only `$(NAME)` in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.commands import SHELLS, Word, program, words
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.lint import OF_JOB, lint_rule, stored
from trainc.pipeline.lint.triggers import OPERATORS
from trainc.pipeline.training import main_slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

READERS: Final = frozenset(
    {"[", "awk", "envsubst", "expr", "find", "flux", "gawk", "jq", "make", "perl", "sed", "ssh", "test", "xargs"}
)
"""Programs that read such words themselves."""
CODE: Final = frozenset({"-c", "-e", "--command", "--eval"})
"""Flags before a program text."""
VARIABLE: Final = re.compile(r"(?<![\\$])\$(?:([A-Z_][A-Z0-9_]*)|\{([A-Z_][A-Z0-9_]*)\})")
"""A variable by the usual spelling. Other names belong to templates, as in Hydra."""
LONGEST: Final = 1024
"""Characters. A longer word is a program text."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the first shell word of the command of each trainer and of a launcher."""
    for slot in main_slots(plan):
        container: Tree = get(stored(plan), slot.path, {}) if plan.counts[slot.job] else {}
        if found := shell_word(words(container)):
            word, text = found
            yield LintFinding("shell-words", (*slot.path, *word.path), (text,), part=word.part)


def shell_word(command: list[Word]) -> tuple[Word, str] | None:
    """Return the first word that only a shell would interpret, and the part of it that it would interpret."""
    if any(program(word.text) in SHELLS | READERS for word in command):
        return None
    before = ""
    for word in command:
        if before in CODE:
            return None
        if word.text in OPERATORS:
            return word, word.text
        variable = VARIABLE.search(word.text) if len(word.text) < LONGEST and "\n" not in word.text else None
        if variable:
            return word._replace(part=variable.span()), variable[0]
        before = word.text
    return None


@lint_rule("shell-words")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The program gets these words as they are written."""
    (text,) = finding.what
    name = text.strip("${}") if text.startswith("$") else ""
    container: Tree = get(stored(plan), finding.path[:-2], {})
    known = name == OF_JOB or any(variable["name"] == name for variable in container.get("env") or ())
    return Finding(
        message=f"the program gets {text} as it is written: no shell runs the command",
        help=f"use $({name}), which Kubernetes replaces"
        if known
        else "run the command with a shell: `command: [sh, -c, ...]`",
    )
