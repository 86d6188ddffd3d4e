"""What is to be said of a TrainJob that is not written as Trainer v2.3 reads it.

Source: kubeflow/trainer v2.0 and v2.1, the JobSet and Torch plugins' validation, for what those releases refused;
kubeflow/training-operator v1.9, whose builder applies no overrides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Place, Related
from trainc.frontends import DRAFT_VERSION, VERSION
from trainc.frontends.dialects import OLDER, PROCESSES, WORDS, load
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Document, Path
    from trainc.frontends.dialects import Told
    from trainc.kubernetes.trees import Tree
    from trainc.objects import TrainJob
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
    release = load(told.key).NAME
    if told.mark == PROCESSES:
        word = get(document.value, PROCESSES)
        message = f'numProcPerNode "{word}" is of {release}; a Trainer v2.3 cluster would reject it'
        help = "leave it out" if word == "auto" else "write the number of processes on each node"
    else:
        new = SPELLINGS[str(told.mark[-1])]
        help = (
            f"`trainc upgrade --write {document.file}` writes it as {new}"
            if document.file != "-"
            else f"write it as {new}, or let `trainc upgrade` do it"
        )
        message = (
            _of_version(document.value["apiVersion"], release)
            if told.mark == ("apiVersion",)
            else f"{_named(told.mark, document)} is how {release} writes it; a Trainer v2.3 cluster would drop it"
        )
    yield Finding(
        message=message,
        help=help,
        field=field_of(told.mark),
        place=Place(document=document, path=told.mark, key=True),
    )


def _of_version(version: str, release: str) -> str:
    """Return the message about an apiVersion that Trainer v2.3 does not serve."""
    if version == DRAFT_VERSION:
        return f"no release serves apiVersion {version}; trainc reads the object as one of {release}"
    return f"apiVersion {version} is of {release}; a Trainer v2.3 cluster would not know the kind"


@check(
    "no-counterpart",
    stage="schema",
    severity="warning",
    title="No release of Trainer has done what a field asks for",
    own=True,
)
def no_counterpart(document: Document, dialect: str) -> Iterator[Finding]:
    """Fields that a schema has and no release implements: exporters, Secrets of other namespaces, v1.9's overrides."""
    spec = document.value["spec"] if isinstance(document.value.get("spec"), dict) else {}
    if dialect == "v1.9" and spec.get("podSpecOverrides"):
        overrides = ("spec", "podSpecOverrides")
        yield Finding(
            message="spec.podSpecOverrides has no effect in Training Operator v1.9, which never applies overrides",
            help="write the changes as runtimePatches of a v1alpha1 TrainJob, or remove the field",
            field=field_of(overrides),
            place=Place(document=document, path=overrides, key=True),
        )
    for dropped in _metadata(spec) if dialect == "v2.1" else ():
        yield Finding(
            message=f"{field_of(dropped)} is dropped: Trainer v2.1 applies only labels and annotations of a pod",
            help="remove it",
            field=field_of(dropped),
            place=Place(document=document, path=dropped, key=True),
        )
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


def _metadata(spec: Tree) -> Iterator[Path]:
    """Yield the fields of the overrides' metadata that do not reach a pod."""
    overrides = spec.get("podTemplateOverrides")
    for index, override in enumerate(overrides if isinstance(overrides, list) else ()):
        metadata = get(override, ("metadata",))
        for key in metadata if isinstance(metadata, dict) else ():
            if key not in ("labels", "annotations"):
                yield ("spec", "podTemplateOverrides", index, "metadata", key)


@check("override-target", stage="trainjob", title="An override names a job that the runtime lacks")
def targets(plan: Plan) -> Iterator[Finding]:
    """Trainer v2.0 and v2.1 reject an override of a replicated job that the runtime does not have."""
    from trainc.nearest import nearest

    known = [str(job.get("name")) for job in plan.runtime.spec.get("replicatedJobs") or []]
    for path, name in _targeted(plan):
        if name in known:
            continue
        near = nearest(name, known)
        yield Finding(
            message=f'the override is for replicated job "{name}", and runtime "{plan.runtime.id.name}" has none of '
            "that name",
            help=f"did you mean {near}?" if near else f"it has {', '.join(known)}",
            field=field_of(plan.job.written(path)[:2]),
            place=plan.job.at(*path),
        )


def _targeted(plan: Plan) -> Iterator[tuple[Path, str]]:
    """Yield the jobs that overrides target, each with its path in the TrainJob's v2.3 form."""
    to_jobs = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for p, patch in enumerate(plan.job.patches):
        for j, job in enumerate(get(patch, to_jobs, [])):
            yield ("spec", "runtimePatches", p, *to_jobs, j, "name"), str(job.get("name"))


@check("override-target-twice", stage="trainjob", title="Job targeted by several overrides")
def targeted_twice(plan: Plan) -> Iterator[Finding]:
    """Trainer v2.0 rejects a job that is targeted twice, in one override or in several; v2.1 merges in order."""
    first: dict[str, Place] = {}
    for path, name in _targets_of_v2_0(plan.job) if plan.job.dialect == "v2.0" else ():
        place = Place(document=plan.job.document, path=path)
        if name not in first:
            first[name] = place
            continue
        yield Finding(
            message=f'the overrides target job "{name}" more than once',
            help="put all changes of the job into one override",
            field="spec.podSpecOverrides",
            place=place,
            related=(Related(message="first target", place=first[name]),),
        )


def _targets_of_v2_0(job: TrainJob) -> Iterator[tuple[Path, str]]:
    """Yield the targets of podSpecOverrides as they are written, the repeated ones included."""
    for index, override in enumerate(get(job.document.value, ("spec", "podSpecOverrides"), [])):
        for number, target in enumerate(get(override, ("targetJobs",), [])):
            name = get(target, ("name",))
            if isinstance(name, str):
                yield ("spec", "podSpecOverrides", index, "targetJobs", number, "name"), name


@check("processes-per-node", stage="trainjob", title="numProcPerNode is neither a number nor a word that is known")
def processes(plan: Plan) -> Iterator[Finding]:
    """torchrun knows auto, cpu and gpu; MPI needs a number. A runtime of Training Operator v1.9 accepts any string."""
    said: Any = plan.job.trainer.get("numProcPerNode")
    framework = plan.runtime.framework if plan.runtime.dialect != "v1.9" else ""
    if not isinstance(said, str) or framework not in (READ_WORDS, REFUSES_WORDS):
        return
    if said not in WORDS or framework == REFUSES_WORDS:
        allowed = "a number" if framework == REFUSES_WORDS else f"a number, {', '.join(WORDS[:-1])} or gpu"
        yield Finding(
            message=f'numProcPerNode is "{said}", and must be {allowed}',
            help="write the number of processes on each node, or leave it out",
            field="spec.trainer.numProcPerNode",
            place=plan.job.at("spec", "trainer", "numProcPerNode"),
        )


@check("runtime-processes", stage="schema", title="A runtime's numProcPerNode is not valid")
def runtime_processes(document: Document, said: object) -> Iterator[Finding]:
    """Trainer v2.0 and v2.1 allow a positive number, auto, cpu or gpu; the group kubeflow.org allows any string."""
    is_first = document.value["apiVersion"] != VERSION
    if said in WORDS or _is_positive(said) or (is_first and isinstance(said, str)):
        return
    path: Path = ("spec", "mlPolicy", "torch", "numProcPerNode")
    quoted = isinstance(said, str) and said.isascii() and said.isdecimal() and said[0] != "0"
    yield Finding(
        message="torch.numProcPerNode must be a positive number, auto, cpu or gpu"
        + (f', not the string "{said}"' if quoted else ""),
        help=f"use a number: {said}" if quoted else "leave it out: `auto` is what happens without it",
        field=field_of(path),
        place=Place(document=document, path=path),
    )


def _is_positive(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number > 0


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
        release = "Trainer v2.1" if document.value["apiVersion"] == VERSION else load("v1.9").NAME
        yield Finding(
            message=f"{field_of(path)} is how {release} writes it; a Trainer v2.3 cluster would drop it",
            help="let each TrainJob say spec.trainer.numProcPerNode",
            field=field_of(path),
            place=Place(document=document, path=path, key=True),
        )
    version = document.value["apiVersion"]
    if version != VERSION:
        yield Finding(
            message=_of_version(version, load("v1.9").NAME),
            help=f"`trainc upgrade --write {document.file}` rewrites it for {VERSION}"
            if document.file != "-"
            else f"rewrite it for {VERSION}: `trainc upgrade` does it",
            field="apiVersion",
            place=Place(document=document, path=("apiVersion",)),
        )


def later_spelling(path: Path, rule: str, said: object) -> str:
    """How v2.3 writes what a schema refused or did not know, where an older dialect has a field of that name."""
    if rule == "unknown-field" and path[-1] in NESTED:
        return f"Trainer v2.3 writes {SPELLINGS[str(path[-1])]}"
    if path == PROCESSES and said in WORDS:
        return "Trainer v2.3 wants a number; leave it out for one process a GPU, or one a CPU where there is none"
    return ""


def _named(path: Path, document: Document) -> str:
    """A field as a sentence names it."""
    if path == ("apiVersion",):
        return f"apiVersion {document.value['apiVersion']}"
    return field_of(path) if len(path) > 1 and path[-1] not in OLDER else f"spec.{path[-1]}"


CHECKS: Final[tuple[Check[[Plan]], ...]] = (targets, targeted_twice, processes)
"""What is asked of a TrainJob of an older dialect beside what is asked of all."""
