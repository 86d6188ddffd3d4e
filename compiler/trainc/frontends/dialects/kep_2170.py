"""KEP-2170: the first merged TrainJob, with apiVersion kubeflow.org/v2alpha1.

Reads    trainingRuntimeRef, datasetConfig, modelConfig, podSpecOverrides[].targetReplicatedJobs, spec.labels and
         spec.annotations.
Returns  the moves to runtimeRef, initializer and runtimePatches. No Trainer release has an exporter, so
         modelConfig.output is dropped (`checks.dialect` reports it).
Source   kubeflow/trainer pull request 2223.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends.moves import initializer, patches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.moves import Move
    from trainc.kubernetes.trees import Path, Tree

FIELDS: Final = ("serviceAccountName", "nodeSelector", "tolerations", "volumes", "initContainers", "containers")
"""The fields of a pod spec that an override can set."""


def moves(job: Tree) -> Iterator[Move]:
    """Yield the moves of the data, overrides and metadata."""
    spec = job["spec"]
    yield from initializer(spec, ("datasetConfig",), "dataset")
    yield from initializer(spec, ("modelConfig", "input"), "model")
    destinations: dict[Path, Path] = {(key,): ("spec", key) for key in FIELDS}
    yield from patches(spec, "podSpecOverrides", targets=_targets, destinations=destinations)


def _targets(at: Path, override: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the job names of `targetReplicatedJobs: [...]`, each with its path."""
    names = override.get("targetReplicatedJobs")
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str):
            yield (*at, "targetReplicatedJobs", index), name
