"""Emitted random trees, read back unchanged by Kubernetes' own YAML reader.

The program named by ORACLE accepts `-primitive yaml`, then one `{"text": ...}` per line; it answers `{"output": ...}`.
TRAINC_EMITTED sets the number of trees.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from typing import Any

import pytest

from trainc.emit import yaml

ORACLE = os.environ.get("ORACLE")
TREES = int(os.environ.get("TRAINC_EMITTED", "2000"))

WORDS = (
    *(
        "yes",
        "No",
        "ON",
        "y",
        "N",
        "true",
        "FALSE",
        "null",
        "~",
        "=",
        "<<",
        "0",
        "-1",
        "017",
        "08",
        "0o17",
        "0x1f",
        "0b1",
    ),
    *(
        "1_000",
        "1,000",
        ".5",
        "1.",
        "1e3",
        "1e400",
        ".inf",
        ".NaN",
        "1:30",
        "2024-01-01",
        "2024-1-1 10:00:00",
        "---",
        "...",
    ),
    *(
        "-",
        "?",
        ":",
        "- a",
        "? a",
        ": a",
        "a: b",
        "a:",
        "a #b",
        "#a",
        "&a",
        "*a",
        "!a",
        "!!int 3",
        "|",
        ">",
        "%a",
        "@a",
    ),
    *("`a", "'", '"', "[a]", "{a}", ",", " a", "a ", "\\", "", "name", "node", "500m", "--epochs=3", "$(X)"),
)
PIECES = (
    *(
        "a",
        "b c",
        "é",
        "日本",
        "😀",
        " ",
        "  ",
        "    ",
        "\t",
        "\n",
        "\n",
        "\n\n",
        "\n  ",
        "\n\t",
        "\n---\n",
        "\n...\n",
        "#",
    ),
    *(
        " #",
        ": ",
        "- ",
        "? ",
        "|",
        ">",
        "%",
        "'",
        '"',
        "\\",
        "{",
        "]",
        "\r",
        "\r\n",
        "\0",
        "\x1b",
        "\x7f",
        "\x85",
        "\xa0",
    ),
    *("\xad", "\u2028", "\u2029", "\u200b", "\u200d", "\u202e", "\u3000", "\ufeff", "\ufffd", "\uffff", "\U000e0001"),
)
DIGITS = "0123456789+-._:eExXobaAfFT Z,"
NUMBERS = (None, True, False, 0, 1, -1, 2**63 - 1, -(2**63), 2**64 - 1, 0.5, -0.0, 1e21, 1e-7, 1e16, 5e-324, 1.7e308)


@pytest.mark.skipif(ORACLE is None, reason="ORACLE=PROGRAM")
@pytest.mark.parametrize("seed", range(4))
def test_kubernetes_reads_what_was_written(seed: int) -> None:
    rng = random.Random(seed)
    trees = [_mapping(rng, depth=0) for _ in range(TREES // 4)]
    texts = [yaml.render([tree]) for tree in trees]
    for tree, text, answer in zip(trees, texts, _read_by_kubernetes(texts), strict=True):
        assert "error" not in answer, (text, answer)
        assert _as_json(answer["output"]) == _as_json(tree), text


def _read_by_kubernetes(texts: list[str]) -> list[dict[str, Any]]:
    assert ORACLE is not None
    questions = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    done = subprocess.run([ORACLE, "-primitive", "yaml"], input=questions.encode(), capture_output=True, check=True)
    # Not splitlines: Go does not escape all line breaks that splitlines recognizes.
    return [json.loads(line) for line in done.stdout.decode().removesuffix("\n").split("\n")]


def _as_json(value: Any) -> Any:
    """Convert a value so that only values of the same types are equal; JSON has one number type."""
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return (type(value).__name__, value)
    return ("number", value if isinstance(value, int) and abs(value) < 2**53 else float(value))


def _mapping(rng: random.Random, depth: int) -> dict[str, Any]:
    return {_string(rng): _value(rng, depth + 1) for _ in range(rng.randint(0, 5))}


def _value(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if kind < 0.6 or depth > 5:
        return _string(rng)
    if kind < 0.7:
        return rng.choice(NUMBERS)
    if kind < 0.74:
        return rng.uniform(-1, 1) * 10 ** rng.randint(-30, 30)
    if kind < 0.87:
        return _mapping(rng, depth)
    return [_value(rng, depth + 1) for _ in range(rng.randint(0, 4))]


def _string(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(WORDS)
    if kind < 0.7:
        return "".join(rng.choices(PIECES, k=rng.randint(0, 8)))
    if kind < 0.85:
        return "".join(rng.choices(DIGITS, k=rng.randint(1, 6)))
    if kind < 0.86:
        return "k" * rng.randint(1020, 1030)
    return "".join(chr(rng.choice((rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)))) for _ in range(4))
