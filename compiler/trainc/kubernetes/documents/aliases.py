"""Anchors and aliases: the values of anchors, and Go's rule against alias bombs, which expand to many nodes.

Reads node counts as Go's decoder counts them: a collection, a scalar and an alias count as one each, and so do the
nodes that an alias refers to.
Source: go.yaml.in/yaml/v2 (decode.go).
"""

from __future__ import annotations

from typing import Any, Final


class Anchor:
    """The value of an anchor, its node count and its nesting depth. Open while it is being read."""

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
    """Whether the share of aliased nodes is too large at any node count from first to last.

    aliased   the nodes from aliases before first; those from first to last are not aliased

    The share is closest to its limit at both ends of the range and where the limit stops decreasing.
    """
    if aliased <= 100 or last <= 1000:
        return False
    first = min(max(first, 1001), last)
    if last <= _FEW:
        return aliased / first > _SHARE_OF_FEW
    return any(aliased / nodes > _allowed_share(nodes) for nodes in (first, min(max(first, _MANY), last), last))


def _allowed_share(nodes: int) -> float:
    """Return the allowed share: 99 %, which decreases to 10 % for large documents."""
    if nodes <= _FEW:
        return _SHARE_OF_FEW
    if nodes >= _MANY:
        return 0.10
    return _SHARE_OF_FEW - 0.89 * ((nodes - _FEW) / (_MANY - _FEW))
