"""Suggestions for misspelled names."""

from __future__ import annotations

import pytest

from trainc.base.suggestions import nearest_name


@pytest.mark.parametrize(
    ("name", "names", "meant"),
    [
        pytest.param("numnodes", ["numNode", "numNodes"], "numNodes", id="another case"),
        pytest.param("plane", ["plain", "torch"], "plain", id="mistyped"),
        pytest.param("x", ["plain"], None, id="like none"),
        pytest.param("x", [], None, id="no names"),
        pytest.param("n" * 257, ["m" * 257], None, id="too long to be mistyped"),
    ],
)
def test_nearest(name: str, names: list[str], meant: str | None) -> None:
    assert nearest_name(name, names) == meant
