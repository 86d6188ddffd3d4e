"""Hints for fields of containers and pods that a patch can set, and that a TrainJob has outside of a patch.

Reads    a TrainJob, and the path of a field that the TrainJob schema does not have.
Returns  the text of a help, with an example. This module is imported only if there is such a field.
Source   Kubeflow Trainer v2.3, the schema of TrainJob.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBS_OF_PATCH, POD, TRAINJOB
from trainc.frontends.dialects import V2_3, detect
from trainc.kubernetes.trees import get
from trainc.pipeline.checks.unpatchable import known
from trainc.pipeline.objects import STEPS
from trainc.pipeline.plan import NODE

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path, Tree

POD_OF_PATCH: Final = ("runtimePatches", *JOBS_OF_PATCH, *POD)
"""The path of a pod spec in the schema of a TrainJob's spec."""
OF_TRAINJOB: Final = frozenset({"env", "name"})
"""The container fields that a patch has, but that a TrainJob sets elsewhere."""


def hint(job: Tree, path: Path, release: str) -> str:
    """Return a hint with the patch that sets the field, or an empty string if no patch can set it."""
    name, target = str(path[-1]), _target(path)
    if not target or detect(job) is not V2_3:
        return ""
    field = f"{name}: {_placeholder(get(job, path))}"
    if name in known((*POD_OF_PATCH, "containers"), release, kind=TRAINJOB.kind) - OF_TRAINJOB:
        volumes = "volumes: [...], " if name == "volumeMounts" else ""
        pod = f"{{{volumes}containers: [{{name: {target}, {field}}}]}}"
    elif name in known(POD_OF_PATCH, release, kind=TRAINJOB.kind):
        pod = f"{{{field}}}"
    else:
        return ""
    jobs = f"[{{name: {target}, template: {{spec: {{template: {{spec: {pod}}}}}}}}}]"
    patch = f"{{manager: example.com/me, trainingRuntimeSpec: {{template: {{spec: {{replicatedJobs: {jobs}}}}}}}}}"
    return f"set it in spec.runtimePatches: `runtimePatches: [{patch}]`"


def _target(path: Path) -> str:
    """Return the name of the replicated job and container that the path is about; empty for other paths."""
    match path:
        case ("spec", _) | ("spec", "trainer", _):
            return NODE
        case ("spec", "initializer", str(part), _):
            return STEPS.get(part, "")
    return ""


def _placeholder(value: object) -> str:
    return "[...]" if isinstance(value, list) else "{...}" if isinstance(value, dict) else "..."
