"""`make fuzz`: inputs with one mistake, which `validate --fix` repairs or leaves byte for byte.

An input is a golden input, or, with TRAINC_CORPUS, a public TrainJob; as it is or with CRLF, as JSON, in flow style, or
as a List. A mistake is one letter of a key that is inserted, removed, replaced or swapped; quotes around a number, or
none around a string; or a misspelled unit. After `--fix`, the file is the mistaken one, or compiles to the objects of
the original. `make test` runs only a few examples.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from batches import drawn_apart, rounds
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from running import run

from trainc.kubernetes.documents import read_stream
from trainc.source.source_text import MappingNode, ScalarNode, SequenceNode, Text, TextNode

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("EXAMPLES") or len(rounds(100)))
CORPUS = os.environ.get("TRAINC_CORPUS", "")
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
UNIT = re.compile(r"[0-9]+(?:\.[0-9]+)?([kMGT]i?)")

Edit = tuple[int, int, str]
"""The first index, the end and the new text."""


@cache
def inputs() -> list[str]:
    """Return the texts of valid inputs."""
    golden = [
        path for path in sorted((ROOT / "golden").glob("*/input.yaml")) if not path.parent.name.startswith("wrong")
    ]
    texts = [path.read_text() for path in golden]
    if CORPUS:
        lines = (Path(CORPUS) / "TrainJob.jsonl").read_text().splitlines()
        texts += [json.loads(line)["text"] for line in lines]
    return [text for text in texts if "{{" not in text and not read_stream(text)[1]]


def documents(text: str) -> list[Any]:
    return [document.value for document in read_stream(text)[0]]


def flow(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000)


STYLES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "JSON": lambda text: "\n---\n".join(json.dumps(each, indent=2) for each in documents(text)) + "\n",
    "flow": lambda text: "---\n".join(map(flow, documents(text))),
    "list": lambda text: yaml.safe_dump(
        {"apiVersion": "v1", "kind": "List", "items": documents(text)}, sort_keys=False, width=10_000
    ),
}


def chunks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the documents' texts with their indices."""
    begin = 0
    for part in re.split(r"(?m)(^---[^\n]*\n)", text):
        if not part.startswith("---") and part.strip():
            yield begin, part
        begin += len(part)


def nodes(node: TextNode) -> Iterator[tuple[bool, ScalarNode]]:
    """Yield the scalars of a text, and whether each is a key."""
    if isinstance(node, ScalarNode):
        yield False, node
    for child in node.value if isinstance(node, SequenceNode) else ():
        yield from nodes(child)
    for key, child in node.value if isinstance(node, MappingNode) else ():
        yield from ((True, each) for _, each in nodes(key))
        yield from nodes(child)


def key_mistake(text: str, begin: int, end: int, chance: random.Random) -> Edit | None:
    """Return a mistake in one letter of a key."""
    word = text[begin:end].strip("\"'")
    at = begin + text[begin:end].index(word) if word else begin
    if len(word) < 2 or not word.isalnum():
        return None
    index = chance.randrange(len(word))
    letter = chance.choice(LETTERS)
    changed = {
        "insert": word[:index] + letter + word[index:],
        "remove": word[:index] + word[index + 1 :],
        "replace": word[:index] + letter + word[index + 1 :],
        "swap": word[:index] + word[index : index + 2][::-1] + word[index + 2 :],
    }[chance.choice(["insert", "remove", "replace", "swap"])]
    return at, at + len(word), changed


def value_mistake(text: str, begin: int, end: int, chance: random.Random) -> Edit | None:
    """Return quotes around a number, no quotes around a string, or a misspelled unit."""
    old = text[begin:end]
    if re.fullmatch(r"[0-9.]+", old):
        return begin, end, f'"{old}"'
    if re.fullmatch(r'"[\w.-]+"', old):
        return begin, end, old[1:-1]
    if UNIT.fullmatch(old.strip("\"'")):
        unit = UNIT.fullmatch(old.strip("\"'"))
        assert unit is not None
        wrong = chance.choice([unit[1].swapcase(), unit[1] + "B", unit[1] + "b", " " + unit[1], unit[1].lower()])
        return begin, end, old.replace(unit[1], wrong)
    return None


def mistakes(text: str, chance: random.Random) -> Edit | None:
    """Return one mistake in a text."""
    scalars = [
        (begin, is_key, node)
        for begin, part in chunks(text)
        for is_key, node in nodes(Text(part).root)
        if node.style not in ("|", ">")
    ]
    for _ in range(20):
        begin, is_key, node = chance.choice(scalars)
        first, last = begin + node.start_mark.index, begin + node.end_mark.index
        if edit := (key_mistake if is_key else value_mistake)(text, first, last, chance):
            return edit
    return None


@pytest.mark.examples
@drawn_apart
@pytest.mark.parametrize("style", STYLES)
@settings(
    max_examples=max(EXAMPLES // len(STYLES), 1),
    deadline=None,
    database=None,
    derandomize="EXAMPLES" not in os.environ,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(number=st.integers(0, 10**6), seed=st.integers(0, 2**32))
def test_a_mistake_is_repaired_or_left(
    style: str, number: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    given_texts = inputs()
    text = STYLES[style](given_texts[number % len(given_texts)])
    folder = tmp_path_factory.mktemp("job")
    path = folder / "input.yaml"
    path.write_bytes(text.encode())
    right = run("build", str(path), "--no-config")
    edit = mistakes(text, random.Random(seed))
    if right.code or edit is None:
        return
    begin, end, new = edit
    wrong = text[:begin] + new + text[end:]
    note(f"{text[begin:end]!r} -> {new!r} at {begin} of {path}")
    path.write_bytes(wrong.encode())
    run("validate", str(path), "--no-config", "--fix")
    if path.read_bytes() != wrong.encode():
        assert run("build", str(path), "--no-config").out == right.out, path.read_text()
