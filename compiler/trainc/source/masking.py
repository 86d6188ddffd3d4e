"""Masking: values of manifests without their secrets, as reports show those of the input.

Reads    a value, and whether what stands around it says that it is a secret.
Returns  the value with `***` for what is hidden: the values of variables, flags and fields whose names say so
         (`source.names`), the data of Secrets, kubectl's copy of a whole manifest, and what its own form betrays
         (`--token=abc`, https://user:password@host).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import get
from trainc.source.names import LAST_APPLIED, is_secret
from trainc.source.patterns import hidden, in_line, joined

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path, Tree

MASK: Final = "***"


def masked(value: Any, *, secret: bool = False) -> Any:
    """The value as it may be shown; `secret` says that all of it is one.

    >>> masked({"name": "HF_TOKEN", "value": "hf_abc"}), masked(["--api-key", "abc", "--lr=1"])
    ({'name': 'HF_TOKEN', 'value': '***'}, ['--api-key', '***', '--lr=1'])
    """
    if isinstance(value, dict):
        return {key: masked(part, secret=secret or _secret_field(value, key)) for key, part in value.items()}
    if isinstance(value, list):
        return [masked(part, secret=secret or _behind_flag(value, index)) for index, part in enumerate(value)]
    if isinstance(value, str):
        return _text(value, secret=secret)
    return MASK if secret and isinstance(value, int | float) and not isinstance(value, bool) else value


def is_secret_at(tree: Any, path: Path) -> bool:
    """Whether what stands at a path is a secret, by what stands around it."""
    for length, step in enumerate(path):
        around = get(tree, path[:length])
        if isinstance(around, dict) and _secret_field(around, str(step)):
            return True
        if isinstance(around, list) and isinstance(step, int) and _behind_flag(around, step):
            return True
    return False


def _secret_field(mapping: Tree, key: str) -> bool:
    """Whether a field of a mapping is secret. Fields within it have names of their own, but for data of a Secret."""
    if key == LAST_APPLIED or (key in {"data", "stringData"} and mapping.get("kind") == "Secret"):
        return True
    inner = mapping.get(key)
    if isinstance(inner, dict) or (isinstance(inner, list) and any(isinstance(item, dict) for item in inner)):
        return False
    return is_secret(str(mapping.get("name", "")) if key == "value" else key)


def _behind_flag(items: list[Any], index: int) -> bool:
    """Whether an item of a command line is the value of a flag that names a secret: [--token, abc]."""
    before = items[index - 1] if 0 < index <= len(items) else None
    if not isinstance(before, str) or not before.startswith("-") or "=" in before:
        return False
    return is_secret(before) and not str(items[index] if index < len(items) else "").startswith("-")


def _text(text: str, *, secret: bool) -> str:
    """A text without its secrets; a switch, and a reference to what stands elsewhere, is none."""
    shown, end = [], 0
    for begin, last in joined(hidden(text, 0, len(text)) if secret else in_line(text)):
        shown += [text[end:begin], MASK]
        end = last
    return "".join([*shown, text[end:]]) if shown else text
