"""The secrecy of a value: whether it is a secret by its context, the names in its document.

Reads    the mapping or list that has the value, or the pointer of an operation of a JSON patch.
Returns  the secrecy. Values are masked by it in trees (`masking`) and in texts (`secrets`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.source.command_lines import is_value
from trainc.source.secret_names import LAST_APPLIED, is_code, is_secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Secrecy = Literal["", "field", "variable", "data", "command", "item", "patch"]
"""Whether a value is a secret by a name: not; a scalar, or those of a list, because nested fields have their own names;
the whole value; the whole value, including switches, references and code. Or how its text is read: as code, as an item
of a command line whose option is unknown, as a document."""
NAMED: Final = ("field", "variable", "data")
"""The contexts in which the whole value is a secret."""
_Role = Literal["", "field", "variable", "data", "command", "patch", "name", "value", "contents"]
_ROLES: Final[dict[str, _Role]] = {
    "name": "name",
    "key": "name",
    "value": "value",
    "patch": "patch",
    "valueFrom": "",
    "data": "contents",
    "stringData": "data",
    LAST_APPLIED: "data",
}
_OPERATIONS: Final = ("add", "replace", "test")
"""The operations of a JSON patch that have a value."""
_SIMILAR: Final = 0.7
"""The similarity of a misspelled `name` or `value`, so that the other field of the pair stays masked."""


def secrecy_of(tree: Any, step: str | int, secret: Secrecy) -> Secrecy:
    """Whether a field or item is a secret; `secret` applies to the whole tree."""
    if isinstance(tree, dict):
        return secret if secret in ("variable", "data") else field_secrecy(str(step), tree.items())
    if secret in NAMED:
        return secret
    return item_secrecy(tree, step) if isinstance(tree, list) and isinstance(step, int) else ""


def field_secrecy(key: str, fields: Iterable[tuple[str, object]]) -> Secrecy:
    """Whether a field is a secret, by its name and the other fields of its mapping."""
    role = role_of(key)
    if role == "value":
        return _value_secrecy(list(fields))
    if role == "contents":
        return "data" if ("kind", "Secret") in fields else ""
    return "" if role == "name" else role


def _value_secrecy(fields: list[tuple[str, object]]) -> Secrecy:
    """Whether the value is a secret that the other fields name: a variable, or an operation of a JSON patch."""
    pointer = next((value for name, value in fields if name == "path"), None)
    if isinstance(pointer, str) and any(name == "op" and value in _OPERATIONS for name, value in fields):
        return pointer_secrecy(pointer)
    words = [word for name, word in fields if isinstance(word, str) and role_of(name) == "name"]
    return "variable" if any(map(is_secret, words)) else "command" if any(map(is_code, words)) else ""


def pointer_secrecy(pointer: str) -> Secrecy:
    """Whether a value that an operation writes is a secret, by the names in its pointer.

    Without the patched object, the name of a variable and the option before an argument are unknown: both are secret.

    >>> [pointer_secrecy(f"/{part}") for part in ("password", "env/0/value", "env/0/name", "args/1", "args")]
    ['field', 'variable', '', 'item', '']
    """
    secret: Secrecy = ""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if secret in ("variable", "data"):
            continue
        if key == "-" or key.isdecimal():
            secret = secret if secret in NAMED else "command" if key == "0" else "item"
            continue
        match role_of(key):
            case "value":
                secret = "variable"
            case "name" | "contents":
                secret = ""
            case role:
                secret = role
    return secret


def names_others(key: str) -> bool:
    """Whether a field has the name of other fields of its mapping, or their kind."""
    return key in ("kind", "op", "path") or role_of(key) == "name"


def item_secrecy(items: Sequence[object], index: int) -> Secrecy:
    """Whether an item of a command line is the value of an option with a secret name: [--token, abc]."""
    return "field" if is_value(items, index) else ""


@lru_cache(maxsize=2**16)
def role_of(key: str) -> _Role:
    """Return the meaning of a field's name for its own value, or for the other fields of its mapping."""
    if key in _ROLES or is_secret(key):
        return _ROLES.get(key, "field")
    if is_code(key):
        return "command"
    from trainc.base.suggestions import nearest_name

    meant = nearest_name(key, ("name", "value"), likeness=_SIMILAR)
    return _ROLES[meant] if meant else ""
