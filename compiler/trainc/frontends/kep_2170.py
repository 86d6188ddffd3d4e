"""KEP-2170: the TrainJob as it was first merged, of the group kubeflow.org/v2alpha1.

Reads    trainingRuntimeRef, datasetConfig, modelConfig, podSpecOverrides[].targetReplicatedJobs, spec.labels and
         spec.annotations.
Returns  the moves to runtimeRef, initializer and runtimePatches. No release of Trainer has an exporter, so
         modelConfig.output goes nowhere (`checks.dialect` says so).
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
"""What an override can say of a pod's spec."""
OLD_MANAGER: Final = f"{OLD_GROUP}/trainjob-controller"


def moves(job: Tree) -> Iterator[Move]:
    """Every field under its later name."""
    spec = job["spec"]
    yield Move(("apiVersion",), ("apiVersion",), VERSION)
    if "trainingRuntimeRef" in spec:
        old: Path = ("spec", "trainingRuntimeRef")
        yield Move(old, ("spec", "runtimeRef"))
        if get(spec, ("trainingRuntimeRef", "apiGroup")) == OLD_GROUP:
            yield Move((*old, "apiGroup"), ("spec", "runtimeRef", "apiGroup"), GROUP)
    yield from _initializer(spec, ("datasetConfig",), "dataset")
    yield from _initializer(spec, ("modelConfig", "input"), "model")
    homes = {key: ("spec", key) for key in FIELDS}
    yield from patches(spec, "podSpecOverrides", targets=_targets, homes=homes)
    yield from processes(spec)
    if spec.get("managedBy") == OLD_MANAGER:
        yield Move(("spec", "managedBy"), ("spec", "managedBy"), f"{GROUP}/trainjob-controller")


def _initializer(spec: Tree, source: Path, part: str) -> Iterator[Move]:
    """A config as a part of `initializer`; its Secret is one of the TrainJob's own namespace."""
    config = get(spec, source)
    for key in config if isinstance(config, dict) else ():
        if key == "secretRef":
            yield Move(("spec", *source, key, "name"), ("spec", "initializer", part, key, "name"))
        else:
            yield Move(("spec", *source, key), ("spec", "initializer", part, key))
    if config == {}:
        yield Move(("spec", *source), ("spec", "initializer", part))


def _targets(at: Path, override: Tree) -> Iterator[tuple[Path, str]]:
    """The jobs of `targetReplicatedJobs: [...]`."""
    names = override.get("targetReplicatedJobs")
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str):
            yield (*at, "targetReplicatedJobs", index), name
