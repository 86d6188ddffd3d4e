"""Mask secrets in manifest values, as reports do in source lines.

Reads    a value, and whether its context marks it as a secret.
Returns  the value with `***` for each secret: the values of variables, flags and fields with secret names
         (`source.names`), the data of Secrets, kubectl's copy of a whole manifest, and text in the form of a secret
         (`--token=abc`, https://user:password@host).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.kubernetes.trees import get
from trainc.source.names import LAST_APPLIED, is_secret
from trainc.source.patterns import hidden, in_line, is_script, joined, login, whole_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.trees import Path, Tree
    from trainc.source.patterns import Stretch

MASK: Final = "***"
_BY_MAPPING: Final = frozenset({LAST_APPLIED, "data", "stringData", "value"})
"""The fields that are secret depending on the other fields of their mapping, and kubectl's copy."""
SHORT: Final = 256
"""The maximum length of a text whose masked form is cached: manifests repeat short texts."""

Secrecy = Literal["", "named", "whole"]
"""Not a secret; a secret by name, unless the value is a switch or a reference; or a secret with any value."""


def masked(value: Any, *, secret: Secrecy = "") -> Any:
    """Return the value with its secrets masked; `secret` applies to the whole value.

    >>> masked({"name": "HF_TOKEN", "value": "hf_abc"}), masked(["--api-key", "abc", "--lr=1"])
    ({'name': 'HF_TOKEN', 'value': '***'}, ['--api-key', '***', '--lr=1'])
    """
    if isinstance(value, dict):
        return {key: masked(part, secret=secret or _secret_field(value, key)) for key, part in value.items()}
    if isinstance(value, list):
        return [_item(value, index, secret) for index in range(len(value))]
    if isinstance(value, str):
        return MASK if secret == "whole" else _text(value, secret=bool(secret))
    return MASK if secret and isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _item(items: list[Any], index: int, secret: Secrecy) -> Any:
    """Return an item of a list with its secrets masked. An item of a command line can be a flag with its value."""
    item = items[index]
    found: Secrecy = secret or _behind_flag(items, index)
    if found or not isinstance(item, str) or is_script(items, index):
        return masked(item, secret=found)
    stretches = [*in_line(item), *_of_word(items, index)]
    return _without(item, stretches)


def _of_word(items: list[Any], index: int) -> Iterator[Stretch]:
    """Yield the secrets in an item by its own name, and by the items before it."""
    item = items[index]
    if whole := whole_word(item):
        yield from hidden(item, *whole)
    if index and (found := login(items[:index], item)):
        yield from hidden(item, *found)


def is_secret_at(tree: Any, path: Path) -> Secrecy:
    """Whether the value at a path is a secret, by its context."""
    around = tree
    for step in path:
        found: Secrecy = ""
        if isinstance(around, dict):
            found = _secret_field(around, str(step))
        elif isinstance(around, list) and isinstance(step, int):
            found = _behind_flag(around, step)
        if found:
            return found
        around = get(around, (step,))
    return ""


def leaves(tree: Any) -> list[tuple[Path, Secrecy]]:
    """Return the path of each scalar, empty mapping and empty list, and whether it is a secret, by its context."""
    found: list[tuple[Path, Secrecy]] = []
    _add_leaves(found, tree, (), "")
    return found


def _add_leaves(found: list[tuple[Path, Secrecy]], tree: Any, path: Path, secret: Secrecy) -> None:
    if not tree or not isinstance(tree, (dict, list)):
        found.append((path, secret))
    elif isinstance(tree, dict):
        for key, value in tree.items():
            _add_leaves(found, value, (*path, key), secret or _secret_field(tree, key))
    else:
        for index, value in enumerate(tree):
            _add_leaves(found, value, (*path, index), secret or _behind_flag(tree, index))


def _secret_field(mapping: Tree, key: str) -> Secrecy:
    """Whether a field of a mapping is secret. Nested fields have their own names, except in the data of a Secret."""
    if not _may_be_secret(key):
        return ""
    if key == LAST_APPLIED or (key in {"data", "stringData"} and mapping.get("kind") == "Secret"):
        return "whole"
    inner = mapping.get(key)
    if isinstance(inner, dict) or (isinstance(inner, list) and any(isinstance(item, dict) for item in inner)):
        return ""
    return "named" if is_secret(str(mapping.get("name", "")) if key == "value" else key) else ""


@lru_cache(maxsize=4096)
def _may_be_secret(key: str) -> bool:
    """Whether a field of some mapping with this name is secret: most names are not, whatever the mapping contains."""
    return key in _BY_MAPPING or is_secret(key)


def _behind_flag(items: list[Any], index: int) -> Secrecy:
    """Whether a command-line item is the value of a flag with a secret name: [--token, abc]."""
    before = items[index - 1] if 0 < index <= len(items) else None
    if not isinstance(before, str) or not before.startswith("-") or "=" in before or not is_secret(before):
        return ""
    return "" if str(items[index] if index < len(items) else "").startswith("-") else "named"


def _text(text: str, *, secret: bool) -> str:
    """Mask the secrets in a text; switches and references are not secrets."""
    return _short_text(text, secret=secret) if len(text) <= SHORT else _long_text(text, secret=secret)


def _long_text(text: str, *, secret: bool) -> str:
    return _without(text, hidden(text, 0, len(text)) if secret else in_line(text))


_short_text = lru_cache(maxsize=4096)(_long_text)


def _without(text: str, stretches: Iterable[Stretch]) -> str:
    shown, end = [], 0
    for begin, last in joined(stretches):
        shown += [text[end:begin], MASK]
        end = last
    return "".join([*shown, text[end:]]) if shown else text
