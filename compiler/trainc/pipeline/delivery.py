"""Options for the delivery of objects to a cluster that may have older versions of them; JobSets are mostly immutable.

Reads    the command line options.
Returns  the settings that depend on them: the object names, an annotation for Argo CD, spec.suspend.
"""

from __future__ import annotations

from typing import Final

from trainc.base.records import NamedTuple

QUEUE: Final = "kueue.x-k8s.io/queue-name"
"""The label of a JobSet that names its Kueue LocalQueue."""


class Delivery(NamedTuple):
    """The delivery options."""

    name_suffix_hash: bool = False
    """Whether the names end in a hash of the immutable fields, so that a change creates new objects."""
    argocd_replace: bool = False
    """Whether Argo CD must delete and recreate objects that it cannot update."""
    suspend: bool = False
    """Whether every JobSet without a Kueue queue is created suspended."""

    def with_more(self, more: Delivery) -> Delivery:
        """Return the options that either has."""
        return Delivery(*(one or other for one, other in zip(self, more, strict=True)))


PLAIN: Final = Delivery()
"""The objects as the Trainer controller creates them."""
