"""Containers that visibly run torchrun, and the variables that their texts mention.

Reads    a container's command, arguments and variables.
Returns  whether the command is torchrun or `python -m torch.distributed.run`, alone or in a line of a shell script; and
         whether a text mentions a variable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainc.kubernetes.commands import Word, begin, invocations, script, words
from trainc.pipeline.training import TORCHRUN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree


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
        return begin(command, TORCHRUN) is not None
    return any(invocations(within, TORCHRUN))


def mentions(container: Tree, name: str) -> bool:
    """Return whether a text of a container mentions a variable, in any notation.

    >>> mentions({"args": ["--node_rank=$(LOCAL_RANK)"]}, "RANK"), mentions({"args": ["${RANK:-0}"]}, "RANK")
    (False, True)
    """
    word = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])")
    return any(word.search(text) for text in texts(container))


def texts(container: Tree) -> Iterator[str]:
    """Yield the texts of a container: its command, its arguments and the values of its variables."""
    for key in ("command", "args"):
        yield from container.get(key) or ()
    for variable in container.get("env") or ():
        if isinstance(text := variable.get("value"), str):
            yield text
