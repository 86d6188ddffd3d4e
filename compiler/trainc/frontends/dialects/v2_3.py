"""Trainer v2.2 and v2.3: the form that trainc uses internally."""

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
    """Yield nothing: every field is in its place."""
    yield from ()
