"""Containers that visibly run torchrun, and the variables that their texts mention.

Reads    a container's command, arguments and variables.
Returns  whether the command is torchrun or `python -m torch.distributed.run`, alone or in a line of a shell script; and
         whether a text mentions a variable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.kubernetes.commands import Word, invocations, program, script, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree

TORCHRUN: Final = "torchrun"
MODULES: Final = frozenset({"torch.distributed.run", "torch.distributed.launch"})
_PYTHON: Final = re.compile(r"(?<![\w.-])python[0-9.]*(?=[ \t])")


def runs_torchrun(container: Tree) -> bool:
    """Return whether a container's command starts torchrun.

    >>> runs_torchrun({"command": ["python3", "-u", "-m", "torch.distributed.run", "train.py"]})
    True
    >>> runs_torchrun({"command": ["sh", "-c", "cd /app && torchrun train.py"]})
    True
    >>> runs_torchrun({"command": ["python", "train.py", "torchrun"]})
    False
    """
    arguments = enumerate(container.get("args") or ())
    command = words(container) or [Word(text, ("args", index)) for index, text in arguments]
    if not command:
        return False
    within = script(command)
    if within is None:
        return _is_torchrun([word.text for word in command])
    names = {TORCHRUN, *(match[0] for match in _PYTHON.finditer(within.text))}
    return any(
        _is_torchrun([word.text for word in invocation]) for name in names for invocation in invocations(within, name)
    )


def _is_torchrun(command: list[str]) -> bool:
    """Return whether the words of a command are those of torchrun."""
    first = program(command[0]) if command else ""
    if first == TORCHRUN:
        return True
    if not first.startswith("python"):
        return False
    options = command[1:]
    at = next((index for index, word in enumerate(options) if word == "-m" or not word.startswith("-")), None)
    return at is not None and options[at] == "-m" and at + 1 < len(options) and options[at + 1] in MODULES


def mentions(container: Tree, name: str) -> bool:
    """Return whether a text of a container mentions a variable, in any notation.

    >>> mentions({"args": ["--node_rank=$(LOCAL_RANK)"]}, "RANK"), mentions({"args": ["${RANK:-0}"]}, "RANK")
    (False, True)
    """
    word = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])")
    return any(word.search(text) for text in _texts(container))


def _texts(container: Tree) -> Iterator[str]:
    for key in ("command", "args"):
        yield from container.get(key) or ()
    for variable in container.get("env") or ():
        if isinstance(text := variable.get("value"), str):
            yield text
