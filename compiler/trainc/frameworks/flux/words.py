"""Words for a script: text as the shell reads it again, with the references that a kubelet would have expanded.

Reads    the words of a container's command, and values.
Returns  shell text. In a command Kubernetes replaces `$(NAME)` by the variable of the container, leaves an unknown one
         as it is, and reads `$$` as one dollar; in a ConfigMap it does not, so the shell does it.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

REFERENCE: Final = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
"""An escaped dollar, or a variable whose name a shell can say."""


def shell_word(word: str) -> str:
    r"""One word of a command.

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
    """A line that sets a variable of the script."""
    return f"{name}={shlex.quote(value)}"
