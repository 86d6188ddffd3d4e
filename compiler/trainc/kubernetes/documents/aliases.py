"""Anchors and aliases: what an anchor names, and Go's rule against aliases that blow a small text up.

Reads counts of nodes as Go's decoder counts them: a collection, a scalar, an alias is one, and what an alias stands for
counts as if it were written out.
Source: go.yaml.in/yaml/v2 (decode.go).
"""

from __future__ import annotations

from typing import Any, Final


class Anchor:
    """What an anchor names: a value, how many nodes it is, how deep it is nested. Open while it is being read."""

    __slots__ = ("height", "nodes", "open", "value")

    def __init__(self, value: Any, *, open: bool) -> None:
        self.value = value
        self.open = open
        self.nodes = 1
        self.height = 0


_FEW: Final = 400_000
_SHARE_OF_FEW: Final = 0.99
_MANY: Final = 4_000_000


def is_bomb(aliased: int, first: int, last: int) -> bool:
    """Whether too many nodes have come through aliases at any count of nodes from first to last.

    aliased   how many came through aliases before first; those from first to last did not

    At the ends of the stretch and where the allowed share stops falling, the share is closest to what is allowed.
    """
    if aliased <= 100 or last <= 1000:
        return False
    first = min(max(first, 1001), last)
    if last <= _FEW:
        return aliased / first > _SHARE_OF_FEW
    return any(aliased / nodes > _allowed_share(nodes) for nodes in (first, min(max(first, _MANY), last), last))


def _allowed_share(nodes: int) -> float:
    """99 %, of large documents less, and 10 % in the end."""
    if nodes <= _FEW:
        return _SHARE_OF_FEW
    if nodes >= _MANY:
        return 0.10
    return _SHARE_OF_FEW - 0.89 * ((nodes - _FEW) / (_MANY - _FEW))
