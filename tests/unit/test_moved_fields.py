"""Moves of fields into another mapping: all in one step, with their comments, in their order and their style."""

from __future__ import annotations

import pytest
from unit.test_fix_edits import apply_fix

from trainc.base.fixes import Relocation
from trainc.kubernetes.documents import parse
from trainc.kubernetes.trees import get

pytestmark = pytest.mark.usefixtures("empty_folder")


def moves(text: str, paths: str) -> list[Relocation]:
    """Return the moves of `a.b>a.c.b a.d>a.c.d`."""
    pairs = [[tuple(path.split(".")) for path in pair.split(">")] for pair in paths.split()]
    return [Relocation(old, new, get(parse(text), old)) for old, new in pairs]


FLAT = """\
s:
  # above
  b: 'x'  # beside
  keep: 1

  d: |
    text
     more
  # not of e

  e:
  - {k: 1}
  # in e
  - k: 2
"""
INTO_NEW = """\
s:
  w:
    # above
    b: 'x'  # beside
    d: |
      text
       more
    e:
    - {k: 1}
    # in e
    - k: 2
  keep: 1

  # not of e

"""


@pytest.mark.parametrize(
    ("text", "paths", "expected"),
    [
        pytest.param(FLAT, "s.b>s.w.b s.d>s.w.d s.e>s.w.e", INTO_NEW, id="into a new field"),
        pytest.param(
            "s:\n    a: 1\n\n    b: 2\nt: 3\n",
            "s.a>s.w.m.a s.b>s.w.m.b",
            "s:\n    w:\n        m:\n            a: 1\n\n            b: 2\nt: 3\n",
            id="the file's indentation",
        ),
        pytest.param(
            "s:\n  w:\n    c: 3  # three\n    # last\n  # a\n  a: 1\n  b: [x, 'y']",
            "s.a>s.w.a s.b>s.w.b",
            "s:\n  w:\n    c: 3  # three\n    # a\n    a: 1\n    b: [x, 'y']\n    # last\n",
            id="into a field that is there",
        ),
        pytest.param(
            "s:\n  a:  # only b\n    # above\n    b: 1  # one\n  w:\n    c: 3\n",
            "s.a.b>s.w.b",
            "s:\n  a: {}  # only b\n  w:\n    c: 3\n    # above\n    b: 1  # one\n",
            id="the only field, with comments",
        ),
        pytest.param(
            "s:\n  w: {}  # none\n  a: 1\n",
            "s.a>s.w.a",
            "s:\n  w:  # none\n    a: 1\n",
            id="into an empty field",
        ),
        pytest.param(
            "s:\n  w: {c: 3}\n  a: 'x'\n  b: y\n",
            "s.a>s.w.a s.b>s.w.m.b",
            None,
            id="into several mappings",
        ),
        pytest.param(
            "s:\n  w: {c: 3}\n  a: 'x'\n  b: y, z\n",
            "s.a>s.w.a s.b>s.w.b",
            "s:\n  w: {c: 3, a: 'x', b: \"y, z\"}\n",
            id="into a field in flow style",
        ),
        pytest.param("s:\n  w: {c: 3}\n  a: 1  # one\n", "s.a>s.w.a", None, id="a comment into flow style"),
        pytest.param("s:\n  w: {c: 3}\n  a:\n  - 1\n", "s.a>s.w.a", None, id="a block into flow style"),
        pytest.param("s:\n  w: {a: 3}\n  a: 1\n", "s.a>s.w.a", None, id="a field that is set"),
        pytest.param("s:\n  w: &x {c: 3}\n  a: 1\nz: *x\n", "s.a>s.w.a", None, id="into an alias"),
        pytest.param("s:\n  a: &x 1\n  b: *x\n", "s.a>s.w.a s.b>s.w.b", None, id="an anchor"),
        pytest.param(
            "s: {a: 'x', keep: 1, b: [x]}\n",
            "s.a>s.w.a s.b>s.w.b",
            "s: {w: {a: 'x', b: [x]}, keep: 1}\n",
            id="in flow style",
        ),
        pytest.param(
            '{"s": {"k": 1, "a": 2, "b": 3}}\n',
            "s.a>s.w.m.a s.b>s.w.m.b",
            '{"s": {"k": 1, "w": {"m": {"a": 2, "b": 3}}}}\n',
            id="JSON",
        ),
        pytest.param(
            "s:\n  w:\n    a: 1  # one\n    b: 2\n  c: 3\n",
            "s.w.a>s.a",
            "s:\n  w:\n    b: 2\n  c: 3\n  a: 1  # one\n",
            id="to the parent",
        ),
        pytest.param("s:\n  w:\n    a: 1\n  c: 3\n", "s.w.a>s.a", "s:\n  w: {}\n  c: 3\n  a: 1\n", id="the only one"),
        pytest.param(
            "s:\n  w: {a: 1, b: 2}\n  c: 3\n", "s.w.a>s.a", "s:\n  w: {b: 2}\n  c: 3\n  a: 1\n", id="out of flow style"
        ),
        pytest.param("s:\n  a: 1  # one\n", "s.a>s.w.b", "s:\n  w:\n    b: 1  # one\n", id="with another name"),
    ],
)
def test_moves(text: str, paths: str, expected: str | None) -> None:
    assert apply_fix(text, *moves(text, paths)) == expected
    crlf = text.replace("\n", "\r\n")
    moved = apply_fix(crlf, *moves(crlf, paths))
    assert moved == (None if expected is None else expected.replace("\n", "\r\n"))
