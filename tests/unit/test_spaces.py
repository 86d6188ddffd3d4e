"""Indentation with spaces that YAML reads as text: the error is at the first such line."""

from __future__ import annotations

import pytest

from trainc.kubernetes.documents import YamlError, parse


def error(text: str) -> YamlError:
    with pytest.raises(YamlError) as raised:
        parse(text)
    return raised.value


@pytest.mark.parametrize("space", ["\xa0", "\u2003", "\u3000"])
@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a:\n  b: 2\n_ c: 3\n  d: 4\n", 3, 1),
        ("a:\n__b: 2\n__c: 3\n  d: 4\n", 2, 1),
        ("a:\n  - b: 1\n_   c: 2\n    d: 3\n", 3, 1),
    ],
)
def test_the_line_with_the_space(text: str, line: int, column: int, space: str) -> None:
    found = error(text.replace("_", space))
    assert (found.line, found.column, found.help) == (line, column, "indent with spaces")
    assert f"U+{ord(space):04X}" in found.message


@pytest.mark.parametrize(
    "text",
    ["a: |\n \xa0text\nb: 2: 3\n", "a: x\xa0y\nb: 2: 3\n", "\xa0a: 1\nb: 2\nc: 2: 3\n"],
)
def test_another_error_stays(text: str) -> None:
    assert "is indented with" not in error(text).message
