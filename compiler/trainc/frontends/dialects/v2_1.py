"""Trainer v2.1: podTemplateOverrides, spec.labels and spec.annotations.

Reads    podTemplateOverrides[].{targetJobs, metadata, spec}; of the metadata only labels and annotations.
Returns  the moves to runtimePatches. v2.1 merges each override into the whole pod template of every target job, in list
         order, as releases with patches do.
Source   kubeflow/trainer v2.1, the runtime's merge of overrides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends.moves import patches, targets_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.moves import Move
    from trainc.kubernetes.trees import Path, Tree

DESTINATIONS: Final[dict[Path, Path]] = {
    path: path for path in (("metadata", "labels"), ("metadata", "annotations"), ("spec",))
}
"""The fields of an override, at the same place in a pod template."""


def moves(job: Tree) -> Iterator[Move]:
    """Yield the moves of overrides and metadata to patches."""
    spec = job["spec"]
    yield from patches(spec, "podTemplateOverrides", targets=targets_by_name, destinations=DESTINATIONS)
