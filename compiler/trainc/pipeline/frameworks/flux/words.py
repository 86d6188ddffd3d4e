"""Shell words for a script, with the variable references that the kubelet expands in a command.

Reads    the words of a container's command, and values.
Returns  shell text. In a command Kubernetes replaces `$(NAME)` with the container's variable, leaves unknown names as
         they are, and reads `$$` as one dollar sign. In a ConfigMap it does not, so the shell does it.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

REFERENCE: Final = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
"""An escaped dollar sign, or a reference to a variable with a valid shell name."""


def shell_word(word: str) -> str:
    r"""Return a word of a command in shell syntax.

    >>> print(shell_word("--lr=$(LR) in $$5"))
    --lr="${LR-\$(LR)}"' in $5'
    """
    parts, literal, at = [], "", 0
    for found in REFERENCE.finditer(word):
        literal += word[at : found.start()]
        at = found.end()
        if found[1] is None:
            literal += "$"
            continue
        parts += [shlex.quote(literal)] if literal else []
        parts.append(f'"${{{found[1]}-\\$({found[1]})}}"')
        literal = ""
    literal += word[at:]
    return "".join([*parts, shlex.quote(literal)] if literal or not parts else parts)


def assignment(name: str, value: str) -> str:
    """Return a line that sets a variable of the script."""
    return f"{name}={shlex.quote(value)}"
