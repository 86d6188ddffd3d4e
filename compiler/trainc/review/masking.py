"""Masking: values that look like secrets are not shown, in whatever format.

Reads    manifests and changes of them.
Returns  the same with `***` in the place of what is secret: the values of variables, flags and fields whose names say
         so (`source.names`), the data of Secrets, and kubectl's copy of a whole manifest.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, overload

from trainc.review.changes import Change
from trainc.source import messages
from trainc.source.names import LAST_APPLIED, is_secret
from trainc.source.patterns import in_line, joined
from trainc.tracing.counterparts import GONE, at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.trees import Path, Tree
    from trainc.kubernetes.violations import Violation

MASK: Final = "***"


@overload
def masked(value: Change, *, trees: tuple[Any, Any]) -> Change: ...
@overload
def masked(value: Tree) -> Tree: ...
def masked(value: Any, *, trees: tuple[Any, Any] = (None, None)) -> Any:
    """A manifest, or a change of one with the trees that it is a change of, without secrets."""
    if isinstance(value, Change):
        if value.kind == "moved":
            return value
        old, new = (
            _inside(part, _is_secret(tree, path))
            for part, tree, path in (
                (value.old, trees[0], value.old_path),
                (value.new, trees[1], value.new_path),
            )
        )
        return value._replace(old=old, new=new)
    return _inside(value, False)


def unsaid(violation: Violation, *trees: Any) -> Violation:
    """A violation whose message does not quote what is secret of the trees at its path."""
    values = {
        spelling
        for tree in trees
        if (value := at(tree, violation.path)) is not GONE
        for secret in _secrets(value, _inside(value, _is_secret(tree, violation.path)))
        for spelling in (secret, json.dumps(secret, ensure_ascii=False)[1:-1])
    }
    return violation._replace(message=messages.masked(violation.message, sorted(values, key=len, reverse=True)))


def _secrets(value: Any, shown: Any) -> Iterator[str]:
    """The values of a tree that are not shown as they are."""
    if isinstance(value, dict | list):
        steps: Iterable[Any] = value if isinstance(value, dict) else range(len(value))
        for step in steps:
            yield from _secrets(value[step], shown[step])
    elif value != shown:
        yield str(value)


def _is_secret(tree: Any, path: Path) -> bool:
    """Whether what stands at a path is a secret, by what stands around it."""
    for length, step in enumerate(path):
        around = at(tree, path[:length])
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


def _inside(value: Any, secret: bool) -> Any:
    if isinstance(value, dict):
        return {key: _inside(part, secret or _secret_field(value, key)) for key, part in value.items()}
    if isinstance(value, list):
        return [_inside(part, secret or _behind_flag(value, index)) for index, part in enumerate(value)]
    if isinstance(value, str):
        return MASK if secret else _text(value)
    return MASK if secret and value is not GONE and value is not None and not isinstance(value, bool) else value


def _text(text: str) -> str:
    """A text without the secrets that its own form betrays: --token=abc, https://user:password@host."""
    shown, end = [], 0
    for begin, last in joined(in_line(text)):
        shown += [text[end:begin], MASK]
        end = last
    return "".join([*shown, text[end:]]) if shown else text
