"""The runtime of a migrated job, and its name: words, with which a reader finds the job that it comes from.

Reads    a JobSetSpec, a policy, and the replicated jobs that spec.trainer applies to; later the accepted candidates in
         the order of their files, and the runtimes that the paths have.
Returns  a ClusterTrainingRuntime without fields that have their default, named by its framework and a hash of its spec:
         equal runtimes of different jobs are one. An accepted candidate gets the name of an equal runtime of the paths,
         else that of an earlier candidate with an equal one, else the name of its job and of the framework. A runtime
         that exists keeps its name, so that a job that is migrated later changes none.
"""

from __future__ import annotations

from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import CLUSTER_RUNTIME, RUNTIME, VERSION
from trainc.diagnostics import ObjectId
from trainc.frontends import extensions
from trainc.frontends.gangs import VOLCANO
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import get, put
from trainc.pipeline.objects import ANCESTOR
from trainc.pipeline.passes.conform import drop_field
from trainc.pipeline.schedulers.volcano import QUEUE
from trainc.pipeline.training import FRAMEWORK_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation
    from trainc.rewriting.migration.migrated import Candidate

_COUNTS: Final = ("parallelism", "completions")
_DIGITS: Final = 8
"""The length of the hash in a name."""


def runtime_of(
    spec: Tree,
    release: TrainerRelease,
    *,
    trainers: Sequence[int],
    counted: Sequence[int],
    policy: Tree | None,
    gang: Tree | None,
) -> Tree:
    """Return a runtime without a name.

    trainers   the replicated jobs that spec.trainer applies to
    counted    the replicated jobs whose pods numNodes counts
    policy     the mlPolicy; None without one, so that each Job has its own number of pods
    """
    jobs = [
        _job(job, is_trainer=index in trainers, has_count=index not in counted)
        for index, job in enumerate(spec["replicatedJobs"])
    ]
    template: Tree = {"spec": spec | {"replicatedJobs": jobs}}
    if queue := get(gang, (VOLCANO, "queue")):
        template = {"metadata": {"annotations": {QUEUE: queue}}} | template
    runtime: Tree = {
        "apiVersion": VERSION,
        "kind": CLUSTER_RUNTIME.kind,
        "metadata": {},
        "spec": {
            **({} if policy is None else {"mlPolicy": policy}),
            **({} if gang is None else {"podGroupPolicy": gang}),
            "template": template,
        },
    }
    return without_unknown_fields(runtime, release)


def _job(job: Tree, *, is_trainer: bool, has_count: bool) -> Tree:
    """Return a replicated job with the trainer's label or without it, and without counts that have their default."""
    template = job["template"]
    labels = {key: text for key, text in get(template, ("metadata", "labels"), {}).items() if key != ANCESTOR}
    labels |= {ANCESTOR: "trainer"} if is_trainer else {}
    metadata = {key: field for key, field in template.get("metadata", {}).items() if key != "labels"}
    metadata |= {"labels": labels} if labels else {}
    fields = template["spec"].items()
    spec = {key: field for key, field in fields if key not in _COUNTS or (has_count and field != 1)}
    spec["template"] = spec.pop("template")  # a reader looks for the long part at the end
    rest = {key: field for key, field in job.items() if key != "template" and (key, field) != ("replicas", 1)}
    return rest | {"template": ({"metadata": metadata} if metadata else {}) | {"spec": spec}}


def without_unknown_fields(runtime: Tree, release: TrainerRelease) -> Tree:
    """Return a runtime without the fields of a legacy kind that no runtime of a user can have."""
    for violation in extensions.load(runtime["kind"], release.crds).admit(runtime).unknown:
        runtime = drop_field(runtime, violation.path)
    return runtime


def policy_defaults(framework: str, release: TrainerRelease) -> Tree:
    """Return the settings of a framework's policy that have a default."""
    empty = {"kind": CLUSTER_RUNTIME.kind, "spec": {"mlPolicy": {framework: {}}}}
    found: Tree = get(with_defaults(empty, release), ("spec", "mlPolicy", framework), {})
    return found


def with_defaults(runtime: Tree, release: TrainerRelease) -> Tree:
    """Return a runtime as the API server would store it with the extensions of trainc."""
    found: Tree = extensions.load(runtime["kind"], release.crds).admit(runtime).value
    return found


def violations_of(runtime: Tree, release: TrainerRelease) -> list[Violation]:
    """Return the violations of the schema of runtimes with the extensions of trainc."""
    return [*extensions.load(runtime["kind"], release.crds).admit(runtime).violations]


def named(runtime: Tree, framework: str) -> Tree:
    """Return a runtime with the name of its framework and of its spec."""
    digest = sha256(dumps(runtime["spec"], sort_keys=True).encode()).hexdigest()
    metadata = {"name": f"{framework}-{digest[:_DIGITS]}", "labels": {FRAMEWORK_LABEL: framework}}
    return {key: metadata if key == "metadata" else field for key, field in runtime.items()}


def extension_fields(runtime: Tree, release: TrainerRelease) -> Iterator[str]:
    """Yield the fields and values of a runtime that Trainer's own schema does not have."""
    admitted = load(runtime["kind"], release.crds).admit(runtime)
    yield from (violation.field for violation in admitted.unknown)
    yield from (
        f"{violation.field}: {get(runtime, violation.path)}"
        for violation in admitted.violations
        if violation.path[:2] == ("spec", "mlPolicy")
    )


def with_names(
    accepted: Iterable[tuple[Document, Candidate]], known: Sequence[Document], kind: str
) -> Iterator[Candidate]:
    """Yield the candidates with the final kinds and names of their runtimes.

    accepted   the legacy jobs, each with its candidate
    known      the runtimes of the paths
    kind       the kind of the new runtimes
    """
    taken = {ObjectId.from_manifest(document.value).name for document in known}
    existing = [(ObjectId.from_manifest(each.value), dumps(each.value.get("spec"), sort_keys=True)) for each in known]
    named: dict[tuple[str, str], ObjectId] = {}
    for document, candidate in accepted:
        if candidate.is_built_in:
            yield candidate
            continue
        subject, spec = ObjectId.from_source(document.value), dumps(candidate.runtime["spec"], sort_keys=True)
        namespace = subject.namespace if kind == RUNTIME.kind else ""
        key = namespace, spec
        if key not in named:
            equal = (id for id, other in existing if other == spec and id.namespace in ("", subject.namespace))
            name = _free_name(subject, str(get(candidate.runtime, ("metadata", "labels", FRAMEWORK_LABEL))), taken)
            id = next(equal, ObjectId(kind=kind, namespace=namespace, name=name))
            taken.add(id.name)
            named[key] = id
        yield _with_id(candidate, named[key])


def _free_name(job: ObjectId, framework: str, taken: set[str]) -> str:
    """Return the name of a runtime for a job; with the namespace, or a number, if another one has it."""
    name = f"{job.name.rstrip('-')}-{framework}"
    in_namespace = f"{job.namespace}-{name}" if job.namespace else name
    numbered = (f"{in_namespace}-{number}" for number in range(2, len(taken) + 3))
    return next(each for each in (name, in_namespace, *numbered) if each not in taken)


def _with_id(candidate: Candidate, id: ObjectId) -> Candidate:
    """Return a candidate whose runtime has another kind, namespace and name."""
    metadata = {"name": id.name, **({"namespace": id.namespace} if id.namespace else {})}
    metadata |= {key: field for key, field in candidate.runtime["metadata"].items() if key != "name"}
    reference = {"name": id.name} | ({} if id.kind == CLUSTER_RUNTIME.kind else {"kind": id.kind})
    runtime: Tree = candidate.runtime | {"kind": id.kind, "metadata": metadata}
    job: Tree = put(candidate.job, ("spec", "runtimeRef"), reference)
    return candidate._replace(job=job, runtime=runtime)
