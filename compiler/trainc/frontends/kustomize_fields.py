"""The fields that kustomize's transformers do not know: a file for `configurations:` of a kustomization.

Reads    the kinds of jobs and runtimes.
Returns  the images of TrainJobs and of volumes, and the references from TrainJobs to runtimes. kustomize itself finds
         the containers of runtimes and legacy jobs, and the names of all objects.
Source   kustomize 5.7, api/konfig/builtinpluginconsts: the field specs of its transformers.
"""

from __future__ import annotations

from typing import Any, Final

from trainc.base.kinds import CLUSTER_RUNTIME, COMPILED, EACH, RUNTIME, TRAINJOB

OF_TRAINER: Final = "spec/trainer/image"
OF_VOLUME: Final = ("spec", "volumes", EACH, "image", "reference")


def configurations() -> dict[str, Any]:
    """Return the content of the file."""
    images = [{"path": OF_TRAINER, "kind": TRAINJOB.kind, "group": TRAINJOB.group}]
    for kind in COMPILED:
        images += [
            {"path": _path((*template, *OF_VOLUME)), "kind": kind.kind, "group": kind.group} for template in kind.pods
        ]
    reference = {"path": "spec/runtimeRef/name", "kind": TRAINJOB.kind, "group": TRAINJOB.group}
    references = [
        {"kind": kind.kind, "group": kind.group, "fieldSpecs": [reference]} for kind in (CLUSTER_RUNTIME, RUNTIME)
    ]
    return {"images": images, "nameReference": references}


def _path(steps: tuple[str, ...]) -> str:
    """Return a path in kustomize's notation, in which `[]` is each item of a list.

    >>> _path(("spec", "jobs", "*", "image"))
    'spec/jobs[]/image'
    """
    return "/".join(steps).replace(f"/{EACH}", "[]")
