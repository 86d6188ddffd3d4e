"""Masking: values of compiled objects without their secrets, as reports show those of the input.

Reads    a value, and the name that says whether it is a secret: of a variable, a field, a flag.
Returns  the value, `***` for what is hidden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.source.names import LAST_APPLIED, is_secret
from trainc.source.patterns import hidden, in_line, joined
from trainc.tracing.counterparts import at

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path

MASK: Final = "***"


def name_of(tree: Any, path: Path) -> str:
    """The name that stands for the value at a path of an object."""
    parent, step = at(tree, path[:-1]), path[-1]
    if isinstance(step, int):
        return _flag(parent, step) or name_of(tree, path[:-1])
    return _named(parent, step)


def masked(value: Any, name: str = "") -> Any:
    """The value as it may be shown.

    >>> masked({"name": "HF_TOKEN", "value": "hf_abc"}), masked(["--api-key", "abc", "--lr=1"])
    ({'name': 'HF_TOKEN', 'value': '***'}, ['--api-key', '***', '--lr=1'])
    """
    if isinstance(value, dict):
        return {key: masked(child, _named(value, key)) for key, child in value.items()}
    if isinstance(value, list):
        return [masked(child, _flag(value, index) or name) for index, child in enumerate(value)]
    if not isinstance(value, str):
        return value
    secret = name == LAST_APPLIED or is_secret(name)
    stretches = hidden(value, 0, len(value)) if secret else in_line(value)
    for begin, end in reversed(list(joined(stretches))):
        value = value[:begin] + MASK + value[end:]
    return value


def _named(mapping: Any, key: str) -> str:
    """The name of a field's value: of a variable's its own."""
    name = mapping.get("name") if key == "value" else None
    return name if isinstance(name, str) else key


def _flag(words: list[Any], index: int) -> str:
    """The flag of a command whose value a word is; empty where it is none."""
    before, word = words[index - 1] if index else "", words[index]
    texts = isinstance(before, str) and isinstance(word, str) and not word.startswith("-")
    return before if texts and before.startswith("-") and "=" not in before else ""
