"""The examples in docstrings print what they show."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "compiler"
WITH_EXAMPLES = [
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text()
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert tried
    assert failed == 0
