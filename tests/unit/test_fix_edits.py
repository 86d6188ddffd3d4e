"""The edits of a text that apply a fix, in all styles of YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainc.base.fixes import Addition, Change, Fix, Relocation, Removal, Renaming, Replacement
from trainc.diagnostics import Document
from trainc.kubernetes.documents import parse
from trainc.rewriting.fixing import FileChanges, NotVerifiedError, changed_bytes
from trainc.source.fix_edits import text_changes

pytestmark = pytest.mark.usefixtures("empty_folder")


def apply_fix(text: str, *changes: Change) -> str | None:
    """Return the text after a fix; None if it cannot be applied."""
    Path("a.yaml").write_text(text)
    document = Document("a.yaml", 1, text, parse(text))
    found = text_changes(Fix(changes, ""), document)
    try:
        return changed_bytes(FileChanges(text.encode(), found)).decode() if found else None
    except NotVerifiedError:
        return None


ONE, TWO = Removal(("a",)), Removal(("b", 1))


@pytest.mark.parametrize(
    ("text", "change", "expected"),
    [
        pytest.param("a: 1\nb: 2\n", ONE, "b: 2\n", id="remove the first field"),
        pytest.param("b: 2\na: 1\n", ONE, "b: 2\n", id="remove the last field"),
        pytest.param("b: 2\na:\n  c: 1\n  d: 2\n", ONE, "b: 2\n", id="remove a mapping"),
        pytest.param("- a: 1\n  b: 2\n", Removal((0, "a")), "- b: 2\n", id="remove the first field of an item"),
        pytest.param("{a: 1, b: 2}\n", ONE, "{b: 2}\n", id="remove from a flow mapping"),
        pytest.param("{b: 2, a: 1}\n", ONE, "{b: 2}\n", id="remove the last one from a flow mapping"),
        pytest.param("x: {a: 1}\n", Removal(("x", "a")), "x: {}\n", id="remove the only one from a flow mapping"),
        pytest.param("x:\n  a: 1\ny: 2\n", Removal(("x", "a")), "x: {}\ny: 2\n", id="remove the only one"),
        pytest.param("b:\n- x\n- y\n- z\n", TWO, "b:\n- x\n- z\n", id="remove an item"),
        pytest.param("b:\n- x\n- y\n", TWO, "b:\n- x\n", id="remove the last item"),
        pytest.param("b: [x, y, z]\n", TWO, "b: [x, z]\n", id="remove an item of a flow list"),
        pytest.param("b:\n- x\n", Removal(("b", 0)), "b: []\n", id="remove the only item"),
        pytest.param("a: 1  # why\nb: 2\n", ONE, None, id="a comment of a removed field"),
        pytest.param("a: 1\n", Addition(("b",), {"c": "0.1"}), 'a: 1\nb: {c: "0.1"}\n', id="add a field"),
        pytest.param("c: 3\na: 1", Addition(("b",), 2), "c: 3\na: 1\nb: 2", id="add a field without a final newline"),
        pytest.param(
            "x:\n  a:\n  - 1\ny: 2\n", Addition(("x", "b"), 2), "x:\n  a:\n  - 1\n  b: 2\ny: 2\n", id="nested"
        ),
        pytest.param("x: {a: 1}\n", Addition(("x", "b"), 2), "x: {a: 1, b: 2}\n", id="add to a flow mapping"),
        pytest.param('{"a": 1}\n', Addition(("b",), "c"), '{"a": 1, "b": "c"}\n', id="add to JSON"),
        pytest.param("a: 1\n", Addition(("a",), 2), None, id="add a field that is set"),
        pytest.param("a: {}\n", Addition(("a", "b"), 2), None, id="add to an empty mapping"),
        pytest.param("a: 1\nb: 2\n", Renaming(("a",), "c"), "c: 1\nb: 2\n", id="rename"),
        pytest.param("'a': 1\n", Renaming(("a",), "it's"), "'it''s': 1\n", id="rename in quotes"),
        pytest.param("a: 1\nb: 2\n", Renaming(("a",), "b"), None, id="rename to a field that is set"),
        pytest.param("&k a: 1\n", Renaming(("a",), "b"), None, id="rename with an anchor"),
        pytest.param("a: 1 # one\n", Replacement(("a",), "1"), 'a: "1" # one\n', id="replace a number"),
        pytest.param("a: x\n", Replacement(("a",), True), "a: true\n", id="replace a string"),
        pytest.param("a: [x]\n", Replacement(("a",), "y, z"), 'a: "y, z"\n', id="replace a list"),
        pytest.param("{a: x}\n", Replacement(("a",), "y, z"), '{a: "y, z"}\n', id="replace in flow style"),
        pytest.param("a: |\n  x\n", Replacement(("a",), "y"), None, id="replace a block scalar"),
        pytest.param("a: !!str 1\n", Replacement(("a",), 1), None, id="replace a value with a tag"),
        pytest.param(
            "a:\n  b: 1  # why\n", Replacement(("a",), [{"name": "b"}]), None, id="replace a mapping with a comment"
        ),
        pytest.param(
            "a:\n  b: 1\nc: 2\n",
            Replacement(("a",), [{"name": "b"}]),
            "a:\n  - name: b\nc: 2\n",
            id="replace a mapping",
        ),
        pytest.param(
            "x: 1\nt: {b: 2}\n", Relocation(("x",), ("t", "x"), 1), "t: {b: 2, x: 1}\n", id="move to another mapping"
        ),
        pytest.param(
            "a: # why\n- 1\nb: 2\n",
            Relocation(("a",), ("c", "a"), [1]),
            "c:\n  a: # why\n  - 1\nb: 2\n",
            id="move with a comment",
        ),
        pytest.param("a: 1\nc: 2\n", Relocation(("a",), ("c", "a"), 1), None, id="move into a scalar"),
    ],
)
def test_a_text_after_a_fix(text: str, change: Change, expected: str | None) -> None:
    assert apply_fix(text, change) == expected
    crlf = apply_fix(text.replace("\n", "\r\n"), change)
    assert crlf == (None if expected is None else expected.replace("\n", "\r\n"))


def test_an_alias_has_no_edit() -> None:
    assert apply_fix("a: &x {b: 1}\nc: *x\n", Renaming(("c", "b"), "d")) is None
    assert apply_fix("a: &x {b: 1}\nc: *x\n", Renaming(("a", "b"), "d")) is None
    assert apply_fix("a: &x {b: 1}\nc: {<<: *x}\n", Renaming(("c", "b"), "d")) is None
