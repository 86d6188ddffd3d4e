"""The fast reader of plain block YAML: it returns the composer's value, or UNREAD.

The cases do not define the value of a text: the composer does, and its own tests compare it with recorded answers.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from trainc.kubernetes.documents import YamlError, blocks, split
from trainc.kubernetes.documents.composer import compose

ROOT = Path(__file__).parents[3]
TEXTS = [
    chunk.text
    for folder in ("golden", "runtimes")
    for file in sorted((ROOT / folder).rglob("*.yaml"))
    for chunk in split(file.read_bytes())[0]
    if len(chunk.text) < 8000
]
PIECES = (
    *" \n\t:#-?!&*'\"[]{}|>%@`\\,.~0_=<\x00\x85\xe9",
    *("- ", ": ", " #", "\n- ", "\n  ", "---", "...", "null", "on", "<<: ", "1e3", ".inf", "0x1F", "08", "1_0", "''"),
    *(
        "k: ",
        "-\n",
        ":\n",
        '"a',
        "::",
        "?: ",
        "[a, b]",
        "[a,b",
        "['a', \"b, c\"]",
        "[ 'a',",
        "', '",
        '"]',
        "{}",
        "[]",
        "[-]",
        "--",
        "- -",
        "\r\n",
        "y: 1\n",
    ),
)

MEANT = [
    "a: 1\nb:\n- c\n- d: {}\n  e: []\nf:\n",
    "# c\n\na:  x y  # why\nb: [1, -m, --x=y, on]\nc: 'it is: #1'\nd: \"\"\n",
    'a: ["python", \'-m\', c]\nb: [ \'x, y\', "[z]", -1 ]\nc: [""]\n',
    "- a\n- -1\n- 1e3\n- ~\n- http://b:80/c\n",
    "---\n  a:\n   - b: c\n     d:\n   -  e: f\n",
    "a:\n  b:\n  # none\nc: 0x1F",
]
LEFT = [
    *(
        "",
        "a",
        "a: b: c\n",
        "a: b\n  c\n",
        "a: 1\na: 2\n",
        "a:\n  b: 1\n c: 2\n",
        "a: |\n  b\n",
        "a: &b c\n",
        "a: !!str 1\n",
    ),
    *(
        "a: b\n---\n",
        "a: 'b\n  c'\n",
        'a: "\\x41"\n',
        "on: 1\n",
        "<<: {}\n",
        "a: .inf\n",
        "a: é\n",
        "a:\tb\n",
        "a: b\r\n",
    ),
    *(
        "- a\nb: c\n",
        "a:\n- b\n c: d\n",
        "a: {b: c}\n",
        "a: [b: c]\n",
        "a: [[b]]\n",
        "a: ['b' c]\n",
        "a: ['b''c']\n",
        'a: ["b": c]\n',
        "- - a\n",
        "-\n",
        "a: b?\n",
        "a: *b\n",
    ),
]


@pytest.mark.parametrize("text", MEANT)
def test_plain_text_is_read(text: str) -> None:
    assert repr(blocks.read(text)) == composed(text)


@pytest.mark.parametrize("text", LEFT)
def test_other_text_is_left_to_the_composer(text: str) -> None:
    assert blocks.read(text) is blocks.UNREAD


def test_long_keys_are_left_to_the_composer() -> None:
    assert blocks.read(f"{'k' * 300}: v\n") is blocks.UNREAD


def test_depth_is_left_to_the_composer() -> None:
    assert blocks.read("".join(f"{' ' * depth}a:\n" for depth in range(101))) is blocks.UNREAD


@pytest.mark.parametrize("seed", range(20))
def test_both_readers_agree_on_damaged_text(seed: int) -> None:
    dice = random.Random(seed)
    read = 0
    for _ in range(100):
        text = dice.choice(TEXTS)
        for _ in range(dice.randrange(4)):
            begin = dice.randrange(len(text) + 1)
            end = begin + dice.choice((0, 0, 1, 2, 8))
            text = text[:begin] + dice.choice(("", *PIECES)) + text[end:]
        found = blocks.read(text)
        if found is not blocks.UNREAD:
            read += 1
            assert repr(found) == composed(text), text
    assert read >= 5, "most damaged texts are left to the composer, but not nearly all"


def composed(text: str) -> str:
    """Return the composer's value; repr distinguishes 1, 1.0 and true, and the order of keys."""
    try:
        return repr(compose(text, deepest=100, sole=True))
    except YamlError as error:
        return str(error)
