"""Where the fields of a manifest stand in its text."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.kubernetes.documents import parse
from trainc.kubernetes.documents.positions import locate

MANIFEST = """\
# A comment.
kind: TrainJob
metadata: {name: a, labels: {"x/y": z}}
spec:
  trainer:
    env:
    - name: A
      value: "1"
    -   {name: B, value: '2'}
    args: [a, [b, c]]
  0400: octal
  yes: true
  empty:
"""

VALUES: list[tuple[tuple[str | int, ...], tuple[int, int]]] = [
    ((), (2, 1)),
    (("kind",), (2, 7)),
    (("metadata",), (3, 11)),
    (("metadata", "name"), (3, 18)),
    (("metadata", "labels", "x/y"), (3, 37)),
    (("spec", "trainer"), (6, 5)),
    (("spec", "trainer", "env"), (7, 5)),
    (("spec", "trainer", "env", 0), (7, 7)),
    (("spec", "trainer", "env", 0, "value"), (8, 14)),
    (("spec", "trainer", "env", 1, "value"), (9, 26)),
    (("spec", "trainer", "args", 1, 1), (10, 19)),
    (("spec", "256"), (11, 9)),
    (("spec", "true"), (12, 8)),
    (("spec", "empty"), (13, 9)),
]

KEYS: list[tuple[tuple[str | int, ...], tuple[int, int]]] = [
    (("kind",), (2, 1)),
    (("metadata", "labels", "x/y"), (3, 30)),
    (("spec", "trainer", "env"), (6, 5)),
    (("spec", "trainer", "env", 0, "value"), (8, 7)),
    (("spec", "trainer", "env", 1), (9, 9)),
    (("spec", "256"), (11, 3)),
]

MISSING: list[tuple[tuple[str | int, ...], tuple[int, int]]] = [
    (("status",), (2, 1)),
    (("spec", "trainer", "image"), (6, 5)),
    (("spec", "trainer", "env", 2), (7, 5)),
    (("spec", "trainer", "env", -1), (7, 5)),
    (("spec", "trainer", "env", "0"), (7, 5)),
    (("kind", "x", 0), (2, 7)),
]

ELSEWHERE: list[tuple[str, tuple[str | int, ...], bool, tuple[int, int]]] = [
    # Aliases and merges lead to where the value is written.
    ("a: &x\n  b: 1\nc: *x", ("c", "b"), False, (2, 6)),
    ("a: &x\n  b: 1\nc: *x", ("c",), True, (3, 1)),
    ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", ("c", "b"), False, (1, 11)),
    ("a: &x {b: 1}\nc:\n  <<: *x\n  b: 2", ("c", "b"), False, (4, 6)),
    ("a: {<<: [{b: 1}, {c: 2}]}", ("a", "c"), True, (1, 19)),
    ("a: &x {b: 1}\nc: &y {<<: *x}\nd: {<<: *y}", ("d", "b"), True, (1, 8)),
    ("a: &x k\n*x : 1", ("k",), False, (2, 6)),
    ("a: {<<: &x {<<: *x}}", ("a", "b"), False, (1, 4)),
    # Of equal keys, the first.
    ("a: 1\na: 2", ("a",), False, (1, 4)),
    # JSON.
    ('{\n  "a": {"b": [1,\n 2]}}', ("a", "b", 1), False, (3, 2)),
    (r'{"x": "\ud83d\ude00", "a": 1}', ("a",), False, (1, 28)),
    (' {"b":\n2}', ("b",), False, (2, 1)),
    (r'{"x": "\/", "a": 1}', ("a",), False, (1, 18)),
    # Byte order marks take no column; characters count, not bytes.
    ("\ufeffa: 1", ("a",), False, (1, 4)),
    ("é: 😀😀\nb: [é, x]", ("b", 1), False, (2, 8)),
    ("a: 1\r\nb: 2", ("b",), False, (2, 4)),
    (r"""a: {b: "it\'s", c: 1}""", ("a", "c"), False, (1, 20)),
    # What can be read of a broken text.
    ("a:\n  b: 1\n  c: [", ("a", "b"), False, (2, 6)),
    ("a:\n  b: 1\n  c: ]", ("a", "c"), False, (2, 3)),
    ("", ("a",), False, (1, 1)),
    ("\x00", ("a",), False, (1, 1)),
    ("\ud800", ("a",), False, (1, 1)),
    ("? [a]\n: b\nc: d", ("c",), False, (3, 4)),
    ("[" * 2**16, (0, 0, 0), False, (1, 4)),
]


@pytest.mark.parametrize(("path", "place"), VALUES)
def test_value(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    assert locate(MANIFEST, path) == place


@pytest.mark.parametrize(("path", "place"), KEYS)
def test_key(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    assert locate(MANIFEST, path, key=True) == place


@pytest.mark.parametrize(("path", "place"), MISSING)
def test_missing_field_is_at_its_parent(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    assert locate(MANIFEST, path) == place
    assert locate(MANIFEST, path, key=True) == place


@pytest.mark.parametrize(("text", "path", "key", "place"), ELSEWHERE)
def test_elsewhere(text: str, path: tuple[str | int, ...], key: bool, place: tuple[int, int]) -> None:
    assert locate(text, path, key=key) == place


def test_every_field_of_a_manifest_is_found() -> None:
    fields = list(_scalars(parse(MANIFEST), ()))
    assert len({locate(MANIFEST, path) for path in fields}) == len(fields)


def _scalars(value: Any, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [field for key, child in children for field in _scalars(child, (*path, key))]
    return found or [path]
