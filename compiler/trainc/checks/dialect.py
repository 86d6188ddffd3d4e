"""Checks for TrainJobs and runtimes of an older dialect than Trainer v2.3.

Source: kubeflow/trainer v2.0 and v2.1, the validation in the JobSet and Torch plugins, for what those releases reject.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Place, Related
from trainc.frontends import OLD_VERSION, VERSION
from trainc.frontends.dialects import OLDER, load
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Document, Path
    from trainc.frontends.dialects import Detected
    from trainc.kubernetes.trees import Tree
    from trainc.plan import Plan

SPELLINGS: Final = {
    "trainingRuntimeRef": "runtimeRef",
    "datasetConfig": "initializer.dataset",
    "modelConfig": "initializer.model",
    "podSpecOverrides": "runtimePatches",
    "podTemplateOverrides": "runtimePatches",
    "targetJobs": "runtimePatches[].trainingRuntimeSpec.template.spec.replicatedJobs[].name",
    "targetReplicatedJobs": "runtimePatches[].trainingRuntimeSpec.template.spec.replicatedJobs[].name",
    "labels": "runtimePatches[].trainingRuntimeSpec.template.metadata.labels",
    "annotations": "runtimePatches[].trainingRuntimeSpec.template.metadata.annotations",
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
}
"""The v2.3 field for each field that only older dialects have."""
NESTED: Final = SPELLINGS.keys() - {"labels", "annotations", "apiVersion"}
"""The fields whose names have no other meaning elsewhere."""
WORDS: Final = ("auto", "cpu", "gpu")
"""The values that older dialects allow for numProcPerNode besides a number."""
READS_WORDS: Final = "torch"
"""The only framework that reads them."""
REJECTS_WORDS: Final = "mpi"
"""The only framework that rejects them; the others ignore the field."""


@check("mixed-dialects", stage="schema", title="Fields of two Trainer versions in one TrainJob", own=True)
def mixed(document: Document, detected: Detected) -> Iterator[Finding]:
    """No Trainer release reads both fields: each silently drops one of them."""
    mark, conflict = detected.mark, detected.conflict
    new = SPELLINGS[str(mark[-1])]
    yield Finding(
        message=f"{_named(mark, document)} and {_named(conflict, document)} belong to different Trainer versions; "
        "no version reads both",
        help=f"replace {_named(mark, document)} with its Trainer v2.3 form: {new}"
        if str(conflict[-1]) not in SPELLINGS
        else f"use the Trainer v2.3 fields: {new} and {SPELLINGS[str(conflict[-1])]}",
        field=field_of(mark),
        place=Place(document=document, path=mark, key=True),
        related=(Related(message="the other one", place=Place(document=document, path=conflict, key=True)),),
    )


@check(
    "older-dialect",
    stage="schema",
    severity="note",
    title="TrainJob for an older Trainer version",
    own=True,
)
def older(document: Document, detected: Detected) -> Iterator[Finding]:
    """Trainer v2.3 silently drops the fields of earlier versions; trainc reads them."""
    mark = detected.mark
    yield Finding(
        message=f"{_named(mark, document)} belongs to {load(detected.key).NAME}; a Trainer v2.3 cluster "
        + ("does not have this kind" if mark == ("apiVersion",) else "drops it"),
        help=f"run `trainc upgrade --write {document.file}` to convert it to {SPELLINGS[str(mark[-1])]}"
        if document.file != "-"
        else f"use {SPELLINGS[str(mark[-1])]}, or run `trainc upgrade`",
        field=field_of(mark),
        place=Place(document=document, path=mark, key=True),
    )


@check(
    "no-counterpart",
    stage="schema",
    severity="warning",
    title="Field that no Trainer release implements",
    own=True,
)
def no_counterpart(document: Document) -> Iterator[Finding]:
    """KEP-2170 had an exporter, and Secrets of other namespaces; no release implements either."""
    spec = document.value["spec"] if isinstance(document.value.get("spec"), dict) else {}
    output = ("spec", "modelConfig", "output")
    if get(document.value, output) is not None:
        yield Finding(
            message="modelConfig.output requires an exporter, which no Trainer release has; it is dropped",
            help="upload the model in the training script, and remove the field",
            field=field_of(output),
            place=Place(document=document, path=output, key=True),
        )
    own = get(document.value, ("metadata", "namespace"))
    for config in (("datasetConfig",), ("modelConfig", "input")):
        path: Path = ("spec", *config, "secretRef", "namespace")
        namespace = get(spec, path[1:])
        if namespace is not None and namespace != own:
            yield Finding(
                message=f'the Secret is in namespace "{namespace}", but a pod can only read Secrets of its own '
                "namespace; the field is dropped",
                help="copy the Secret to the TrainJob's namespace, and remove the field",
                field=field_of(path),
                place=Place(document=document, path=path),
            )


@check("override-target", stage="trainjob", title="Override for a job or container that the runtime lacks")
def targets(plan: Plan) -> Iterator[Finding]:
    """Trainer v2.0 and v2.1 reject an override that would add a job or a container."""
    jobs = [str(job.get("name")) for job in plan.runtime.spec.get("replicatedJobs") or []]
    to_jobs = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for p, patch in enumerate(plan.job.patches):
        for j, job in enumerate(get(patch, to_jobs, [])):
            path: Path = ("spec", "runtimePatches", p, *to_jobs, j)
            if job.get("name") not in jobs:
                yield _missing(plan, (*path, "name"), f'replicated job "{job.get("name")}"', jobs)
            else:
                template = plan.runtime.spec["replicatedJobs"][jobs.index(job["name"])]
                yield from _containers(plan, path, job, template)


def _containers(plan: Plan, path: Path, patched: Tree, job: Tree) -> Iterator[Finding]:
    """Yield the containers and init containers of a patched job that the runtime's job lacks."""
    to_pod = pod_spec(0)[2:]
    known = [str(c.get("name")) for kind in KINDS for c in get(job, (*to_pod, kind), [])]
    for kind in KINDS:
        for c, container in enumerate(get(patched, (*to_pod, kind), [])):
            if container.get("name") not in known:
                missing = f'container "{container.get("name")}" in job "{job.get("name")}"'
                yield _missing(plan, (*path, *to_pod, kind, c, "name"), missing, known)


KINDS: Final = ("initContainers", "containers")


def _missing(plan: Plan, path: Path, target: str, known: list[str]) -> Finding:
    from trainc.nearest import nearest

    near = nearest(str(get(plan.job.value, path)), known)
    return Finding(
        message=f'the override targets {target}, which runtime "{plan.runtime.id.name}" does not have',
        help=f"did you mean {near}?" if near else f"use {' or '.join(known)}",
        field=field_of(plan.job.written(path)[:2]),
        place=plan.job.at(*path),
    )


@check("processes-per-node", stage="trainjob", title="Invalid numProcPerNode")
def processes(plan: Plan) -> Iterator[Finding]:
    """torchrun accepts auto, cpu and gpu; MPI requires a number."""
    count: Any = plan.job.trainer.get("numProcPerNode")
    if not isinstance(count, str) or plan.runtime.framework not in (READS_WORDS, REJECTS_WORDS):
        return
    if count not in WORDS or plan.runtime.framework == REJECTS_WORDS:
        allowed = "a number" if plan.runtime.framework == REJECTS_WORDS else f"a number, {', '.join(WORDS[:-1])} or gpu"
        yield Finding(
            message=f'numProcPerNode must be {allowed}, not "{count}"',
            help="set the number of processes per node, or remove the field",
            field="spec.trainer.numProcPerNode",
            place=plan.job.at("spec", "trainer", "numProcPerNode"),
        )


@check("runtime-processes", stage="schema", title="Invalid numProcPerNode in a runtime")
def runtime_processes(document: Document, count: object) -> Iterator[Finding]:
    """Trainer v2.0 and v2.1 allow a positive number, auto, cpu or gpu."""
    number = int(count) if isinstance(count, str) and count.isascii() and count.isdecimal() else count
    if count in WORDS or (isinstance(number, int) and not isinstance(number, bool) and number > 0):
        return
    path: Path = ("spec", "mlPolicy", "torch", "numProcPerNode")
    yield Finding(
        message="torch.numProcPerNode must be a positive number, auto, cpu or gpu",
        help="remove it: the default is `auto`",
        field=field_of(path),
        place=Place(document=document, path=path),
    )


@check(
    "older-runtime",
    stage="schema",
    severity="note",
    title="Runtime for an older Trainer version",
    own=True,
)
def older_runtime(document: Document, count: object) -> Iterator[Finding]:
    """Trainer v2.3 silently drops torch.numProcPerNode and uses `auto`; trainc reads it."""
    if count is not None and count != "auto":
        path: Path = ("spec", "mlPolicy", "torch", "numProcPerNode")
        yield Finding(
            message=f"{field_of(path)} belongs to Trainer v2.1; a Trainer v2.3 cluster drops it",
            help="set spec.trainer.numProcPerNode in each TrainJob",
            field=field_of(path),
            place=Place(document=document, path=path, key=True),
        )
    if document.value["apiVersion"] == OLD_VERSION:
        yield Finding(
            message=f"apiVersion {OLD_VERSION} belongs to KEP-2170; a Trainer v2.3 cluster does not have this kind",
            help=f"use {VERSION}",
            field="apiVersion",
            place=Place(document=document, path=("apiVersion",)),
        )


def newer_form(path: Path, rule: str, value: object) -> str:
    """Return a hint with the v2.3 form of an unknown or rejected field that an older dialect has, else nothing."""
    if rule == "unknown-field" and path[-1] in NESTED:
        return f"use {SPELLINGS[str(path[-1])]}, its Trainer v2.3 form"
    if path == ("spec", "trainer", "numProcPerNode") and value in WORDS:
        return "use a number, or remove it for one process per GPU (or per CPU if there is no GPU)"
    return ""


def _named(path: Path, document: Document) -> str:
    """Return a field's name for a message."""
    if path == ("apiVersion",):
        return f"apiVersion {document.value['apiVersion']}"
    return field_of(path) if len(path) > 1 and path[-1] not in OLDER else f"spec.{path[-1]}"


CHECKS: Final[tuple[Check[[Plan]], ...]] = (targets, processes)
"""The additional checks for a TrainJob of an older dialect."""
