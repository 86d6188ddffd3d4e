"""Trainer v2.2 and v2.3: the form in which trainc works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.moves import Move
    from trainc.kubernetes.trees import Tree

SCHEMA: Final = "trainer-2.3"
NAME: Final = "Trainer v2.3"
GONE: Final[tuple[str, ...]] = ()


def moves(job: Tree) -> Iterator[Move]:
    """Nothing stands elsewhere."""
    yield from ()
