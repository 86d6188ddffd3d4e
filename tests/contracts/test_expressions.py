"""The regular expressions of the package give the same result on every Python, and in linear time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from contracts.expressions import Use, uses

FOLDER = Path(__file__).parent
FEWEST = 100
"""The package has more uses of expressions than this: the search for them works."""
ONE_CHARACTER = {codes.IN, codes.LITERAL, codes.NOT_LITERAL, codes.ANY}


@pytest.mark.slow
def test_every_expression_is_linear() -> None:
    """Each takes linear time on generated worst cases of 1 MB (`expressions`)."""
    done = subprocess.run([sys.executable, "expressions.py"], cwd=FOLDER, capture_output=True, check=True, text=True)
    (_, _, quadratic), *rows = map(json.loads, done.stdout.splitlines())
    assert quadratic < 0
    assert len(rows) > FEWEST
    assert [row for row in rows if row[2]] == []


@pytest.mark.slow
def test_no_expression_has_a_possessive_group() -> None:
    """Before CPython 3.11.5, a possessive group keeps what its last iteration consumed before that failed."""
    found = uses()
    assert len(found) > FEWEST
    assert [where for use, where in found.items() if any(groups(parser.parse(use.pattern, _flags(use))))] == []


@pytest.mark.parametrize("pattern", ["(?:a|bc)*+", "(?:ab)++", "(?:(?:ab)?+c)*", "(?>ab*)", "(?=(?:a|bc)?+)"])
def test_a_possessive_group(pattern: str) -> None:
    assert list(groups(parser.parse(pattern)))


@pytest.mark.parametrize("pattern", ["a*+", "[ab]++c", ".?+", "(?:a*+b)*", "[^a]{1,9}+(?=a)"])
def test_a_possessive_character(pattern: str) -> None:
    assert not list(groups(parser.parse(pattern)))


def groups(parsed: Any) -> Iterator[Any]:
    """Yield the possessive and atomic groups of a parsed expression that match more than one character."""
    for code, argument in parsed:
        if code is codes.ATOMIC_GROUP:
            yield argument
        elif code is codes.POSSESSIVE_REPEAT and [inner for inner, _ in argument[2]] not in [
            [one] for one in ONE_CHARACTER
        ]:
            yield argument[2]
        yield from _groups_in(argument)


def _groups_in(argument: Any) -> Iterator[Any]:
    if isinstance(argument, parser.SubPattern):
        yield from groups(argument)
    elif isinstance(argument, tuple | list):
        for part in argument:
            if isinstance(part, parser.SubPattern | tuple | list) and not isinstance(part, str):
                yield from _groups_in(part)


def _flags(use: Use) -> int:
    return use.flags & ~re.UNICODE if isinstance(use.pattern, bytes) else use.flags
