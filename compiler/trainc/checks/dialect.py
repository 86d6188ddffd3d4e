"""What is to be said of a TrainJob that is not written as Trainer v2.3 reads it.

Source: kubeflow/trainer v2.0 and v2.1, the JobSet and Torch plugins' validation, for what those releases refused.
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
    from trainc.frontends.dialects import Told
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
"""How v2.3 writes what only older dialects have."""
NESTED: Final = SPELLINGS.keys() - {"labels", "annotations", "apiVersion"}
"""Those whose names mean nothing else elsewhere."""
WORDS: Final = ("auto", "cpu", "gpu")
"""What older dialects allow for numProcPerNode beside a number."""
READ_WORDS: Final = "torch"
"""The one framework that understands them."""
REFUSES_WORDS: Final = "mpi"
"""The one framework that refuses them; the others do not look."""


@check("mixed-dialects", stage="schema", title="A TrainJob has fields of two versions of Trainer", own=True)
def mixed(document: Document, told: Told) -> Iterator[Finding]:
    """No release of Trainer reads both fields: each would drop one of them without a word."""
    mark, against = told.mark, told.against
    new = SPELLINGS[str(mark[-1])]
    yield Finding(
        message=f"{_named(mark, document)} and {_named(against, document)} are of different versions of Trainer; "
        "none reads both",
        help=f"write {_named(mark, document)} as Trainer v2.3 does: {new}"
        if str(against[-1]) not in SPELLINGS
        else f"Trainer v2.3 writes {new} for the one, and {SPELLINGS[str(against[-1])]} for the other",
        field=field_of(mark),
        place=Place(document=document, path=mark, key=True),
        related=(Related(message="the other one", place=Place(document=document, path=against, key=True)),),
    )


@check(
    "older-dialect",
    stage="schema",
    severity="note",
    title="A TrainJob is written for an older version of Trainer",
    own=True,
)
def older(document: Document, told: Told) -> Iterator[Finding]:
    """Trainer v2.3 drops the fields of its predecessors without a word; trainc reads them."""
    yield Finding(
        message=f"{_named(told.mark, document)} is how {load(told.key).NAME} writes it; a Trainer v2.3 cluster would "
        + ("not know the kind" if told.mark == ("apiVersion",) else "drop it"),
        help=f"`trainc upgrade --write {document.file}` writes it as {SPELLINGS[str(told.mark[-1])]}"
        if document.file != "-"
        else f"write it as {SPELLINGS[str(told.mark[-1])]}, or let `trainc upgrade` do it",
        field=field_of(told.mark),
        place=Place(document=document, path=told.mark, key=True),
    )


@check(
    "no-counterpart",
    stage="schema",
    severity="warning",
    title="No release of Trainer has done what a field asks for",
    own=True,
)
def no_counterpart(document: Document) -> Iterator[Finding]:
    """KEP-2170 had an exporter, and Secrets of other namespaces; neither was ever built."""
    spec = document.value["spec"] if isinstance(document.value.get("spec"), dict) else {}
    output = ("spec", "modelConfig", "output")
    if get(document.value, output) is not None:
        yield Finding(
            message="modelConfig.output asks for an exporter, which no release of Trainer has; it is dropped",
            help="let the training script upload the model, and remove the field",
            field=field_of(output),
            place=Place(document=document, path=output, key=True),
        )
    own = get(document.value, ("metadata", "namespace"))
    for config in (("datasetConfig",), ("modelConfig", "input")):
        path: Path = ("spec", *config, "secretRef", "namespace")
        namespace = get(spec, path[1:])
        if namespace is not None and namespace != own:
            yield Finding(
                message=f'the Secret is one of namespace "{namespace}", and a pod reads those of its own alone; '
                "the namespace is dropped",
                help="copy the Secret to the TrainJob's namespace, and remove the field",
                field=field_of(path),
                place=Place(document=document, path=path),
            )


@check("override-target", stage="trainjob", title="An override names a job or a container that the runtime lacks")
def targets(plan: Plan) -> Iterator[Finding]:
    """Trainer v2.0 and v2.1 refuse an override that would make a new job or a new container."""
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
    """The containers of a patched job that the runtime's job lacks, of either kind."""
    to_pod = pod_spec(0)[2:]
    known = [str(c.get("name")) for kind in KINDS for c in get(job, (*to_pod, kind), [])]
    for kind in KINDS:
        for c, container in enumerate(get(patched, (*to_pod, kind), [])):
            if container.get("name") not in known:
                what = f'container "{container.get("name")}" in its job "{job.get("name")}"'
                yield _missing(plan, (*path, *to_pod, kind, c, "name"), what, known)


KINDS: Final = ("initContainers", "containers")


def _missing(plan: Plan, path: Path, what: str, known: list[str]) -> Finding:
    from trainc.nearest import nearest

    near = nearest(str(get(plan.job.value, path)), known)
    return Finding(
        message=f'the override is for {what}, and runtime "{plan.runtime.id.name}" has none of that name',
        help=f"did you mean {near}?" if near else f"it has {', '.join(known)}",
        field=field_of(plan.job.written(path)[:2]),
        place=plan.job.at(*path),
    )


@check("processes-per-node", stage="trainjob", title="numProcPerNode is neither a number nor a word that is known")
def processes(plan: Plan) -> Iterator[Finding]:
    """torchrun knows auto, cpu and gpu; MPI needs a number."""
    said: Any = plan.job.trainer.get("numProcPerNode")
    if not isinstance(said, str) or plan.runtime.framework not in (READ_WORDS, REFUSES_WORDS):
        return
    if said not in WORDS or plan.runtime.framework == REFUSES_WORDS:
        allowed = "a number" if plan.runtime.framework == REFUSES_WORDS else f"a number, {', '.join(WORDS[:-1])} or gpu"
        yield Finding(
            message=f'numProcPerNode is "{said}", and must be {allowed}',
            help="write the number of processes on each node, or leave it out",
            field="spec.trainer.numProcPerNode",
            place=plan.job.at("spec", "trainer", "numProcPerNode"),
        )


@check("runtime-processes", stage="schema", title="A runtime's numProcPerNode is not valid")
def runtime_processes(document: Document, said: object) -> Iterator[Finding]:
    """Trainer v2.0 and v2.1 allow a positive number, auto, cpu or gpu."""
    number = int(said) if isinstance(said, str) and said.isascii() and said.isdecimal() else said
    if said in WORDS or (isinstance(number, int) and not isinstance(number, bool) and number > 0):
        return
    path: Path = ("spec", "mlPolicy", "torch", "numProcPerNode")
    yield Finding(
        message="torch.numProcPerNode must be a positive number, auto, cpu or gpu",
        help="leave it out: `auto` is what happens without it",
        field=field_of(path),
        place=Place(document=document, path=path),
    )


@check(
    "older-runtime",
    stage="schema",
    severity="note",
    title="A runtime is written for an older version of Trainer",
    own=True,
)
def older_runtime(document: Document, said: object) -> Iterator[Finding]:
    """Trainer v2.3 drops torch.numProcPerNode without a word, and takes `auto`; trainc reads it."""
    if said is not None and said != "auto":
        path: Path = ("spec", "mlPolicy", "torch", "numProcPerNode")
        yield Finding(
            message=f"{field_of(path)} is how Trainer v2.1 writes it; a Trainer v2.3 cluster would drop it",
            help="let each TrainJob say spec.trainer.numProcPerNode",
            field=field_of(path),
            place=Place(document=document, path=path, key=True),
        )
    if document.value["apiVersion"] == OLD_VERSION:
        yield Finding(
            message=f"apiVersion {OLD_VERSION} is of KEP-2170; a Trainer v2.3 cluster would not know the kind",
            help=f"write {VERSION}",
            field="apiVersion",
            place=Place(document=document, path=("apiVersion",)),
        )


def later_spelling(path: Path, rule: str, said: object) -> str:
    """How v2.3 writes what a schema refused or did not know, where an older dialect has a field of that name."""
    if rule == "unknown-field" and path[-1] in NESTED:
        return f"Trainer v2.3 writes {SPELLINGS[str(path[-1])]}"
    if path == ("spec", "trainer", "numProcPerNode") and said in WORDS:
        return "Trainer v2.3 wants a number; leave it out for one process a GPU, or one a CPU where there is none"
    return ""


def _named(path: Path, document: Document) -> str:
    """A field as a sentence names it."""
    if path == ("apiVersion",):
        return f"apiVersion {document.value['apiVersion']}"
    return field_of(path) if len(path) > 1 and path[-1] not in OLDER else f"spec.{path[-1]}"


CHECKS: Final[tuple[Check[[Plan]], ...]] = (targets, processes)
"""What is asked of a TrainJob of an older dialect beside what is asked of all."""
