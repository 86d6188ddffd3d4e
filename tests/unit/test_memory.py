"""Runs do not share cached values: a caller may change the objects of an earlier run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trainc
from trainc.kubernetes.trees import Memory, forget

JOBS = [str(path) for path in sorted((Path(__file__).parents[2] / "golden").glob("[a-t]*/input.yaml"))]


def spoil(tree: Any) -> None:
    """Change whatever is in a tree."""
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        if isinstance(value, dict | list):
            spoil(value)
            value.clear()
        else:
            tree[key] = "spoilt"


def test_objects_that_are_changed_do_not_come_again() -> None:
    for job in JOBS:
        text = trainc.render(trainc.compile([job]).objects)
        for tree in trainc.compile([job]).objects:
            spoil(tree)
        assert trainc.render(trainc.compile([job]).objects) == text


def test_a_memory_is_bounded_and_forgets() -> None:
    memory = Memory()
    for key in range(Memory.MOST + 1):
        assert memory.keep(key, key) == key
    assert len(memory) == 1
    forget()
    assert not memory
