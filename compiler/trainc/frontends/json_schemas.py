"""The JSON Schemas of all kinds that trainc reads, for editors; and the fields that kustomize does not know.

Reads    schemas/, and what trainc adds to the schemas of Trainer; the kinds of jobs and runtimes.
Returns  the schema of a kind in a release, or in a dialect of TrainJobs. For `configurations:` of a kustomization, the
         images of TrainJobs and of volumes, and the references from TrainJobs to runtimes. kustomize itself finds the
         containers of runtimes and legacy jobs, and the names of all objects.
Source   kustomize 5.7, api/konfig/builtinpluginconsts: the field specs of its transformers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_path
from trainc.base.kinds import CLUSTER_RUNTIME, COMPILED, EACH, JOBSET, KINDS, OF_TRAINC, RUNTIME, TRAINJOB
from trainc.frontends import extensions
from trainc.kubernetes.structural import bundled

if TYPE_CHECKING:
    from trainc.base.releases import TrainerRelease

OF_TRAINER: Final = "spec/trainer/image"
OF_VOLUME: Final = ("spec", "volumes", EACH, "image", "reference")


def schema_of(kind: str, release: TrainerRelease, folder: str = "") -> Any:
    """Return the schema of a kind. Raise FileNotFoundError if the folder of `schemas` has no such kind.

    Args:
        kind: one of `WITH_SCHEMA`.
        release: the release of Trainer.
        folder: the folder of another dialect; by default that of the release.
    """
    row = next((row for row in KINDS if row.schema and row.name == kind), None)
    if row is not None:
        return bundled(row.kind, row.schema)
    of_release = release.jobset if kind == JOBSET.kind else release.crds
    folder = OF_TRAINC.get(kind) or folder or of_release
    if folder == of_release and extensions.is_extended(folder, kind):
        return extensions.schema(kind, folder)
    with open(data_path("schemas", folder, f"{kind}.json"), encoding="utf-8") as file:
        return json.load(file)


def configurations() -> dict[str, Any]:
    """Return the content of a file for `configurations:` of a kustomization."""
    images = [{"path": OF_TRAINER, "kind": TRAINJOB.kind, "group": TRAINJOB.group}]
    for kind in COMPILED:
        images += [
            {"path": _kustomize_path((*template, *OF_VOLUME)), "kind": kind.kind, "group": kind.group}
            for template in kind.pods
        ]
    reference = {"path": "spec/runtimeRef/name", "kind": TRAINJOB.kind, "group": TRAINJOB.group}
    references = [
        {"kind": kind.kind, "group": kind.group, "fieldSpecs": [reference]} for kind in (CLUSTER_RUNTIME, RUNTIME)
    ]
    return {"images": images, "nameReference": references}


def _kustomize_path(steps: tuple[str, ...]) -> str:
    """Return a path in kustomize's notation, in which `[]` is each item of a list.

    >>> _kustomize_path(("spec", "jobs", "*", "image"))
    'spec/jobs[]/image'
    """
    return "/".join(steps).replace(f"/{EACH}", "[]")
