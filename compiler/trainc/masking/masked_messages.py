"""Mask secrets in messages, which may quote the value that they report.

Reads    a message, and the field that it is about: a tree and a path. A message about a file that cannot be parsed
         quotes no value.
Returns  the message with `***` for the quoted values of the field that are secrets, and for text in the form of one.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trainc.diagnostics import Place
from trainc.kubernetes.trees import get, put
from trainc.masking.masked_values import MASK, masked_at, masked_item, secrecy_at
from trainc.masking.text_secrets import command_line, in_sentence, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.fixes import Fix
    from trainc.diagnostics import Diagnostic
    from trainc.kubernetes.trees import Path
    from trainc.kubernetes.violations import Violation

_QUOTED: Final = (
    re.compile(r'(?<=")(?:[^"\\]++|\\.)+', re.DOTALL),
    re.compile(r"(?<=`)[^`]++"),
    re.compile(r"(?<![\w.\[-])-?[0-9][\w.+-]*+"),
    re.compile(r"(?<= to )\S++\Z"),
)
"""The ways in which messages quote a value: as a string, as code, as a number, or as the last word. In a value that has
been cut off, quotes have no pairs, so a text between two values is compared, too."""
_CUT: Final = "..."
"""The end of a value that is too long for a message."""


def without_secrets(diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic whose place has not been located, with its secrets masked; a fix that has one is left out."""
    place = diagnostic.place
    fields = [(place.document.value, place.path)] if isinstance(place, Place) else []
    source = diagnostic.fixed_in or (place.document if isinstance(place, Place) else None)
    shown, fix = without_secret_values(diagnostic.help, diagnostic.fix, *([source.value] if source else []))
    message, help = (about(text, *fields) for text in (diagnostic.message, shown))
    fix = fix if help == shown else None
    if (message, help, fix) == (diagnostic.message, diagnostic.help, diagnostic.fix):
        return diagnostic
    return diagnostic._replace(message=message, help=help, fix=fix)


def masked_violation(violation: Violation, *trees: Any) -> Violation:
    """Return a violation in some trees with its secrets masked; a fix that has one is left out."""
    fields = [(tree, violation.path) for tree in trees]
    shown, fix = without_secret_values(violation.help, violation.fix, *trees)
    message, help = (about(text, *fields) for text in (violation.message, shown))
    return violation._replace(message=message, help=help, fix=fix if help == shown else None)


def without_secret_values(help: str, fix: Fix | None, *trees: Any) -> tuple[str, Fix | None]:
    """Return a hint and its fix in some trees. If the fix writes a secret, the hint masks it, and there is no fix."""
    if fix is None:
        return help, fix
    for tree in trees:
        shown = fix.mapped(partial(_masked_value, tree))
        if shown != fix:
            return help.replace(fix.title, fix.bare if shown.shown == MASK else shown.title), None
    return help, fix


def _masked_value(tree: Any, path: Path, value: Any) -> Any:
    """Return a new value of a field of a tree with its secrets masked; a list may lack its item.

    >>> [_masked_value({"args": ["--token"]}, ("args", index), "abc") for index in (1, 2)]
    ['***', 'abc']
    """
    if not path or (around := get(tree, path[:-1])) is None:
        return value
    if isinstance(around, list) and isinstance(path[-1], int) and path[-1] >= len(around):
        gap = [None] if path[-1] > len(around) else []
        line = command_line([*around, *gap, value])
        return masked_item(line, len(line.words) - 1, secrecy_at(tree, path[:-1]))
    return masked_at(put(tree, path, value), path)


def about(text: str, *fields: tuple[Any, Path]) -> str:
    """Return a text about some fields of trees with their secrets masked.

    >>> about('label "a-token" has the value "a"', ({"a-token": "a"}, ("a-token",)))
    'label "a-token" has the value "***"'
    """
    shown = ((get(tree, path), masked_at(tree, path)) for tree, path in fields)
    secrets = dict(pair for pairs in shown for pair in _secrets(*pairs))
    for quoted in _QUOTED if secrets else ():
        text = quoted.sub(lambda match: _shown(match[0], secrets), text)
    for begin, end in reversed(list(joined(in_sentence(text)))):
        text = f"{text[:begin]}{MASK}{text[end:]}"
    return text


def _shown(part: str, secrets: dict[str, str]) -> str:
    """Return a quoted value with its secrets masked, or only its start if the rest has been cut off."""
    head, cut, rest = part.partition(_CUT)
    if part in secrets:
        return secrets[part]
    shown = [shown for whole, shown in secrets.items() if cut and head and whole.startswith(head)]
    return MASK + rest if any(not each.startswith(head) for each in shown) else part


def _secrets(value: Any, masked: Any) -> Iterator[tuple[str, str]]:
    """Yield the scalars of a value that are masked, each as text and as JSON, with their masked forms."""
    pairs = [(value, masked)]
    while pairs:
        given, shown = pairs.pop()
        if isinstance(given, dict | list) and isinstance(shown, str):  # a collection that is masked as a whole
            parts = [*given, *given.values()] if isinstance(given, dict) else given
            pairs += [(part, shown) for part in parts]
        elif isinstance(given, dict | list):
            pairs += [(given[step], shown[step]) for step in (given if isinstance(given, dict) else range(len(given)))]
        elif given != shown:
            yield str(given), shown
            text = json.dumps(given, ensure_ascii=False)
            yield text[1:-1] if isinstance(given, str) else text, json.dumps(shown, ensure_ascii=False)[1:-1]
