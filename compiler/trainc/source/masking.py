"""Masking: the values that reports, excerpts, `explain`, `pods` and `diff` show as `***`, by three rules.

1. **Names.** The whole value is masked if the *name* of its field, key, variable or option says that it is a secret
   (`secret_names`): `apiKey: x`, `{name: HF_TOKEN, value: x}`, `--password x`, and all data of a Secret. References
   such as `$(NAME)`, code such as `$(command)`, and switches such as `true` stay visible, except in a Secret.
2. **Forms.** In any text, tokens with the form of a known service, private keys, and the password of a URI or a login
   are masked (`patterns`).
3. **Unparsable files.** A line of a file that cannot be parsed shows its key: nothing after its first `:` or `=`, and
   nothing of a line without one, which may continue a value (`secrets`). References, code and switches stay visible,
   and one word in a field that has no secret, such as `image`.

In an item of a list, which may be one of a command line, a mask covers one plain word (`command_lines`). An operation
of a JSON patch has the names in its pointer (`secrecy`). A secret stays one if a patch removes its name
(`unnamed_secrets`).

A value is masked by its path in its document: in a tree (this module), in the text of the document (`secrets`) and in a
message about its field (`messages`). The same word elsewhere stays visible.

Reads    a value, and whether its context marks it as a secret.
Returns  the value with `***` for each secret.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import get
from trainc.source.command_lines import in_argument
from trainc.source.patterns import joined
from trainc.source.secrecy import NAMED, secrecy_of
from trainc.source.secrets import in_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Path
    from trainc.source.patterns import Stretch
    from trainc.source.secrecy import Secrecy

MASK: Final = "***"
SHORT: Final = 256
"""The maximum length of a text whose masked form is cached: manifests repeat short texts."""


def masked(value: Any, *, secret: Secrecy = "") -> Any:
    """Return the value with its secrets masked; `secret` applies to the whole value.

    >>> masked({"name": "HF_TOKEN", "value": "hf_abc"}), masked(["--api-key", "abc", "--lr=1"])
    ({'name': 'HF_TOKEN', 'value': '***'}, ['--api-key', '***', '--lr=1'])
    """
    if isinstance(value, dict):
        return {key: masked(part, secret=secrecy_of(value, key, secret)) for key, part in value.items()}
    if isinstance(value, list):
        return [masked_item(value, index, secret) for index in range(len(value))]
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
            return masked_item(tree, step, secret)
        secret, tree = secrecy_of(tree, step, secret), get(tree, (step,))
    return masked(tree, secret=secret)


def secrecy_at(tree: Any, path: Path) -> Secrecy:
    """Whether the value at a path is a secret, by its context."""
    secret: Secrecy = ""
    for step in path:
        secret = secrecy_of(tree, step, secret)
        tree = get(tree, (step,))
    return secret


def masked_item(items: list[Any], index: int, secret: Secrecy) -> Any:
    """Return an item of a list with its secrets masked: a text may be an item of a command line."""
    item = items[index]
    if secret in NAMED or not isinstance(item, str):
        return masked(item, secret=secrecy_of(items, index, secret))
    return masked_text(item, in_argument(items, index))


def _text(text: str, secret: Secrecy) -> str:
    return masked_text(text, in_text(text, secret))


_short_text = lru_cache(maxsize=4096)(_text)


def masked_text(text: str, stretches: Iterable[Stretch]) -> str:
    """Return a text with some ranges masked."""
    shown, end = [], 0
    for begin, last in joined(stretches):
        shown += [text[end:begin], MASK]
        end = last
    return "".join([*shown, text[end:]]) if shown else text
