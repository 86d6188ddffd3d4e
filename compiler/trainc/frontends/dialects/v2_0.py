"""Trainer v2.0: podSpecOverrides, spec.labels and spec.annotations.

Reads    podSpecOverrides[]: targetJobs, and the fields of a pod spec.
Returns  the moves to runtimePatches. v2.0 merges each override into the pod spec of every target job, in list order, as
         releases with patches do.
Source   kubeflow/trainer v2.0, the runtime's merge of overrides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends.moves import patches, targets_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.moves import Move
    from trainc.kubernetes.trees import Path, Tree

FIELDS: Final = (
    "serviceAccountName",
    "nodeSelector",
    "tolerations",
    "schedulingGates",
    "volumes",
    "initContainers",
    "containers",
)
"""The fields of a pod spec that an override can set."""


def moves(job: Tree) -> Iterator[Move]:
    """Yield the moves of overrides and metadata to patches."""
    spec = job["spec"]
    destinations: dict[Path, Path] = {(key,): ("spec", key) for key in FIELDS}
    yield from patches(spec, "podSpecOverrides", targets=targets_by_name, destinations=destinations)
