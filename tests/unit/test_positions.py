"""Positions of fields in a manifest's text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from trainc.kubernetes.documents import parse, positions
from trainc.kubernetes.documents.events import Event, events
from trainc.kubernetes.documents.jsonobjects import JsonNode
from trainc.kubernetes.documents.positions import locate, span, tree

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
    # Aliases and merges lead to the position of the value.
    ("a: &x\n  b: 1\nc: *x", ("c", "b"), False, (2, 6)),
    ("a: &x\n  b: 1\nc: *x", ("c",), True, (3, 1)),
    ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", ("c", "b"), False, (1, 11)),
    ("a: &x {b: 1}\nc:\n  <<: *x\n  b: 2", ("c", "b"), False, (4, 6)),
    ("a: {<<: [{b: 1}, {c: 2}]}", ("a", "c"), True, (1, 19)),
    ("a: &x {b: 1}\nc: &y {<<: *x}\nd: {<<: *y}", ("d", "b"), True, (1, 8)),
    ("a: &x k\n*x : 1", ("k",), False, (2, 6)),
    ("a: {<<: &x {<<: *x}}", ("a", "b"), False, (1, 4)),
    # Of duplicate keys, the first.
    ("a: 1\na: 2", ("a",), False, (1, 4)),
    # JSON.
    ('{\n  "a": {"b": [1,\n 2]}}', ("a", "b", 1), False, (3, 2)),
    (r'{"x": "\ud83d\ude00", "a": 1}', ("a",), False, (1, 28)),
    (' {"b":\n2}', ("b",), False, (2, 1)),
    (r'{"x": "\/", "a": 1}', ("a",), False, (1, 18)),
    # The text of a List item is that of the whole List.
    ("kind: List\nitems:\n- kind: A\n- {kind: B}", ("items", 1, "kind"), False, (4, 10)),
    # A document may start on its separator line, and with a comment.
    ("--- {a: b}", ("a",), False, (1, 9)),
    ("--- # why\na: b", ("a",), False, (2, 4)),
    ("%YAML 1.1\n---\na: b", ("a",), False, (3, 4)),
    # Keys that are quoted, written in another form, or explicit.
    ("'a b': 1\n\"c\\td\": 2\n? e\n: 3", ("c\td",), True, (2, 1)),
    ("'a b': 1\n\"c\\td\": 2\n? e\n: 3", ("e",), False, (4, 3)),
    ("'<<': {b: 1}", ("<<", "b"), False, (1, 11)),
    ("a: !!str 1\nb: &x !!map {c: 1}", ("b", "c"), False, (2, 17)),
    # Byte order marks occupy no column; columns count characters, not bytes.
    ("\ufeffa: 1", ("a",), False, (1, 4)),
    ("é: 😀😀\nb: [é, x]", ("b", 1), False, (2, 8)),
    ("\ufeff\na: 1", ("a",), True, (2, 1)),
    ("a: 1\r\nb: 2", ("b",), False, (2, 4)),
    ("a:\r\n- |\r\n  b\r\n- c\r\n", ("a", 1), False, (4, 3)),
    (r"""a: {b: "it\'s", c: 1}""", ("a", "c"), False, (1, 20)),
    # The readable part of a broken text.
    ("a:\n  b: 1\n  c: [", ("a", "b"), False, (2, 6)),
    ("a:\n  b: 1\n  c: ]", ("a", "c"), False, (2, 3)),
    ("", ("a",), False, (1, 1)),
    ("\x00", ("a",), False, (1, 1)),
    ("\ud800", ("a",), False, (1, 1)),
    ("? [a]\n: b\nc: d", ("c",), False, (3, 4)),
    ("[" * 512, (0, 0, 0), False, (1, 4)),
]


SPANS: list[tuple[str, tuple[str | int, ...], bool, tuple[int, int, int, int]]] = [
    ("a: bc # d", ("a",), False, (1, 4, 1, 6)),
    ("a: 'b c'\n", ("a",), False, (1, 4, 1, 9)),
    ("ab : c", ("ab",), True, (1, 1, 1, 3)),
    ("a: &x !!str b", ("a",), False, (1, 4, 1, 14)),
    ("a:\nb: 1", ("a",), False, (1, 3, 1, 3)),
    # A multi-line text, without the blank lines after it.
    ("a: b\n  c\n\nd: 1", ("a",), False, (1, 4, 2, 4)),
    ("a: |\n  b\n  c\n\nd: 1", ("a",), False, (1, 4, 3, 4)),
    ("a: |\r\n  b\r\nd: 1", ("a",), False, (1, 4, 2, 4)),
    # Brackets are included; a block below its key is shown as the key, an item as a whole.
    ("a: {b: [c,\n d]} # e", ("a",), False, (1, 4, 2, 5)),
    ("a:\n  b: 1\n  c: 2", ("a",), False, (1, 1, 1, 2)),
    ("a:\n- b\n", ("a",), False, (1, 1, 1, 2)),
    ("a:\n- b: 1\n  c: 2 # d\n\n- e", ("a", 0), False, (2, 3, 3, 7)),
    ("a:\n  b: 1\n  c: 2\n", (), False, (1, 1, 3, 7)),
    ("a:\n  {b: 1}", ("a",), False, (2, 3, 2, 9)),
    ("a: &x\n  b: 1\nc: *x", ("c",), False, (1, 4, 2, 7)),
    # A missing field is at its parent.
    ("a:\n  b: 1", ("a", "c"), True, (1, 1, 1, 2)),
    ("a: {b: 1}", ("a", "c"), True, (1, 4, 1, 10)),
    ("a: 1\n", ("b",), False, (1, 1, 1, 5)),
    ("", ("b",), False, (1, 1, 1, 1)),
    ("\ufeff{a: 1}", ("a",), True, (1, 2, 1, 3)),
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


def test_a_deep_text() -> None:
    # libyaml of PyYAML 6.0.4 rejects texts that are nested more than 1,000 times, before it returns their start.
    assert locate("[" * 2**16, (0, 0, 0)) in {(1, 4), (1, 1)}


@pytest.mark.parametrize(("text", "path", "key", "place"), SPANS)
def test_span(text: str, path: tuple[str | int, ...], key: bool, place: tuple[int, int, int, int]) -> None:
    assert span(text, path, key=key) == place


LARGE: list[str] = [
    '{"a": {"b c": [1, "d", [], {}], "e\\"\\u00e9": null, "": -1.5e3}, "f": [[true], {"g": false}]}',
    ' \n{\n  "a" : [\n 1 , 2\n] ,"b":{"c":\n{"d":"e"}}}\r\n',
    '{"a": 1, "b": {"c": 2}, "a": {"d": 3}, "b": 4}',
]


@pytest.mark.parametrize("small", LARGE)
def test_the_fast_reader_of_large_json_finds_the_same_positions(small: str) -> None:
    large = small + " " * 2**16
    assert isinstance(tree(large).root, JsonNode)
    assert not isinstance(tree(small).root, JsonNode)
    paths = [path for path in _places(json.loads(small), ()) for path in (path, (*path, "missing"), (*path, 7))]
    for path in sorted(
        paths, key=lambda path: -len(path)
    ):  # inner ones first, so that they are read before their parents
        for key in (False, True):
            assert span(large, path, key=key) == span(small, path, key=key), path
            assert locate(large, path, key=key) == locate(small, path, key=key), path


@pytest.mark.parametrize("text", ['{"a": [1, 2}', '{"a": 1} {"b": 2}', '{"a": tru}', "{a: 1}", '{"a":' * 10**5])
def test_text_that_is_not_json_is_read_as_yaml(text: str) -> None:
    large = text + " " * 2**16
    assert not isinstance(tree(large).root, JsonNode)
    assert span(large, ("a",), key=True) == span(text, ("a",), key=True)


def test_the_text_after_a_value_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = 0

    def counted(text: str) -> Callable[[], Event | None]:
        following = events(text)

        def event() -> Event | None:
            nonlocal parsed
            parsed += 1
            return following()

        return event

    monkeypatch.setattr(positions, "events", counted)
    text = "first: 1\nsecond: {a: 2}\n" + "".join(f"field{index}: {index}\n" for index in range(1000))
    assert (locate(text, ("second", "a")), locate(text, ("first",))) == ((2, 13), (1, 8))
    assert parsed < 15
    assert (locate(text, ("field999",)), locate(text, ("third",))) == ((1002, 11), (1, 1))
    assert 2000 < parsed < 2020


@pytest.mark.parametrize(
    ("text", "path", "place"),
    [
        ("a: &x\n  b: {<<: *x}\n  c: 1", ("a", "b", "c"), (3, 6)),
        ("a: &x\n  b: {<<: [*x]}\n  c: 1", ("a", "b", "c"), (3, 6)),
        ("a: {<<: {c: 1}}\nb: 2", ("a", "c"), (1, 13)),
        ("a: {<<: {c: 1}, c: 2}", ("a", "c"), (1, 20)),
        ('a: "\\\'"\nb: "\\\'"\nc: 1', ("c",), (3, 4)),
    ],
)
def test_a_value_that_needs_the_text_after_it(text: str, path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    locate(text, ("a",))
    assert locate(text, path) == place


def test_every_field_of_a_manifest_is_found() -> None:
    fields = list(_scalars(parse(MANIFEST), ()))
    assert len({locate(MANIFEST, path) for path in fields}) == len(fields)


def _places(value: Any, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in children for place in _places(child, (*path, key)))]


def _scalars(value: Any, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [field for key, child in children for field in _scalars(child, (*path, key))]
    return found or [path]
