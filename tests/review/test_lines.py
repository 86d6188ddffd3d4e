"""Lines: which lines are matched, and which part of a line differs."""

from __future__ import annotations

import time

import pytest

from trainc.review.formats.html_objects import LinePart, Stretch, parts, side_by_side


def shown_rows(old: str, new: str) -> list[str]:
    """Return each row as `old|new` with the differing parts in braces, and each stretch with its number of lines."""
    rows = []
    for row in side_by_side(old, new):
        if isinstance(row, Stretch):
            rows.append(f"{row.old} {row.new} +{len(row.lines)}")
        else:
            rows.append("|".join("".join(map(braced, side)) for side in (row.left, row.right)))
    return rows


def braced(part: LinePart) -> str:
    return f"{{{part.text}}}" if part.differs else part.text


def numbered(letter: str) -> str:
    return "\n".join(f"{number}: {letter}" for number in range(20_000))


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        pytest.param("a: 1\n", "a: 2\n", ["a: {1}|a: {2}"], id="a value"),
        pytest.param("image: r/t:2.8\n", "image: r/t:2.9\n", ["image: r/t:{2.8}|image: r/t:{2.9}"], id="a whole tag"),
        pytest.param("a\nb\n", "a\nx\nb\n", ["a|a", "|x", "b|b"], id="an added line"),
        pytest.param("a\nx\nb\n", "a\nb\n", ["a|a", "x|", "b|b"], id="a removed line"),
        pytest.param("", "a\n", ["|a"], id="from nothing"),
        pytest.param(
            "a: 1\nb: 1\n", "z: 1\na: 2\nb: 2\n", ["|z: 1", "a: {1}|a: {2}", "b: {1}|b: {2}"], id="by their keys"
        ),
        pytest.param("a: one\n", "b: two\n", ["a: one|b: two"], id="nothing in common"),
        pytest.param("a\n" * 9 + "b\n", "a\n" * 9 + "c\n", ["1 1 +6", "a|a", "a|a", "a|a", "b|c"], id="far before"),
        pytest.param("b\n" + "a\n" * 9, "c\n" + "a\n" * 9, ["b|c", "a|a", "a|a", "a|a", "5 5 +6"], id="far behind"),
        pytest.param("a\nb\nc\n", "a\nb\nd\n", ["a|a", "b|b", "c|d"], id="too few for a stretch"),
        pytest.param("a\na\n", "a\na\na\n", ["a|a", "a|a", "|a"], id="the same again"),
    ],
)
def test_lines_side_by_side(old: str, new: str, rows: list[str]) -> None:
    assert shown_rows(old, new) == rows


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("a" * 100_000, "b" * 100_000, id="long lines"),
        pytest.param(numbered("a"), numbered("b"), id="many"),
        pytest.param("a\n" * 20_000, "a\n" * 10_000 + "b\n" * 10_000, id="alike"),
    ],
)
def test_long_texts_take_less_than_two_seconds(before: str, after: str) -> None:
    began = time.process_time()
    rows = list(side_by_side(before, after))
    assert time.process_time() - began < 2
    old = [
        "\n".join(row.lines) if isinstance(row, Stretch) else "".join(part.text for part in row.left)
        for row in rows
        if row.old
    ]
    assert "\n".join(old) == before.removesuffix("\n")


@pytest.mark.parametrize("line", ["", "a", "- a: b", "a: 1.5"])
def test_equal_lines_have_no_differing_parts(line: str) -> None:
    assert not any(part.differs for side in parts(line, line) for part in side)
