"""KEP-2170: the first merged TrainJob, with apiVersion kubeflow.org/v2alpha1.

Reads    trainingRuntimeRef, datasetConfig, modelConfig, podSpecOverrides[].targetReplicatedJobs, spec.labels and
         spec.annotations.
Returns  the moves to runtimeRef, initializer and runtimePatches. No Trainer release has an exporter, so
         modelConfig.output is dropped (`checks.dialect` reports it).
Source   kubeflow/trainer pull request 2223.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends import GROUP, OLD_GROUP, VERSION
from trainc.frontends.moves import Move, patches, processes
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree

SCHEMA: Final = "kep-2170"
NAME: Final = "KEP-2170"
GONE: Final = ("trainingRuntimeRef", "datasetConfig", "modelConfig", "podSpecOverrides", "labels", "annotations")
FIELDS: Final = ("serviceAccountName", "nodeSelector", "tolerations", "volumes", "initContainers", "containers")
"""The fields of a pod spec that an override can set."""
OLD_MANAGER: Final = f"{OLD_GROUP}/trainjob-controller"


def moves(job: Tree) -> Iterator[Move]:
    """Yield every field with its later name."""
    spec = job["spec"]
    yield Move(("apiVersion",), ("apiVersion",), VERSION)
    if "trainingRuntimeRef" in spec:
        old: Path = ("spec", "trainingRuntimeRef")
        yield Move(old, ("spec", "runtimeRef"))
        if get(spec, ("trainingRuntimeRef", "apiGroup")) == OLD_GROUP:
            yield Move((*old, "apiGroup"), ("spec", "runtimeRef", "apiGroup"), GROUP)
    yield from _initializer(spec, ("datasetConfig",), "dataset")
    yield from _initializer(spec, ("modelConfig", "input"), "model")
    destinations: dict[str, Path] = {key: ("spec", key) for key in FIELDS}
    yield from patches(spec, "podSpecOverrides", targets=_targets, destinations=destinations)
    yield from processes(spec)
    if spec.get("managedBy") == OLD_MANAGER:
        yield Move(("spec", "managedBy"), ("spec", "managedBy"), f"{GROUP}/trainjob-controller")


def _initializer(spec: Tree, source: Path, part: str) -> Iterator[Move]:
    """Yield the moves of a config to a part of `initializer`. Its Secret must be in the TrainJob's namespace."""
    config = get(spec, source)
    for key in config if isinstance(config, dict) else ():
        if key == "secretRef":
            yield Move(("spec", *source, key, "name"), ("spec", "initializer", part, key, "name"))
        else:
            yield Move(("spec", *source, key), ("spec", "initializer", part, key))
    if config == {}:
        yield Move(("spec", *source), ("spec", "initializer", part))


def _targets(at: Path, override: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the job names of `targetReplicatedJobs: [...]`, each with its path."""
    names = override.get("targetReplicatedJobs")
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str):
            yield (*at, "targetReplicatedJobs", index), name
