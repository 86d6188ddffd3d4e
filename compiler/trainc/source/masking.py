"""Masking: the values that reports, excerpts, `explain`, `pods` and `diff` show as `***`, by three rules.

1. **Names.** The whole value is masked if the *name* of its field, key, variable or option says that it is a secret
   (`secret_names`): `apiKey: x`, `{name: HF_TOKEN, value: x}`, `--password x`, and all data of a Secret. References
   such as `$(NAME)`, code such as `$(command)`, and switches such as `true` stay visible, except in a Secret.
2. **Forms.** In any text, tokens with the form of a known service, private keys, and the password of a URI or a login
   are masked (`patterns`).
3. **Unparsable files.** A line of a file that cannot be parsed shows its key: nothing after its first `:` or `=`, and
   nothing of a line without one, which may continue a value (`secrets`). References, code and switches stay visible.

A value is masked at its position, in a document's text (`secrets`), in a tree (this module) and in a message about its
field (`messages`). The same word elsewhere stays visible.

Reads    a value, and whether its context marks it as a secret.
Returns  the value with `***` for each secret.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.kubernetes.trees import get
from trainc.source.command_lines import in_argument, in_command, is_value
from trainc.source.patterns import hidden, in_line, joined
from trainc.source.secret_names import LAST_APPLIED, is_code, is_secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.kubernetes.trees import Path
    from trainc.source.patterns import Stretch

MASK: Final = "***"
SHORT: Final = 256
"""The maximum length of a text whose masked form is cached: manifests repeat short texts."""

Secrecy = Literal["", "field", "variable", "data", "command"]
"""Whether a value is a secret by a name: not; a scalar, or those of a list, because nested fields have their own names;
the whole value; the whole value, including switches, references and code; not, and a text is run."""
NAMED: Final = ("field", "variable", "data")
"""The contexts in which the whole value is a secret."""
_Role = Literal["", "field", "variable", "data", "command", "name", "value", "contents"]
_ROLES: Final[dict[str, _Role]] = {
    "name": "name",
    "key": "name",
    "value": "value",
    "valueFrom": "",
    "data": "contents",
    "stringData": "data",
    LAST_APPLIED: "data",
}
_SIMILAR: Final = 0.7
"""The similarity of a misspelled `name` or `value`, so that the other field of the pair stays masked."""


def masked(value: Any, *, secret: Secrecy = "") -> Any:
    """Return the value with its secrets masked; `secret` applies to the whole value.

    >>> masked({"name": "HF_TOKEN", "value": "hf_abc"}), masked(["--api-key", "abc", "--lr=1"])
    ({'name': 'HF_TOKEN', 'value': '***'}, ['--api-key', '***', '--lr=1'])
    """
    if isinstance(value, dict):
        return {key: masked(part, secret=secrecy_of(value, key, secret)) for key, part in value.items()}
    if isinstance(value, list):
        return [_item(value, index, secret) for index in range(len(value))]
    if isinstance(value, str):
        return MASK if secret == "data" else _short_text(value, secret) if len(value) <= SHORT else _text(value, secret)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return MASK if is_number and secret in NAMED else value


def masked_at(tree: Any, path: Path) -> Any:
    """Return the value at a path of a tree with its secrets masked, as in the whole tree; None if there is none.

    >>> masked_at({"args": ["--token", "abc"]}, ("args", 1))
    '***'
    """
    secret: Secrecy = ""
    for number, step in enumerate(path):
        if isinstance(tree, list) and isinstance(step, int) and number == len(path) - 1 and step < len(tree):
            return _item(tree, step, secret)
        secret, tree = secrecy_of(tree, step, secret), get(tree, (step,))
    return masked(tree, secret=secret)


def secrecy_at(tree: Any, path: Path) -> Secrecy:
    """Whether the value at a path is a secret, by its context."""
    secret: Secrecy = ""
    for step in path:
        secret = secrecy_of(tree, step, secret)
        tree = get(tree, (step,))
    return secret


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
        words = [word for name, word in fields if isinstance(word, str) and role_of(name) == "name"]
        return "variable" if any(map(is_secret, words)) else "command" if any(map(is_code, words)) else ""
    if role == "contents":
        return "data" if ("kind", "Secret") in fields else ""
    return "" if role == "name" else role


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


def in_text(text: str, secret: Secrecy) -> Iterator[Stretch]:
    """Yield the secrets in a text, by its context; switches and references are not secrets."""
    if secret in NAMED:
        return hidden(text, 0, len(text), literal=secret == "data")
    return in_command(text) if secret == "command" else in_line(text)


def _item(items: list[Any], index: int, secret: Secrecy) -> Any:
    """Return an item of a list with its secrets masked: a text may be an item of a command line."""
    item = items[index]
    if secret in NAMED or not isinstance(item, str):
        return masked(item, secret=secrecy_of(items, index, secret))
    return without(item, in_argument(items, index))


def _text(text: str, secret: Secrecy) -> str:
    return without(text, in_text(text, secret))


_short_text = lru_cache(maxsize=4096)(_text)


def without(text: str, stretches: Iterable[Stretch]) -> str:
    """Return a text with some ranges masked."""
    shown, end = [], 0
    for begin, last in joined(stretches):
        shown += [text[end:begin], MASK]
        end = last
    return "".join([*shown, text[end:]]) if shown else text
