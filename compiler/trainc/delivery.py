"""How the objects reach a cluster that may hold older ones, of which a JobSet is nearly immutable.

Reads    the options of the command line.
Returns  what of the objects depends on that: the names, an annotation for Argo CD, spec.suspend.
"""

from __future__ import annotations

from typing import Final

from trainc.records import NamedTuple


class Delivery(NamedTuple):
    """What the one who applies the objects needs of them."""

    name_suffix_hash: bool = False
    """Whether what cannot change in place stands, as a hash, in the names: a change makes new objects."""
    argocd_replace: bool = False
    """Whether Argo CD is told to delete and make anew what it cannot change."""
    suspend: bool = False
    """Whether every JobSet is made suspended, for somebody else to start."""


PLAIN: Final = Delivery()
"""The objects as the Trainer controller would have made them."""
