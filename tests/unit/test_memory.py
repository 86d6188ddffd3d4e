"""Runs do not share cached values: a caller may change the objects of an earlier run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from batches import one_in_four
from manifests import GOLDEN_CASES

import trainc
from trainc.kubernetes.trees import Memory, forget

GOLDEN = Path(__file__).parents[2] / "golden"


def spoil(tree: Any) -> None:
    """Change whatever is in a tree."""
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        if isinstance(value, dict | list):
            spoil(value)
            value.clear()
        else:
            tree[key] = "spoilt"


@pytest.mark.parametrize("job", one_in_four(GOLDEN_CASES))
def test_objects_that_are_changed_do_not_come_again(job: str) -> None:
    path = str(GOLDEN / job / "input.yaml")
    text = trainc.render(trainc.compile([path]).objects)
    for tree in trainc.compile([path]).objects:
        spoil(tree)
    assert trainc.render(trainc.compile([path]).objects) == text


def test_a_memory_is_bounded_and_forgets() -> None:
    memory = Memory()
    for key in range(Memory.MOST + 1):
        assert memory.keep(key, key) == key
    assert len(memory) == 1
    forget()
    assert not memory
