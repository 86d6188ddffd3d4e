"""Graph: what a TrainJob hangs together with: its runtime, its jobs, their gang, where they meet, what they need.

Reads    a compiled TrainJob, and the documents of other kinds that were given with it.
Returns  all of it as one value, which `graph/<format>.py` shows.
Source   JobSet v0.12.0: dependsOn, and a startupPolicy InOrder, which waits for the job before to be ready.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from trainc import footprint, frameworks, schedulers
from trainc.checks.job import claims
from trainc.kubernetes.references import Reference, references
from trainc.kubernetes.trees import Tree, get
from trainc.library import BUILT_IN
from trainc.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation import Compiled
    from trainc.diagnostics import Document, ObjectId
    from trainc.footprint import Footprint, Job
    from trainc.plan import Plan

KINDS: Final = ("ConfigMap", "Secret", "PersistentVolumeClaim")


class Wait(NamedTuple):
    """What a replicated job waits for."""

    job: str
    status: str
    """Ready or Complete."""


class GraphStep(NamedTuple):
    """A replicated job, and what it waits for."""

    job: Job
    after: tuple[Wait, ...]


class Gang(NamedTuple):
    """A PodGroup."""

    scheduler: str
    name: str
    members: int
    """With how many pods it starts."""


class Needed(NamedTuple):
    """An object that pods refer to."""

    kind: str
    name: str
    origin: Literal["compiled", "claimed", "given", "expected"]
    """Compiled from the TrainJob; made by JobSet of a claim template; among the given documents; in the cluster."""
    optional: bool
    """Whether the pods start without it, too."""
    makes: bool
    """Whether `trainc secret` makes it."""
    file: str
    """Of one that is given."""
    jobs: tuple[str, ...]
    """The replicated jobs whose pods refer to it."""


class Graph(NamedTuple):
    """One TrainJob and all that belongs to it."""

    namespace: str
    name: str
    file: str
    runtime: ObjectId
    runtime_file: str
    """Empty for a stock one."""
    framework: str
    jobset: str
    steps: tuple[GraphStep, ...]
    total: Footprint
    queue: str
    """As `footprint.by_queue` has it; empty where there is none."""
    gangs: tuple[Gang, ...]
    endpoint: str
    """Where the processes meet, with the port; empty where the framework has no such place."""
    needed: tuple[Needed, ...]


def of(compiled: Compiled, others: Iterable[Document] = ()) -> Graph:
    """The graph of a TrainJob."""
    plan, jobset = compiled.plan, compiled.objects[0]
    ((queue, total),) = footprint.by_queue(compiled.objects).items()
    return Graph(
        namespace=compiled.namespace,
        name=compiled.name,
        file=plan.job.document.file,
        runtime=plan.runtime.id,
        runtime_file="" if plan.runtime.level == BUILT_IN else plan.runtime.document.file,
        framework=plan.runtime.framework,
        jobset=str(jobset["metadata"]["name"]),
        steps=tuple(steps(jobset)),
        total=total,
        queue=queue,
        gangs=tuple(gang(tree) for tree in compiled.objects if tree["kind"] == "PodGroup"),
        endpoint=endpoint(plan, jobset),
        needed=tuple(needed(compiled, others)),
    )


def steps(jobset: Tree) -> Iterator[GraphStep]:
    """The replicated jobs in the order of the list, and what each waits for."""
    spec = jobset["spec"]
    in_order = get(spec, ("startupPolicy", "startupPolicyOrder")) == "InOrder"
    before = {after["name"]: one["name"] for one, after in pairwise(spec.get("replicatedJobs") or ()) if in_order}
    for job, tree in zip(footprint.jobs(jobset), spec.get("replicatedJobs") or (), strict=True):
        waits = [Wait(other["name"], other["status"]) for other in tree.get("dependsOn") or ()]
        if job.name in before:
            waits.append(Wait(before[job.name], "Ready"))
        yield GraphStep(job, tuple(waits))


def gang(group: Tree) -> Gang:
    """A PodGroup by its scheduler."""
    key = next(key for key in schedulers.SCHEDULERS if group["apiVersion"] == schedulers.of({key: {}})[0].VERSION)
    return Gang(key, group["metadata"]["name"], group["spec"]["minMember"])


def endpoint(plan: Plan, jobset: Tree) -> str:
    """Where the pods of a TrainJob meet, as the first container says that has all of a framework's words for it."""
    for job in range(len(jobset["spec"].get("replicatedJobs") or ())):
        for container in get(jobset["spec"], (*pod_spec(job), "containers"), ()):
            said = {variable["name"]: variable.get("value", "") for variable in container.get("env") or ()}
            said |= {flag: value for flag, _, value in (word.partition("=") for word in container.get("command") or ())}
            for words in frameworks.rendezvous_sources(plan):
                if all(said.get(word) for word in words):
                    return ":".join(said[word] for word in words)
    return ""


def needed(compiled: Compiled, others: Iterable[Document]) -> Iterator[Needed]:
    """The ConfigMaps, Secrets and claims by kind, then in the order in which they are first named."""
    jobset, namespace = compiled.objects[0], compiled.namespace
    made = {(tree["kind"], tree["metadata"]["name"]) for tree in compiled.objects}
    given = {key: document.file for document in others if (key := _given(document, namespace))}
    keys = {secret.name for secret in frameworks.expected_secrets(compiled.plan)}
    found: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    claimed: set[tuple[str, str]] = set()
    for job, reference, of_template in _references(jobset):
        key = (reference.kind, reference.name)
        found.setdefault(key, []).append((job, reference.optional))
        claimed |= {key} if of_template else set()
    for key in sorted(found, key=lambda key: KINDS.index(key[0])):
        origin: Literal["compiled", "claimed", "given", "expected"] = "expected"
        if key in made or key in claimed:
            origin = "compiled" if key in made else "claimed"
        elif key in given:
            origin = "given"
        yield Needed(
            *key,
            origin=origin,
            optional=all(optional for _, optional in found[key]),
            makes=origin == "expected" and key[0] == "Secret" and key[1] in keys,
            file=given.get(key, "") if origin == "given" else "",
            jobs=tuple(dict.fromkeys(job for job, _ in found[key])),
        )


def _references(jobset: Tree) -> Iterator[tuple[str, Reference, bool]]:
    """What the pods of each replicated job refer to, and whether that is a claim of one of the JobSet's templates."""
    for index, job in enumerate(jobset["spec"].get("replicatedJobs") or ()):
        pod = get(jobset["spec"], pod_spec(index), {})
        for reference in references(pod):
            yield job["name"], reference, False
        for reference in references({"volumes": claims(jobset, pod)}):
            yield job["name"], reference, True


def _given(document: Document, namespace: str) -> tuple[str, str] | None:
    """Kind and name of a document, where a pod of that namespace may refer to it; without one it may be of any."""
    kind = get(document.value, ("kind",))
    its, name = (get(document.value, ("metadata", key), "") for key in ("namespace", "name"))
    if kind not in KINDS or not isinstance(name, str) or not (its == namespace or not (its and namespace)):
        return None
    return kind, name
