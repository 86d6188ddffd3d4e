"""Flags as Go's package `flag` reads them: values, and where the list of arguments ends."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.kubernetes.gostrings import number, parse

TYPES: Any = {"port": "int", "ps": "string", "on": "bool"}
LARGEST = 2**63 - 1


@pytest.mark.parametrize(
    ("arguments", "values", "read"),
    [
        ([], {}, 0),
        (["--port=5", "-ps=a"], {"port": 5, "ps": "a"}, 2),
        (["-port", "5", "--ps", "a"], {"port": 5, "ps": "a"}, 4),
        (["--ps=a", "--ps=b"], {"ps": "b"}, 2),
        (["--ps="], {"ps": ""}, 1),
        (["--ps=a=b"], {"ps": "a=b"}, 1),
        (["--ps", "--port=1"], {"ps": "--port=1"}, 2),
        (["--on", "--ps=a"], {"on": True, "ps": "a"}, 2),
        (["--on=F", "--ps=a"], {"on": False, "ps": "a"}, 2),
        (["--on", "false", "--ps=a"], {"on": True}, 1),
        (["--on=yes", "--ps=a"], {"on": False}, 1),
        (["--port=abc", "--ps=a"], {"port": 0}, 1),
        (["--port=", "--ps=a"], {"port": 0}, 1),
        (["--ps=a", "word", "--port=1"], {"ps": "a"}, 1),
        (["", "--port=1"], {}, 0),
        (["-", "--port=1"], {}, 0),
        (["--", "--port=1"], {}, 0),
        (["--other=1", "--port=1"], {}, 0),
        (["-h"], {}, 0),
        (["---ps=a"], {}, 0),
        (["--=a"], {}, 0),
        (["--ps=a", "--port"], {"ps": "a"}, 1),
    ],
)
def test_a_list_of_arguments(arguments: list[str], values: dict[str, Any], read: int) -> None:
    assert parse(arguments, TYPES) == (values, read)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", (0, True)),
        ("-5", (-5, True)),
        ("+7", (7, True)),
        ("0x8ae", (2222, True)),
        ("0B101", (5, True)),
        ("0o17", (15, True)),
        ("017", (15, True)),
        ("0_7", (7, True)),
        ("1_000", (1000, True)),
        ("1__0", (0, False)),
        ("_1", (0, False)),
        ("08", (0, False)),
        (" 5", (0, False)),
        ("5\n", (0, False)),
        ("5.0", (0, False)),
        ("٥", (0, False)),
        (str(LARGEST), (LARGEST, True)),
        (str(LARGEST + 1), (LARGEST, False)),
        (str(-LARGEST - 1), (-LARGEST - 1, True)),
        ("-" + "9" * 5000, (-LARGEST - 1, False)),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_number(text: str, value: tuple[int, bool]) -> None:
    assert number(text) == value
