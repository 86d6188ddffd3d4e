"""What the webhook of TrainingRuntimes and ClusterTrainingRuntimes refuses, and what it warns of.

Source: kubeflow/trainer v2.3.0, webhooks of both kinds. A runtime labelled with `SKIP` is not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.frontends import CLUSTER
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.objects import Runtime, ancestor

if TYPE_CHECKING:
    from collections.abc import Iterator

SKIP: Final = ("trainer.kubeflow.org/webhook-validation", "disabled")
SUPPORT: Final = ("trainer.kubeflow.org/support", "deprecated")
CONTAINERS: Final = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
"""The container that a job of each ancestor must have."""
JOBS: Final = ("spec", "template", "spec", "replicatedJobs")


def skipped(runtime: Runtime) -> bool:
    """Whether the runtime's label keeps the webhook away."""
    return bool(get(runtime.value, ("metadata", "labels", SKIP[0])) == SKIP[1])


@check("runtime-replicas", stage="runtime", title="A job of the TrainJob's steps has several replicas")
def replicas(runtime: Runtime) -> Iterator[Finding]:
    """The trainer and the initializers run as one Job each; nodes are counted by numNodes."""
    if skipped(runtime):
        return
    for index, job in enumerate(get(runtime.value, JOBS, [])):
        if ancestor(job) in CONTAINERS and job.get("replicas", 1) != 1:
            path = (*JOBS, index, "replicas")
            yield Finding(
                message=f'job "{job.get("name")}" is the {ancestor(job)}, and has {job["replicas"]} replicas',
                help="set `replicas: 1`; how many nodes train is said by mlPolicy.numNodes",
                field=field_of(path),
                place=runtime.at(*path),
            )


@check("runtime-container", stage="runtime", title="A job of the TrainJob's steps lacks its container")
def containers(runtime: Runtime) -> Iterator[Finding]:
    """What a TrainJob says is written into a container of a fixed name, which must be there."""
    if skipped(runtime):
        return
    for index, job in enumerate(get(runtime.value, JOBS, [])):
        wanted = CONTAINERS.get(ancestor(job))
        path = (*JOBS, index, "template", "spec", "template", "spec", "containers")
        present = [c.get("name") for c in get(runtime.value, path, [])]
        if wanted and wanted not in present:
            yield Finding(
                message=f'job "{job.get("name")}" is the {ancestor(job)}, and has no container "{wanted}"',
                help=f'name its main container "{wanted}"'
                + (f"; it has {', '.join(map(str, present))}" if present else ""),
                field=field_of(path),
                place=runtime.at(*path),
            )


@check("runtime-deprecated", stage="runtime", severity="warning", title="The runtime is deprecated")
def deprecated(runtime: Runtime) -> Iterator[Finding]:
    """A ClusterTrainingRuntime labelled so will be removed by a later release of Trainer."""
    if runtime.id.kind == CLUSTER and get(runtime.value, ("metadata", "labels", SUPPORT[0])) == SUPPORT[1]:
        yield Finding(
            message=f'ClusterTrainingRuntime "{runtime.id.name}" is deprecated',
            help="move its TrainJobs to a runtime that is supported",
            field="metadata.labels",
            place=runtime.at("metadata", "labels", SUPPORT[0]),
        )


CHECKS: Final[tuple[Check[[Runtime]], ...]] = (replicas, containers, deprecated)
