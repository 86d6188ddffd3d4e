"""The Kueue objects of a repository: queues, cohorts, flavors, and the objects that they refer to.

Reads    documents of other kinds than TrainJobs and runtimes, in Kueue's versions v1beta1 and v1beta2.
Returns  `Cluster`: the valid objects by name, with quotas as integers in Kueue's units (thousandths of a CPU, whole
         units of all other resources); and a diagnostic for each object that the API server would reject.
Source   Kueue v0.19: its CRDs, the conversion between their versions, and resources.ResourceValue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Document, ObjectId, Path, Place, Related
from trainc.kubernetes import objectmeta
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import Tree, get

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DUPLICATE_QUEUE: Final = Declaration("duplicate-queue", ("read",), "Duplicate name of a Kueue object", trainc_only=True)

RELEASE: Final = "kueue-0.19"
GROUP: Final = "kueue.x-k8s.io"
READ: Final = ("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor")
"""The kinds that have a schema."""
NAMED: Final = frozenset(
    {"AdmissionCheck", "LimitRange", "Namespace", "PriorityClass", "RuntimeClass", "Topology", "WorkloadPriorityClass"}
)
"""The kinds of which names, or a few fields, are read without a schema."""
NAMESPACED: Final = frozenset({"LocalQueue", "LimitRange"})
UNLIMITED: Final = 2**63 - 1
"""The amount from which Kueue treats a quota as unlimited."""

Cell = tuple[str, str]
"""A flavor and a resource."""


class Quota(NamedTuple):
    """The quota of one flavor and resource."""

    nominal: int
    borrowing: int | None
    lending: int | None
    place: Place
    """The nominal quota in the manifest."""


class ResourceGroup(NamedTuple):
    """A resource group: resources that come from one flavor."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]
    """In the order in which they are tried."""
    place: Place


class CohortNode(NamedTuple):
    """A ClusterQueue or a Cohort, as a node of the cohort tree."""

    name: str
    parent: str
    """The cohort's name; empty without one."""
    quotas: dict[Cell, Quota]
    document: Document | None = None
    """None for a cohort without an object."""


class ClusterQueue(NamedTuple):
    """A ClusterQueue."""

    node: CohortNode
    groups: tuple[ResourceGroup, ...]
    selector: Tree | None
    """The namespaceSelector; None matches nothing."""
    stopped: bool
    borrows_last: bool
    """Whether the next flavor is tried before this one borrows (flavorFungibility)."""
    checks: tuple[str, ...]
    """The names of its AdmissionChecks."""

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.node.name

    def group_of(self, resource: str) -> ResourceGroup | None:
        """Return the group that covers a resource."""
        return next((group for group in self.groups if resource in group.resources), None)

    @property
    def flavors(self) -> list[str]:
        """All flavors, in the order of the groups."""
        return [flavor for group in self.groups for flavor in group.flavors]


class LocalQueue(NamedTuple):
    """A LocalQueue."""

    cluster_queue: str
    stopped: bool
    document: Document


class Flavor(NamedTuple):
    """A ResourceFlavor."""

    name: str
    labels: dict[str, str]
    taints: list[Tree]
    tolerations: list[Tree]
    topology: str
    """The Topology's name; empty without one."""
    document: Document


class Cluster(NamedTuple):
    """The objects of a repository that decide about admission."""

    queues: dict[str, ClusterQueue]
    cohorts: dict[str, CohortNode]
    local_queues: dict[tuple[str, str], LocalQueue]
    """By namespace and name."""
    flavors: dict[str, Flavor]
    others: dict[str, dict[tuple[str, str], Tree]]
    """Objects of `NAMED` by kind, then by namespace (empty if the kind has none) and name."""
    unreadable: frozenset[tuple[str, str]]
    """Kind and name of the objects with errors, which are left out."""

    def has(self, kind: str, name: str) -> bool:
        """Return whether the repository has a cluster-scoped object of `NAMED`."""
        return ("", name) in self.others.get(kind, {})


def is_read(tree: Tree) -> bool:
    """Return whether an object is one of those that `read` reads."""
    kind, version = tree.get("kind"), tree.get("apiVersion")
    if kind in READ:
        return isinstance(version, str) and version.partition("/")[0] == GROUP
    return kind in NAMED


def read(documents: Iterable[Document]) -> tuple[Cluster, list[Diagnostic]]:
    """Return the objects among some documents, and the diagnostics of invalid ones."""
    found: list[Diagnostic] = []
    first: dict[tuple[str, str, str], Document] = {}
    cluster = Cluster({}, {}, {}, {}, {}, frozenset())
    unreadable: set[tuple[str, str]] = set()
    for document in documents:
        if not is_read(document.value):
            continue
        id = ObjectId.from_manifest(document.value)
        if not id.name:
            continue
        namespace = id.namespace if id.kind in NAMESPACED else ""
        known = first.setdefault((id.kind, namespace, id.name), document)
        if id.kind in NAMED:
            cluster.others.setdefault(id.kind, {}).setdefault((namespace, id.name), document.value)
        elif known is not document:
            found.append(_duplicate(id, document, known))
        elif "{{" in document.text:
            unreadable.add((id.kind, id.name))
        elif faults := list(_add(cluster, document, id)):
            unreadable.add((id.kind, id.name))
            found += faults
    return cluster._replace(unreadable=frozenset(unreadable)), found


def _duplicate(id: ObjectId, document: Document, first: Document) -> Diagnostic:
    where = f' in namespace "{id.namespace}"' if id.namespace and id.kind in NAMESPACED else ""
    return Diagnostic.declared(
        DUPLICATE_QUEUE,
        f'two {id.kind}s{where} are named "{id.name}"',
        "rename or remove one of them: the cluster would keep the one that is applied last",
        object=id,
        field="metadata.name",
        place=Place(document, ("metadata", "name")),
        related=(Related("the first one", Place(first, ("metadata", "name"))),),
    )


def _add(cluster: Cluster, document: Document, id: ObjectId) -> Iterator[Diagnostic]:
    """Add one object to the cluster, or yield the reasons why the API server rejects it."""
    from trainc.kueue import rules

    admitted = load(id.kind, RELEASE).admit(document.value)
    metadata = objectmeta.check(document.value.get("metadata"), namespaced=id.kind in NAMESPACED)
    violations = [*metadata, *admitted.violations]
    spec: Tree = admitted.value.get("spec") or {} if not violations else {}
    violations += [] if violations else rules.violations(id.kind, spec)
    for violation in violations:
        from trainc.source.quoting import as_written

        place = Place(document, violation.path, key=violation.key)
        yield Diagnostic(
            id=violation.rule,
            severity="error",
            stage=violation.stage,
            message=violation.message,
            help=as_written(violation.help, place),
            object=id,
            field=violation.field,
            place=place,
        )
    if violations:
        return
    if id.kind == "ClusterQueue":
        cluster.queues[id.name] = _cluster_queue(id.name, spec, document)
    elif id.kind == "Cohort":
        parent = spec.get("parentName") or spec.get("parent") or ""
        cluster.cohorts[id.name] = CohortNode(id.name, parent, _quotas(spec, document), document)
    elif id.kind == "LocalQueue":
        target, stopped = spec.get("clusterQueue", ""), spec.get("stopPolicy", "None") != "None"
        cluster.local_queues[id.namespace, id.name] = LocalQueue(target, stopped, document)
    else:
        cluster.flavors[id.name] = Flavor(
            name=id.name,
            labels=spec.get("nodeLabels") or {},
            taints=spec.get("nodeTaints") or [],
            tolerations=spec.get("tolerations") or [],
            topology=spec.get("topologyName") or "",
            document=document,
        )


def _cluster_queue(name: str, spec: Tree, document: Document) -> ClusterQueue:
    listed = get(spec, ("admissionChecksStrategy", "admissionChecks"), [])
    return ClusterQueue(
        node=CohortNode(name, spec.get("cohortName") or spec.get("cohort") or "", _quotas(spec, document), document),
        groups=tuple(
            ResourceGroup(
                tuple(group["coveredResources"]),
                tuple(flavor["name"] for flavor in group["flavors"]),
                Place(document, ("spec", "resourceGroups", index, "coveredResources")),
            )
            for index, group in enumerate(spec.get("resourceGroups") or ())
        ),
        selector=spec.get("namespaceSelector"),
        stopped=spec.get("stopPolicy", "None") != "None",
        borrows_last=get(spec, ("flavorFungibility", "whenCanBorrow")) == "TryNextFlavor",
        checks=(*(spec.get("admissionChecks") or ()), *(check["name"] for check in listed)),
    )


def _quotas(spec: Tree, document: Document) -> dict[Cell, Quota]:
    found = {}
    for path, flavor, resource in cells(spec):
        borrowing, lending = (
            None if resource.get(key) is None else amount_of(resource["name"], resource[key])
            for key in ("borrowingLimit", "lendingLimit")
        )
        place = Place(document, (*path, "nominalQuota"))
        nominal = amount_of(resource["name"], resource["nominalQuota"])
        found[flavor, resource["name"]] = Quota(nominal, borrowing, lending, place)
    return found


def cells(spec: Tree) -> Iterator[tuple[Path, str, Tree]]:
    """Yield path, flavor and the quotas of one resource, for each flavor and resource of a queue's or cohort's spec."""
    for i, group in enumerate(spec.get("resourceGroups") or ()):
        for j, flavor in enumerate(group["flavors"]):
            for k, resource in enumerate(flavor["resources"]):
                path: Path = ("spec", "resourceGroups", i, "flavors", j, "resources", k)
                yield path, flavor["name"], resource


def amount_of(resource: str, quantity: Any) -> int:
    """Return a quantity in Kueue's unit, at most `UNLIMITED`; raises QuantityError."""
    return min(amount(resource, Quantity.from_json(quantity)), UNLIMITED)


def amount(resource: str, quantity: Quantity) -> int:
    """Return a quantity as an integer, rounded up: thousandths for cpu, whole units for other resources.

    >>> amount("cpu", Quantity.parse("1500m")), amount("memory", Quantity.parse("1Ki"))
    (1500, 1024)
    """
    return quantity.milli_value() if resource == "cpu" else quantity.value()


def text_of(resource: str, value: int) -> str:
    """Return an amount as a quantity, with a binary suffix for memory and storage.

    >>> text_of("cpu", 1500), text_of("memory", 16 * 2**30), text_of("nvidia.com/gpu", 8)
    ('1500m', '16Gi', '8')
    """
    if value >= UNLIMITED:
        return "unlimited"
    if resource == "cpu":
        return str(Quantity(value, -3, "DecimalSI"))
    binary = resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
    return str(Quantity(value, 0, "BinarySI" if binary else "DecimalSI"))
