"""The diagnostics of a run about Kueue: faults between the objects of queues, and JobSets that no queue ever admits.

Reads    the plans after the last stage, and the documents of other kinds.
Returns  diagnostics at the line of the TrainJob or runtime that caused them, with the queue's lines as related places;
         cycles of cohorts, quotas without a bound, and names that no object has. A missing object is only reported if
         the repository has others of its kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.fixes import replaced_name
from trainc.base.suggestions import KnownNames
from trainc.base.texts import only_elsewhere, plural
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, Related
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.kueue import kueue_objects
from trainc.kueue.admission import BUILT_IN, LABEL, PRIORITY, priority_of
from trainc.kueue.alternatives import Alternatives
from trainc.kueue.capacity import cycles
from trainc.kueue.kueue_objects import UNLIMITED
from trainc.pipeline.objects import QUEUE
from trainc.pipeline.passes.resolve import LIKENESS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trainc.base.fixes import Fix
    from trainc.diagnostics import Location, Path
    from trainc.kueue.admission import Never, Verdict
    from trainc.kueue.kueue_objects import Cluster, CohortNode
    from trainc.pipeline.plan import Plan

NEVER_ADMITTED: Final = Declaration("never-admitted", ("queue",))
ADMISSION_UNKNOWN: Final = Declaration("admission-unknown", ("queue",), severity="note", trainc_only=True)
SHOWN: Final = 3
"""The number of reasons that the note lists."""
NAME: Final = ("metadata", "name")
COHORT_CYCLE: Final = Declaration("cohort-cycle", ("queue",), severity="warning")
QUOTA_OVERFLOW: Final = Declaration("quota-overflow", ("queue",), severity="warning", trainc_only=True)
UNKNOWN_QUEUE_OBJECT: Final = Declaration(
    "unknown-queue-object", ("queue",), severity="warning", trainc_only=True, fix="unsafe"
)
UNKNOWN_PRIORITY_CLASS: Final = Declaration(
    "unknown-priority-class", ("queue",), severity="warning", trainc_only=True, fix="unsafe"
)


def check(plans: Iterable[Plan], documents: Sequence[Document], *, all_faults: bool = False) -> Iterator[Diagnostic]:
    """Yield the diagnostics about the TrainJobs, and the faults of the objects that decide about them.

    all_faults   whether to yield the faults of all objects
    """
    cluster, found = kueue_objects.read(documents)
    found += queue_faults(cluster)
    compiled = [plan for plan in plans if plan.objects and not plan.failed]
    admission = Alternatives(cluster)
    if found and not all_faults:
        deciding = admission.deciding(plan.objects[0] for plan in compiled)
        found = [fault for fault in found if kueue_objects.key_of(fault.object) in deciding]
    yield from found
    for document in documents:
        yield from kueue_objects.misspelt_kind(document)
    yield from job_faults(compiled, cluster)
    for plan in compiled:
        verdict = admission.verdict(plan.objects[0])
        if verdict.never is not None:
            yield _never_admitted(plan, verdict, verdict.never)


def _never_admitted(plan: Plan, verdict: Verdict, never: Never) -> Diagnostic:
    place, related = point(plan, never.path)
    return Diagnostic.declared(
        NEVER_ADMITTED,
        f"with Kueue's defaults, queue {verdict.queue} never admits the JobSet: {never.message}",
        never.help,
        object=plan.job.id,
        field=field_of(never.path),
        place=place,
        related=(*related, *(Related(label, _nearest_present(there)) for label, there in never.related)),
    )


def _nearest_present(place: Place) -> Place:
    from trainc.provenance.tracing import nearest_existing

    return nearest_existing(place)


def undecided_notes(plans: Iterable[Plan], documents: Iterable[Document]) -> Iterator[Diagnostic]:
    """Yield one note for the TrainJobs with a queue whose admission the manifests do not decide."""
    cluster, _ = kueue_objects.read(documents)
    admission = Alternatives(cluster)
    reasons: dict[str, list[str]] = {}
    for plan in plans:
        verdict = admission.verdict(plan.objects[0])
        if verdict.undecided:
            reasons.setdefault(verdict.undecided, []).append(plan.job.id.name)
    if not reasons:
        return
    total = sum(map(len, reasons.values()))
    listed = [
        f"{reason} ({', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''})"
        for reason, names in list(reasons.items())[:SHOWN]
    ]
    more = len(reasons) - len(listed)
    yield Diagnostic.declared(
        ADMISSION_UNKNOWN,
        f"trainc cannot tell whether Kueue admits {plural(total, 'job')}: {'; '.join(listed)}"
        + (f"; and {plural(more, 'other reason')}" if more else ""),
        "add the manifests of the LocalQueue, its ClusterQueue, the flavors and the cohort to the paths",
    )


def queue_faults(cluster: Cluster) -> Iterator[Diagnostic]:
    """Yield the faults of the queues themselves."""
    for nodes in cycles(cluster):
        yield _cycle(nodes)
    for node in (*(queue.node for queue in cluster.queues.values()), *cluster.cohorts.values()):
        for (flavor, resource), quota in node.quotas.items():
            if UNLIMITED in (quota.nominal, quota.borrowing, quota.lending):
                yield Diagnostic.declared(
                    QUOTA_OVERFLOW,
                    f"a quota of {resource} in flavor {flavor} is at or above Kueue's maximum, which means unlimited",
                    "use a smaller quota; for no limit on borrowing, remove the borrowingLimit",
                    object=ObjectId.from_manifest(quota.place.document.value),
                    place=quota.place,
                )
    if cluster.flavors:
        flavors = KnownNames(sorted(cluster.flavors))
        for queue in cluster.queues.values():
            yield from _flavors(cluster, queue.node, flavors)
    if cluster.queues:
        queues = KnownNames(sorted(cluster.queues))
        for (_, name), local in cluster.local_queues.items():
            target = local.cluster_queue
            if target not in cluster.queues and ("ClusterQueue", "", target) not in cluster.unreadable:
                place = Place(local.document, ("spec", "clusterQueue"))
                yield _missing_reference(f'LocalQueue "{name}"', "ClusterQueue", target, queues, place)


def _flavors(cluster: Cluster, node: CohortNode, known: KnownNames) -> Iterator[Diagnostic]:
    document = node.document
    assert document is not None
    for i, group in enumerate((document.value.get("spec") or {}).get("resourceGroups") or ()):
        for j, flavor in enumerate(group["flavors"]):
            name = flavor["name"]
            if name not in cluster.flavors and ("ResourceFlavor", "", name) not in cluster.unreadable:
                place = Place(document, ("spec", "resourceGroups", i, "flavors", j, "name"))
                yield _missing_reference(f'ClusterQueue "{node.name}"', "ResourceFlavor", name, known, place)


def _missing_reference(owner: str, kind: str, name: str, known: KnownNames, place: Place) -> Diagnostic:
    return Diagnostic.declared(
        UNKNOWN_QUEUE_OBJECT,
        f'{owner} refers to {kind} "{name}", which the given paths do not have',
        replaced_name(place.path, name, known) or known.use(),
        object=ObjectId.from_manifest(place.document.value),
        place=place,
    )


def _cycle(nodes: list[CohortNode]) -> Diagnostic:
    first, *others = [(node, node.document) for node in nodes if node.document is not None]

    def at(document: Document) -> Place:
        return Place(
            document, ("spec", "parentName" if "parentName" in (document.value.get("spec") or {}) else "parent")
        )

    names = " -> ".join([*(node.name for node in nodes), nodes[0].name])
    return Diagnostic.declared(
        COHORT_CYCLE,
        f"cohorts form a cycle: {names}; the ClusterQueues in them admit nothing",
        "remove one parentName",
        object=ObjectId.from_manifest(first[1].value),
        field="spec.parentName",
        place=at(first[1]),
        related=tuple(Related(f"cohort {node.name}", at(document)) for node, document in others[:3]),
    )


def job_faults(plans: Iterable[Plan], cluster: Cluster) -> Iterator[Diagnostic]:
    """Yield the missing LocalQueues and priority classes of some TrainJobs.

    A namespace without any LocalQueue may have them in another repository, unless another one has one of that name.
    """
    plans = [*plans]
    by_namespace: dict[str, list[str]] = {}
    for where, local in sorted(cluster.local_queues):
        by_namespace.setdefault(where, []).append(local)
    queues = {where: KnownNames(names) for where, names in by_namespace.items()}
    classes = {kind: KnownNames(sorted(other for _, other in table)) for kind, table in cluster.others.items()}
    for plan in plans:
        jobset = plan.objects[0]
        namespace, name = plan.job.namespace, plan.labels.get(QUEUE, "")
        is_missing = (namespace, name) not in cluster.local_queues
        unreadable = ("LocalQueue", namespace, name) in cluster.unreadable
        if name and is_missing and not unreadable and (elsewhere := _other_namespaces(namespace, name, by_namespace)):
            yield _queue_elsewhere(plan, name, elsewhere, cluster)
        elif name and namespace in queues and is_missing and not unreadable:
            known = queues[namespace]
            yield _job_fault(
                plan, LABEL, UNKNOWN_QUEUE_OBJECT, f'LocalQueue "{name}"', " of its namespace", known, name
            )
        kind, name = priority_of(jobset)
        table = cluster.others.get(kind)
        if name and table and ("", name) not in table and name not in BUILT_IN:
            in_labels = kind == "WorkloadPriorityClass"
            path: Path = ("metadata", "labels") if in_labels else ("spec", "replicatedJobs")
            yield _job_fault(plan, path, UNKNOWN_PRIORITY_CLASS, f'{kind} "{name}"', "", classes[kind], name)


def _other_namespaces(namespace: str, name: str, by_namespace: Mapping[str, list[str]]) -> list[str]:
    """Return the namespaces that have a LocalQueue of a name, which a TrainJob in another namespace cannot use.

    A TrainJob without a namespace is often applied to `default`, as such a LocalQueue may be.
    """
    found = [where for where, names in by_namespace.items() if name in names]
    is_default = namespace == "" and (found == ["default"] and "" not in by_namespace)
    return [] if namespace in found or is_default else found


def _queue_elsewhere(plan: Plan, name: str, namespaces: list[str], cluster: Cluster) -> Diagnostic:
    """Return the warning for a LocalQueue that only other namespaces have."""
    place, related = point(plan, _value_path(plan, LABEL, name))
    first, own = cluster.local_queues[namespaces[0], name].document, plan.job.namespace
    word = plan.job.word
    to_do = f'add a LocalQueue to namespace "{own}"' if own else f'create the {word} in namespace "{namespaces[0]}"'
    return Diagnostic.declared(
        UNKNOWN_QUEUE_OBJECT,
        only_elsewhere(f'LocalQueue "{name}"', namespaces, own),
        f"{to_do}: a {word} can only use those of its own namespace",
        object=plan.job.id,
        place=place,
        related=(*related, Related("the other LocalQueue", Place(first, NAME))),
    )


def _job_fault(
    plan: Plan, path: Path, declared: Declaration, what: str, where: str, known: KnownNames, name: str
) -> Diagnostic:
    place, related = point(plan, _value_path(plan, path, name))
    return Diagnostic.declared(
        declared,
        f"the given paths do not have {what}, although they have others{where}",
        _name_fix(place, name, known) or f"add its manifest to the given paths, or {known.use()}",
        object=plan.job.id,
        place=place,
        related=related,
    )


def _name_fix(place: Place | Location, name: str, known: KnownNames) -> Fix | None:
    """Return the hint with a similar name; it is a fix if the place has the name."""
    near = replaced_name(place.path if isinstance(place, Place) else (), name, known, likeness=LIKENESS)
    if near is None or (isinstance(place, Place) and get(place.document.value, place.path) == name):
        return near
    return near._replace(changes=())


def _value_path(plan: Plan, path: Path, name: str) -> Path:
    """Return the path of the value `name` below a path of the JobSet."""
    from trainc.provenance.tracing.correspondence import leaves

    for leaf in leaves(get(plan.objects[0], path)):
        whole = (*path, *leaf)
        if get(plan.objects[0], whole) == name and whole[-1] in ("priorityClassName", QUEUE, PRIORITY):
            return whole
    return path


def point(plan: Plan, path: Path) -> tuple[Place, tuple[Related, ...]]:
    """Return the place of the input that caused a field of the JobSet."""
    from trainc.provenance.tracing import Trace

    if path == LABEL and LABEL[-1] not in plan.labels:
        return plan.job.at("metadata"), ()
    return Trace(plan).point(0, path)
