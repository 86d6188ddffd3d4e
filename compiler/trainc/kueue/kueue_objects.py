"""The Kueue objects of a repository: queues, cohorts, flavors, and the objects that they refer to.

Reads    documents of other kinds than TrainJobs and runtimes, in Kueue's versions v1beta1 and v1beta2.
Returns  `Cluster`: the valid objects by name, with quotas as integers in Kueue's units (thousandths of a CPU, whole
         units of all other resources); and a warning for each fault: an object that the API server would reject, one
         with placeholders, and one whose specs differ in several files.
Source   Kueue v0.19: its CRDs, the conversion between their versions, and resources.ResourceValue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import KUEUE_SCHEMAS, OF_KUEUE
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Document, ObjectId, Path, Place, Related
from trainc.kubernetes import objectmeta
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import Tree, get

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trainc.kubernetes.violations import Violation

DUPLICATE_QUEUE: Final = Declaration("duplicate-queue", ("read",), severity="warning", trainc_only=True)

GROUP: Final = "kueue.x-k8s.io"
NAMED: Final = frozenset(
    {"AdmissionCheck", "LimitRange", "Namespace", "PriorityClass", "RuntimeClass", "Topology", "WorkloadPriorityClass"}
)
"""The kinds of which names, or a few fields, are read without a schema."""
KINDS: Final = frozenset(
    {
        *OF_KUEUE,
        *("AdmissionCheck", "MultiKueueCluster", "MultiKueueConfig", "ProvisioningRequestConfig", "Topology"),
        *("Workload", "WorkloadPriorityClass"),
    }
)
"""The kinds of Kueue's group."""
NAMESPACED: Final = frozenset({"LocalQueue", "LimitRange"})
UNLIMITED: Final = 2**63 - 1
"""The amount from which Kueue treats a quota as unlimited."""

Cell = tuple[str, str]
"""A flavor and a resource."""
Key = tuple[str, str, str]
"""Kind, namespace (empty for a cluster-scoped kind), name."""


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


Value = ClusterQueue | CohortNode | LocalQueue | Flavor | Tree
"""The object of a key."""


class Cluster(NamedTuple):
    """The objects of a repository that decide about admission."""

    queues: dict[str, ClusterQueue]
    cohorts: dict[str, CohortNode]
    local_queues: dict[tuple[str, str], LocalQueue]
    """By namespace and name."""
    flavors: dict[str, Flavor]
    others: dict[str, dict[tuple[str, str], Tree]]
    """Objects of `NAMED` by kind, then by namespace (empty if the kind has none) and name."""
    unreadable: set[Key]
    """The objects with errors, which are left out."""
    documents: dict[Key, list[Document]]
    """The documents of each object."""
    alternatives: dict[Key, list[Value | None]]
    """The different objects of one name, the first one included; None for one with errors."""

    def has(self, kind: str, name: str) -> bool:
        """Return whether the repository has a cluster-scoped object of `NAMED`."""
        return ("", name) in self.others.get(kind, {})

    def table(self, kind: str) -> dict[Any, Any]:
        """Return the objects of a kind."""
        tables: dict[str, dict[Any, Any]] = {
            "ClusterQueue": self.queues,
            "Cohort": self.cohorts,
            "LocalQueue": self.local_queues,
            "ResourceFlavor": self.flavors,
        }
        return tables[kind] if kind in tables else self.others.setdefault(kind, {})

    def set_object(self, key: Key, value: Value | None) -> None:
        """Add the object of a key, in place of an earlier one; None for one with errors."""
        kind, namespace, name = key
        row = (namespace, name) if kind == "LocalQueue" or kind in NAMED else name
        if value is None:
            self.table(kind).pop(row, None)
            self.unreadable.add(key)
        else:
            self.table(kind)[row] = value
            self.unreadable.discard(key)

    def with_objects(self, chosen: Mapping[Key, Value | None]) -> Cluster:
        """Return a copy with other objects."""
        copied = self._replace(
            queues=dict(self.queues),
            cohorts=dict(self.cohorts),
            local_queues=dict(self.local_queues),
            flavors=dict(self.flavors),
            others={kind: dict(table) for kind, table in self.others.items()},
            unreadable=set(self.unreadable),
        )
        for key, value in chosen.items():
            copied.set_object(key, value)
        return copied


def is_read(tree: Tree) -> bool:
    """Return whether an object is one of those that `read` reads."""
    kind, version = tree.get("kind"), tree.get("apiVersion")
    if kind in OF_KUEUE:
        return isinstance(version, str) and version.partition("/")[0] == GROUP
    return kind in NAMED


def read(documents: Iterable[Document]) -> tuple[Cluster, list[Diagnostic]]:
    """Return the objects among some documents, and the diagnostics of duplicate and invalid ones.

    Objects of one kind and name with equal specs are one object. Where they differ, the cluster has the first one, and
    all of them are its alternatives.
    """
    documents_by_key: dict[Key, list[Document]] = {}
    for document in documents:
        if is_read(document.value) and (key := key_of(ObjectId.from_manifest(document.value)))[2]:
            documents_by_key.setdefault(key, []).append(document)
    cluster = Cluster({}, {}, {}, {}, {}, set(), documents_by_key, {})
    found: list[Diagnostic] = []
    for key, listed in documents_by_key.items():
        different = _different(listed) if len(listed) > 1 else listed
        parsed = [_parsed(document, key) for document in different]
        if len(parsed) > 1:
            cluster.alternatives[key] = [value for value, _ in parsed]
            found += [_duplicate(document, different[0]) for document in different[1:] if key[0] in OF_KUEUE]
        found += [diagnostic for _, diagnostics in parsed for diagnostic in diagnostics]
        cluster.set_object(key, parsed[0][0])
    return cluster, found


def misspelt_kind(document: Document) -> Iterator[Diagnostic]:
    """Yield an error for a kind of Kueue's group that differs in case or in one letter from one that is read."""
    kind, version = document.value.get("kind"), document.value.get("apiVersion")
    if kind in KINDS or not isinstance(kind, str) or not isinstance(version, str) or version.partition("/")[0] != GROUP:
        return
    from trainc.base.fixes import replaced_name
    from trainc.base.suggestions import is_one_edit
    from trainc.frontends import UNKNOWN_KIND

    near = next((each for each in KINDS if each.lower() == kind.lower() or is_one_edit(kind, each)), None)
    if near is not None:
        yield Diagnostic.declared(
            UNKNOWN_KIND,
            f'unknown kind "{kind}" in {GROUP}',
            replaced_name(("kind",), kind, [near]) or "",
            object=ObjectId.from_manifest(document.value),
            place=Place(document, ("kind",)),
        )


def key_of(id: ObjectId) -> Key:
    """Return the key of an object; a namespace counts only for namespaced kinds."""
    return id.kind, id.namespace if id.kind in NAMESPACED else "", id.name


def _different(documents: Iterable[Document]) -> list[Document]:
    """Return the first of each group of objects with equal specs; objects of `NAMED` are compared as a whole."""
    import json

    first: dict[str, Document] = {}
    for document in documents:
        tree = document.value
        content = get(tree, ("spec",), {}) if tree["kind"] in OF_KUEUE else tree
        first.setdefault(json.dumps(content, sort_keys=True), document)
    return list(first.values())


def _duplicate(document: Document, first: Document) -> Diagnostic:
    id = ObjectId.from_manifest(document.value)
    where = f' in namespace "{id.namespace}"' if id.namespace and id.kind in NAMESPACED else ""
    return Diagnostic.declared(
        DUPLICATE_QUEUE,
        f'two {id.kind}s{where} with different specs are named "{id.name}"',
        "rename or remove one of them: the cluster would keep the one that is applied last",
        object=id,
        field="metadata.name",
        place=Place(document, ("metadata", "name")),
        related=(Related("the first one", Place(first, ("metadata", "name"))),),
    )


def _parsed(document: Document, key: Key) -> tuple[Value | None, list[Diagnostic]]:
    """Return an object, or None if it has placeholders or the API server rejects it, and its diagnostics."""
    from trainc.kueue import rules

    kind, _, name = key
    if kind in NAMED:
        return document.value, []
    if _is_template(document):
        return None, [_not_rendered(document)]
    admitted = load(kind, KUEUE_SCHEMAS).admit(document.value)
    metadata = objectmeta.check(document.value.get("metadata"), namespaced=kind in NAMESPACED)
    violations = [*metadata, *admitted.violations]
    rejected = any(violation.severity == "error" for violation in violations)
    spec: Tree = admitted.value.get("spec") or {} if not rejected else {}
    broken = [] if rejected else list(rules.violations(kind, spec))
    diagnostics = [_fault(document, violation) for violation in (*violations, *broken)]
    return None if rejected or broken else _value(kind, name, spec, document), diagnostics


def _fault(document: Document, violation: Violation) -> Diagnostic:
    """Return a violation as a warning: the object is only an input to a check."""
    from trainc.source.fix_edits import as_written

    place = Place(document, violation.path, key=violation.key)
    help, fix = as_written(violation.help, violation.fix, document)
    return Diagnostic(
        id=violation.rule,
        severity="warning",
        stage=violation.stage,
        message=violation.message,
        help=help,
        object=ObjectId.from_manifest(document.value),
        field=violation.field,
        place=place,
        fix=fix,
    )


def _is_template(document: Document) -> bool:
    """Return whether a value has a placeholder of Go templates or Jinja; a comment may have one."""
    return "{{" in repr(document.value)


def _not_rendered(document: Document) -> Diagnostic:
    from trainc.frontends.templates import TEMPLATE_NOT_RENDERED

    id = ObjectId.from_manifest(document.value)
    found = Diagnostic.declared(
        TEMPLATE_NOT_RENDERED,
        f'{id.kind} "{id.name}" has placeholders, so admission by it is unknown',
        "render the template, and check its output",
        object=id,
        field="metadata.name",
        place=Place(document, ("metadata", "name")),
    )
    return found._replace(severity="warning")


def _value(kind: str, name: str, spec: Tree, document: Document) -> Value:
    """Return the object with an admitted spec."""
    if kind == "ClusterQueue":
        return _cluster_queue(name, spec, document)
    if kind == "Cohort":
        return CohortNode(name, spec.get("parentName") or spec.get("parent") or "", _quotas(spec, document), document)
    if kind == "LocalQueue":
        return LocalQueue(spec.get("clusterQueue", ""), spec.get("stopPolicy", "None") != "None", document)
    return Flavor(
        name=name,
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
