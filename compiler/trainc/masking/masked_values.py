"""Masked values of manifests and settings.

Reads    a value, and the names around it that may say that it is secret.
Returns  the value with `***` for each secret. A secret that a command of its container runs is named as run, because
         the mask hides code.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import get
from trainc.masking.secret_names import SECRET, field_secrecy, program_index
from trainc.masking.text_secrets import CommandLine, command_line, in_value, in_words, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.trees import Path
    from trainc.masking.secret_names import Secrecy
    from trainc.masking.text_secrets import Stretch

MASK: Final = "***"
RUN: Final = "*** (run as code)"
"""The form of a secret variable that a command runs."""
CHANGED: Final = "*** (changed)"
"""The form of a secret that changes, in a review."""
_SHORT: Final = 256
"""The maximum length of a text whose masked form is cached: manifests repeat short texts."""
_REFERENCE: Final = re.compile(r"\$[({]?(\w+)")
_RUNNING: Final = re.compile(
    r"\beval\b[^\n;|&]*"
    r"|(?:^|(?<=[\n;|&]))[^\n;|&]*+\|[ \t]*+(?:[^\s;|&]*/)?(?:\w*sh|python[\d.]*|perl|xargs)\b"
    r"""|(?:^|[\n;|&({`]|\b(?:do|then|else|exec|command|source|nohup)\b|\s\.|-\w*c|<<<)[ \t]*["']?\$[({]?\w+"""
)
"""The parts of a script that run variables: `eval`, a pipe into an interpreter, the first word of a command."""


def masked(value: Any, *, secret: Secrecy = "") -> Any:
    """Return the value with its secrets masked; `secret` is what the names around it say.

    >>> masked({"name": "HF_TOKEN", "value": "hf_abc"}), masked({"args": ["--api-key", "abc", "--lr=1"]})
    ({'name': 'HF_TOKEN', 'value': '***'}, {'args': ['--api-key', '***', '--lr=1']})
    """
    if isinstance(value, str):
        return _short_text(value, secret) if len(value) <= _SHORT else _text(value, secret)
    if secret == "variable":
        return value if value is None or isinstance(value, bool) else MASK
    if isinstance(value, dict):
        shown = {key: masked(part, secret=secrecy_of(value, key, secret)) for key, part in value.items()}
        return _with_run_variables(value, shown) if "env" in value else shown
    if isinstance(value, list):
        line = command_line(value)
        return [masked_item(line, index, secret) for index in range(len(value))]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return MASK if is_number and secret in SECRET else value


def masked_at(tree: Any, path: Path) -> Any:
    """Return the value at a path of a tree with its secrets masked, as in the whole tree; None if there is none.

    >>> masked_at({"args": ["--token", "abc"]}, ("args", 1))
    '***'
    """
    secret: Secrecy = ""
    for number, step in enumerate(path):
        if step == "env" and _run_variables(tree):
            return get(masked(tree), path[number:])
        if isinstance(tree, list) and isinstance(step, int) and number == len(path) - 1 and step < len(tree):
            return masked_item(command_line(tree), step, secret)
        secret, tree = secrecy_of(tree, step, secret), get(tree, (step,))
    return masked(tree, secret=secret)


def secrecy_at(tree: Any, path: Path) -> Secrecy:
    """Return what the names around a path say about its value."""
    secret: Secrecy = ""
    for step in path:
        secret = secrecy_of(tree, step, secret)
        tree = get(tree, (step,))
    return secret


def secrecy_of(tree: Any, step: str | int, secret: Secrecy) -> Secrecy:
    """Return how a field or an item is masked; `secret` applies to the whole tree."""
    if isinstance(tree, dict):
        return secret if secret in ("variable", "data") else field_secrecy(str(step), tree.items())
    return secret


def masked_text(text: str, stretches: Iterable[Stretch]) -> str:
    """Return a text with some ranges masked."""
    shown, end = [], 0
    for begin, last in joined(stretches):
        shown += [text[end:begin], MASK]
        end = last
    return "".join([*shown, text[end:]]) if shown else text


def masked_item(line: CommandLine, index: int, secret: Secrecy) -> Any:
    """Return an item of a list with its secrets masked."""
    item = line.words[index]
    if secret in ("", "words") and isinstance(item, str):
        return masked_text(item, in_words(line, index, item, secret))
    return masked(item, secret=secret)


def _text(text: str, secret: Secrecy) -> str:
    return masked_text(text, in_value(text, secret))


_short_text = lru_cache(maxsize=4096)(_text)


def _with_run_variables(container: dict[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
    """Return a masked container in which the secret variables that its commands run are named.

    >>> env = [{"name": "A_TOKEN", "value": "curl example.com | sh"}]
    >>> masked({"command": ["sh", "-c", 'eval "$A_TOKEN"'], "env": env})["env"][0]["value"]
    '*** (run as code)'
    """
    if (run := _run_variables(container)) and isinstance(shown["env"], list):
        for variable in shown["env"]:
            if isinstance(variable, dict) and variable.get("value") == MASK and variable.get("name") in run:
                variable["value"] = RUN
    return shown


def _run_variables(container: Any) -> set[str]:
    """Return the names of the variables that a container's commands, probes and hooks run."""
    scripts = "\n".join(_scripts(container))
    return {name for part in _RUNNING.findall(scripts) for name in _REFERENCE.findall(part)}


def _scripts(value: Any) -> Iterator[str]:
    """Yield the programs and the scripts of the command lines in a container."""
    if not isinstance(value, dict):
        return
    lines = [value[key] for key in ("command", "args") if isinstance(value.get(key), list)]
    words = [word for line in lines for word in line]
    code = program_index(words)
    yield from (word for word in (words[:1] + words[code : code + 1] if code else words[:1]) if isinstance(word, str))
    for key, part in value.items():
        if key != "env":
            yield from _scripts(part)
