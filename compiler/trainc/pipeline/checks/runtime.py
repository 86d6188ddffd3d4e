"""The errors and warnings of the webhook for TrainingRuntimes and ClusterTrainingRuntimes.

Source: kubeflow/trainer v2.3.0, webhooks of both kinds. They skip a runtime with the label `SKIP`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import CLUSTER_RUNTIME, JOBS_OF_RUNTIME, POD
from trainc.diagnostics import Finding
from trainc.kubernetes.trees import get
from trainc.pipeline.checks import Check, check
from trainc.pipeline.objects import Runtime, ancestor

if TYPE_CHECKING:
    from collections.abc import Iterator

SKIP: Final = ("trainer.kubeflow.org/webhook-validation", "disabled")
SUPPORT: Final = ("trainer.kubeflow.org/support", "deprecated")
CONTAINERS: Final = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
"""The container that the replicated job of each ancestor step must have."""


RECORD: Final = "# The cluster runs Trainer {}.\n"
"""The line of a pinned file with the release of its cluster."""
_RECORDED: Final = "# The cluster runs Trainer "
_MARKED: Final = 200
"""The characters at the start of a file that can have the line."""


def skipped(runtime: Runtime) -> bool:
    """Return whether the runtime has the label that disables the webhook."""
    if runtime.release.webhook_label == "ignored":
        return False
    return bool(get(runtime.value, ("metadata", "labels", SKIP[0])) == SKIP[1])


@check("unnamed-runtime", phase="runtime", severity="warning", trainc_only=True)
def unnamed(runtime: Runtime) -> Iterator[Finding]:
    """The API server generates another name each time, which no TrainJob can know."""
    if not get(runtime.value, ("metadata", "name")):
        yield Finding(
            message="no TrainJob can refer to a runtime that has only generateName",
            help="set metadata.name",
            place=runtime.at("metadata", "generateName"),
        )


@check("runtime-replicas", phase="runtime")
def replicas(runtime: Runtime) -> Iterator[Finding]:
    """The trainer and the initializers run as one Job each; numNodes sets the number of nodes."""
    if skipped(runtime):
        return
    for index, job in enumerate(get(runtime.value, JOBS_OF_RUNTIME, [])):
        if ancestor(job) in CONTAINERS and job.get("replicas", 1) != 1:
            path = (*JOBS_OF_RUNTIME, index, "replicas")
            yield Finding(
                message=f'{ancestor(job)} job "{job.get("name")}" must have 1 replica, not {job["replicas"]}',
                help="set `replicas: 1`, and the number of nodes in mlPolicy.numNodes",
                place=runtime.at(*path),
            )


@check("runtime-container", phase="runtime")
def containers(runtime: Runtime) -> Iterator[Finding]:
    """The TrainJob's settings go into a container with a fixed name, which must exist."""
    if skipped(runtime):
        return
    for index, job in enumerate(get(runtime.value, JOBS_OF_RUNTIME, [])):
        wanted = CONTAINERS.get(ancestor(job))
        path = (*JOBS_OF_RUNTIME, index, *POD, "containers")
        present = [c.get("name") for c in get(runtime.value, path, [])]
        if wanted and wanted not in present:
            yield Finding(
                message=f'{ancestor(job)} job "{job.get("name")}" has no container "{wanted}"',
                help=f'name its main container "{wanted}"'
                + (f"; it has {', '.join(map(str, present))}" if present else ""),
                place=runtime.at(*path),
            )


@check("runtime-job-name", phase="runtime")
def job_names(runtime: Runtime) -> Iterator[Finding]:
    """A release limits the names of replicated jobs in runtimes."""
    most = runtime.release.job_names
    for index, job in enumerate(get(runtime.value, JOBS_OF_RUNTIME, [])):
        name = str(job.get("name"))
        if len(name) > most:
            yield Finding(
                message=f'the name of replicated job "{name}" has {len(name)} characters; the limit of '
                f"{runtime.release.title} is {most}",
                help="shorten it, also in the patches that name the job",
                place=runtime.at(*JOBS_OF_RUNTIME, index, "name"),
            )


@check("pinned-release", phase="runtime", severity="warning", trainc_only=True)
def pinned_release(runtime: Runtime) -> Iterator[Finding]:
    """`trainc runtimes pull` records the release of the cluster whose runtimes it pins."""
    _, record, rest = runtime.document.text[:_MARKED].partition(_RECORDED)
    tag = rest.partition("\n")[0].removesuffix(".")
    if record and not runtime.release.has_tag(tag):
        yield Finding(
            message=f'runtime "{runtime.id.name}" is pinned from a cluster with Trainer {tag}, and compiled for '
            f"{runtime.release.title}",
            help="pin the runtimes of the cluster again with `trainc runtimes pull`, or change trainerVersion",
            place=runtime.at("metadata", "name"),
        )


@check("runtime-deprecated", phase="runtime", severity="warning")
def deprecated_runtime(runtime: Runtime) -> Iterator[Finding]:
    """A later Trainer release will remove a ClusterTrainingRuntime with this label."""
    if runtime.id.kind == CLUSTER_RUNTIME.kind and get(runtime.value, ("metadata", "labels", SUPPORT[0])) == SUPPORT[1]:
        yield Finding(
            message=f'ClusterTrainingRuntime "{runtime.id.name}" is deprecated',
            help="move its TrainJobs to a supported runtime",
            field="metadata.labels",
            place=runtime.at("metadata", "labels", SUPPORT[0]),
        )


CHECKS: Final[tuple[Check[[Runtime]], ...]] = (
    unnamed,
    replicas,
    containers,
    job_names,
    pinned_release,
    deprecated_runtime,
)
