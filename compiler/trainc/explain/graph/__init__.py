"""Graph: a TrainJob's dependencies: its runtime, jobs, gang, rendezvous endpoint and referenced objects.

Reads    a compiled TrainJob, and the given documents of other kinds.
Returns  the dependencies as one value, which `graph/<format>.py` renders.
Source   JobSet v0.12.0: dependsOn, and startupPolicy InOrder, which waits until the previous job is ready.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from trainc.compilation.foreign_references import MAKERS, secret_name
from trainc.diagnostics import ObjectId
from trainc.kubernetes.pod_references import Reference, references
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline import frameworks, schedulers
from trainc.pipeline.checks.created_jobs import claims
from trainc.pipeline.library import BUILT_IN
from trainc.pipeline.plan import pod_spec
from trainc.pods import footprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation import Compiled
    from trainc.diagnostics import Document
    from trainc.pipeline.plan import Plan
    from trainc.pods.footprint import Footprint, ReplicatedPods

KINDS: Final = ("ConfigMap", "Secret", "PersistentVolumeClaim")


class Wait(NamedTuple):
    """A condition that a replicated job waits for."""

    job: str
    status: str
    """`Ready` or `Complete`."""


class GraphStep(NamedTuple):
    """A replicated job, and the jobs that it waits for."""

    job: ReplicatedPods
    after: tuple[Wait, ...]


class PodGroupNode(NamedTuple):
    """A PodGroup."""

    scheduler: str
    name: str
    members: int
    """The number of pods with which it starts."""


class Needed(NamedTuple):
    """An object that pods refer to."""

    kind: str
    name: str
    origin: Literal["compiled", "claimed", "given", "expected"]
    """Compiled from the TrainJob; created by JobSet from a claim template; in the given documents; in the cluster."""
    optional: bool
    """Whether the pods start without it."""
    generated: bool
    """Whether `trainc secret` generates it."""
    file: str
    """The file of a given object, or of the one of which a controller makes it; otherwise empty."""
    maker: str
    """The kind of the latter: ExternalSecret, SealedSecret; otherwise empty."""
    jobs: tuple[str, ...]
    """The replicated jobs whose pods refer to it."""


class Graph(NamedTuple):
    """One TrainJob and its dependencies."""

    namespace: str
    name: str
    word: str
    """The noun for the job: `TrainJob`."""
    file: str
    runtime: ObjectId | None
    """None for a job with a runtime of its own."""
    runtime_file: str
    """Empty for a built-in runtime."""
    framework: str
    jobset: str
    steps: tuple[GraphStep, ...]
    total: Footprint
    queue: str
    """The queue as `footprint.by_queue` names it; empty if there is none."""
    gangs: tuple[PodGroupNode, ...]
    endpoint: str
    """The rendezvous endpoint, with its port; empty if the framework has none."""
    needed: tuple[Needed, ...]


def graph_of(compiled: Compiled, others: Iterable[Document] = ()) -> Graph:
    """Return the graph of a TrainJob."""
    plan, jobset = compiled.plan, compiled.objects[0]
    ((queue, total),) = footprint.by_queue(compiled.objects).items()
    return Graph(
        namespace=compiled.namespace,
        name=compiled.name,
        word=plan.job.word,
        file=plan.job.document.file,
        runtime=None if plan.job.own_runtime else plan.runtime.id,
        runtime_file="" if plan.runtime.level == BUILT_IN else plan.runtime.document.file,
        framework="" if plan.job.is_jobset else plan.runtime.framework,
        jobset=str(jobset["metadata"]["name"]),
        steps=tuple(steps(jobset)),
        total=total,
        queue=queue,
        gangs=tuple(gang(tree) for tree in compiled.objects if tree["kind"] == "PodGroup"),
        endpoint=endpoint(plan, jobset),
        needed=tuple(needed_objects(compiled, others)),
    )


def steps(jobset: Tree) -> Iterator[GraphStep]:
    """Yield the replicated jobs in list order, and the jobs that each waits for."""
    spec = jobset["spec"]
    in_order = get(spec, ("startupPolicy", "startupPolicyOrder")) == "InOrder"
    before = {after["name"]: one["name"] for one, after in pairwise(spec.get("replicatedJobs") or ()) if in_order}
    for job, tree in zip(footprint.jobs(jobset), spec.get("replicatedJobs") or (), strict=True):
        waits = [Wait(other["name"], other["status"]) for other in tree.get("dependsOn") or ()]
        if job.name in before:
            waits.append(Wait(before[job.name], "Ready"))
        yield GraphStep(job, tuple(waits))


def gang(group: Tree) -> PodGroupNode:
    """Return a PodGroup with its scheduler."""
    key = next(
        key for key in schedulers.SCHEDULERS if group["apiVersion"] == schedulers.schedulers_of({key: {}})[0].VERSION
    )
    return PodGroupNode(key, group["metadata"]["name"], group["spec"]["minMember"])


def endpoint(plan: Plan, jobset: Tree) -> str:
    """Return the rendezvous endpoint, from the first container that sets all variables or flags of the framework."""
    for job in range(len(jobset["spec"].get("replicatedJobs") or ())):
        for container in get(jobset["spec"], (*pod_spec(job), "containers"), ()):
            flags = (word.partition("=") for word in container.get("command") or ())
            values = {variable["name"]: variable.get("value", "") for variable in container.get("env") or ()}
            values |= {flag: value for flag, _, value in flags}
            for names in frameworks.framework_of(plan).rendezvous:
                if all(values.get(name) for name in names):
                    return ":".join(values[name] for name in names)
    return ""


def needed_objects(compiled: Compiled, others: Iterable[Document]) -> Iterator[Needed]:
    """Yield the ConfigMaps, Secrets and claims, by kind and then in the order of their first reference."""
    jobset, namespace = compiled.objects[0], compiled.namespace
    own = {(tree["kind"], tree["metadata"]["name"]) for tree in compiled.objects}
    given = {key: document for document in others if (key := _referable(document, namespace))}
    keys = {secret.name for secret in frameworks.framework_of(compiled.plan).secrets(compiled.plan)}
    found: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    claimed: set[tuple[str, str]] = set()
    for job, reference, of_template in _references(jobset):
        key = (reference.kind, reference.name)
        found.setdefault(key, []).append((job, reference.optional))
        claimed |= {key} if of_template else set()
    for key in sorted(found, key=lambda key: KINDS.index(key[0])):
        origin: Literal["compiled", "claimed", "given", "expected"] = "expected"
        if key in own or key in claimed:
            origin = "compiled" if key in own else "claimed"
        elif key in given:
            origin = "given"
        source = given[key] if origin == "given" else None
        kind = str(source.value.get("kind")) if source is not None else ""
        yield Needed(
            *key,
            origin=origin,
            optional=all(optional for _, optional in found[key]),
            generated=origin == "expected" and key[0] == "Secret" and key[1] in keys,
            file=source.file if source is not None else "",
            maker=kind if kind in MAKERS else "",
            jobs=tuple(dict.fromkeys(job for job, _ in found[key])),
        )


def _references(jobset: Tree) -> Iterator[tuple[str, Reference, bool]]:
    """Yield the references of each replicated job's pods, and whether each is to a claim template of the JobSet."""
    for index, job in enumerate(jobset["spec"].get("replicatedJobs") or ()):
        pod = get(jobset["spec"], pod_spec(index), {})
        for reference in references(pod):
            yield job["name"], reference, False
        for reference in references({"volumes": claims(jobset, pod)}):
            yield job["name"], reference, True


def _referable(document: Document, namespace: str) -> tuple[str, str] | None:
    """Return a document's kind and name if a pod in the namespace may refer to it. An empty namespace matches any.

    Those of an ExternalSecret or a SealedSecret are of the Secret that a controller creates for it.
    """
    id = ObjectId.from_manifest(document.value)
    kind, name = ("Secret", secret_name(document, id)) if id.kind in MAKERS else (id.kind, id.name)
    is_near = id.namespace == namespace or not (id.namespace and namespace)
    return (kind, name) if kind in KINDS and name and is_near else None
