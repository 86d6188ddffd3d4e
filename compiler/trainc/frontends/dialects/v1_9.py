"""Training Operator v1.9.0 to v1.9.2: the first release of TrainJob, in the group kubeflow.org/v2alpha1.

Reads    runtimeRef, datasetConfig, modelConfig, spec.labels and spec.annotations, numProcPerNode as a string.
Returns  the moves to initializer and runtimePatches. The release implements neither overrides nor exporters:
         podSpecOverrides and modelConfig.output move nowhere (`checks.dialect` reports both).
Source   kubeflow/training-operator v1.9.2, pkg/apis/kubeflow.org/v2alpha1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.frontends.moves import initializer, patches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.moves import Move
    from trainc.kubernetes.trees import Tree


def moves(job: Tree) -> Iterator[Move]:
    """Yield the moves of the data and the labels."""
    spec = job["spec"]
    yield from initializer(spec, ("datasetConfig",), "dataset")
    yield from initializer(spec, ("modelConfig", "input"), "model")
    yield from patches(spec, "", targets=lambda at, override: (), destinations={})
