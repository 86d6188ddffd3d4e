"""Containers that visibly run torchrun, and the variables that their texts mention.

Reads    a container's command, arguments and variables.
Returns  whether the command is torchrun or `python -m torch.distributed.run`, alone or in a line of a shell script; and
         whether a text mentions a variable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.kubernetes.commands import Word, begin, invocations, script, words
from trainc.pipeline.training import TORCHRUN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree


TORCHRUN_NAMES: Final = {
    "WORLD_SIZE": "PET_NNODES",
    "RANK": "PET_NODE_RANK",
    "MASTER_ADDR": "PET_MASTER_ADDR",
    "MASTER_PORT": "PET_MASTER_PORT",
}
"""The variables that Training Operator adds, and those of torchrun with the same value if a node runs one process."""
_OPERATORS_NAME: Final = re.compile(rf"(?<!\$)(\$[({{]?)({'|'.join(TORCHRUN_NAMES)})(?![A-Za-z0-9_])")


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


def with_torchrun_names(text: str) -> str:
    """Return a text that refers to the variables of torchrun instead of those that Training Operator adds.

    >>> with_torchrun_names("torchrun --nnodes=${WORLD_SIZE} --node_rank=$RANK --master_addr=$(MASTER_ADDR)")
    'torchrun --nnodes=${PET_NNODES} --node_rank=$PET_NODE_RANK --master_addr=$(PET_MASTER_ADDR)'
    """
    return _OPERATORS_NAME.sub(lambda match: f"{match[1]}{TORCHRUN_NAMES[match[2]]}", text)


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
