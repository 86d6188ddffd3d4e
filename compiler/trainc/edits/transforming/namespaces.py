"""The namespaces of an environment: the documents that move, and those that `shared` names.

Reads    a document: its own namespace, and the fields that refer to a namespace.
Returns  the document with the new namespaces, and the setting of each. Whether a namespace moves depends on its name
         only, not on the other documents.
Source   Kubernetes 1.36, for the fields that refer to a namespace. The API server sets the label NAME_LABEL.
         As in kustomize, an unknown kind is in a namespace, unless a CustomResourceDefinition says otherwise.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_table
from trainc.base.kinds import EACH
from trainc.diagnostics import ObjectId
from trainc.kubernetes.trees import get, put, values_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trainc.diagnostics import Document, Path
    from trainc.edits.environment import Environment, Setting
    from trainc.edits.patching.targets import Target
    from trainc.kubernetes.trees import Tree

NAMESPACE: Final = ("metadata", "namespace")
NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The label of each namespace with its name."""
CLIENT: Final = ("clientConfig", "service", "namespace")
SUBJECTS: Final = (("subjects", EACH, "namespace"),)
WEBHOOKS: Final = (("webhooks", EACH, *CLIENT),)
FIELDS: Final[Mapping[tuple[str, str], tuple[tuple[str, ...], ...]]] = {
    ("", "Namespace"): (("metadata", "name"), ("metadata", "labels", NAME_LABEL)),
    ("", "PersistentVolume"): (("spec", "claimRef", "namespace"),),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): WEBHOOKS,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (("spec", "conversion", "webhook", *CLIENT),),
    ("apiregistration.k8s.io", "APIService"): (("spec", "service", "namespace"),),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): SUBJECTS,
    ("rbac.authorization.k8s.io", "RoleBinding"): SUBJECTS,
}
"""The fields with the name of a namespace, by API group and kind. Objects of any kind have selectors of namespaces."""
CLUSTER_SCOPED: Final[Mapping[str, Sequence[str]]] = data_table("cluster-scoped")
"""The kinds by API group. A group's versions have the same kinds."""


class Namespaces:
    """The namespaces of the documents of one run."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.seen: set[str] = set()
        """The namespaces that the documents name."""
        self.moved: dict[str, str] = {}
        """The new names of the namespaces that have moved, by the old ones."""
        self._matched: set[int] = set()
        """The indices of the items of `shared` that matched a document or a namespace."""

    @cached_property
    def _targets(self) -> list[Target]:
        if not self.environment.shared:
            return []
        from trainc.edits.patching.targets import Target  # imports the whole package of the patches

        return [Target(**({"kind": ""} | setting.value)) for setting in self.environment.shared]

    def is_shared(self, source: Tree) -> bool:
        """Return whether `shared` names an object, which is `source` in its file."""
        if not self.environment.shared:
            return False
        id = ObjectId.from_source(source)
        namespace = id.name if (id.apiVersion, id.kind) == ("v1", "Namespace") else ""
        found = [
            index
            for index, target in enumerate(self._targets)
            if target.matches(source) or (namespace and target.is_namespace(namespace))
        ]
        self._matched.update(found)
        return bool(found)

    def new_name(self, namespace: str) -> Setting | None:
        """Return the new name of a namespace, with its setting; None if it keeps its own."""
        self.seen.add(namespace)
        kept = [index for index, target in enumerate(self._targets) if target.is_namespace(namespace)]
        self._matched.update(kept)
        setting = None if kept else self.environment.namespace_of(namespace)
        if setting is not None:
            self.moved[namespace] = setting.value
        return setting

    def moved_tree(self, tree: Tree) -> tuple[Tree, dict[Path, Setting]]:
        """Return an object that is not shared with its new namespaces, and the setting of each changed field."""
        written = {}
        for path, name in named_namespaces(tree):
            if (setting := self.new_name(name)) is not None:
                tree = put(tree, path, setting.value)
                written[path] = setting
        return tree, written

    def unmatched_items(self) -> Iterator[Setting]:
        """Yield the items of `shared` that matched nothing."""
        yield from (item for index, item in enumerate(self.environment.shared) if index not in self._matched)


def named_namespaces(tree: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the fields of an object that have the name of a namespace, with the name."""
    id = ObjectId.from_manifest(tree)
    group, slash, _ = id.apiVersion.partition("/")
    found: list[tuple[Path, Any]] = [(NAMESPACE, get(tree, NAMESPACE))]
    for path in FIELDS.get((group if slash else "", id.kind), ()):
        found += values_at(tree, path)
    found += _selected(tree)
    yield from ((path, name) for path, name in found if isinstance(name, str) and name)


def _selected(tree: Tree) -> Iterator[tuple[Path, Any]]:
    """Yield the names of namespaces in the selectors of namespaces and in the affinity of pods."""
    rest: list[tuple[Path, Any]] = [((), tree)]
    while rest:
        at, value = rest.pop()
        if isinstance(value, dict):
            yield from _names_in_selector((*at, "namespaceSelector"), value.get("namespaceSelector"))
            if "topologyKey" in value:
                yield from values_at(value, ("namespaces", EACH), at)
            rest += (((*at, key), below) for key, below in value.items() if isinstance(below, dict | list))
        else:
            rest += (((*at, index), below) for index, below in enumerate(value) if isinstance(below, dict | list))


def _names_in_selector(at: Path, selector: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the names in a selector: of labels, or the list of names that the Prometheus operator has."""
    if not isinstance(selector, dict):
        return
    yield from values_at(selector, ("matchLabels", NAME_LABEL), at)
    yield from values_at(selector, ("matchNames", EACH), at)
    for path, key in values_at(selector, ("matchExpressions", EACH, "key")):
        if key == NAME_LABEL:
            there = path[:-1]
            yield from values_at(get(selector, there), ("values", EACH), (*at, *there))


def is_namespaced(id: ObjectId, defined: Mapping[tuple[str, str], bool]) -> bool:
    """Return whether an object is in a namespace; a document that is not a named object is not.

    defined   the scopes of the kinds that the run's documents define
    """
    if not (id.apiVersion and id.kind and id.name):
        return False
    group, slash, _ = id.apiVersion.partition("/")
    key = (group if slash else "", id.kind)
    return defined[key] if key in defined else key[1] not in CLUSTER_SCOPED.get(key[0], ())


def namespaced_kinds(documents: Iterable[Document]) -> dict[tuple[str, str], bool]:
    """Return whether the kinds of CustomResourceDefinitions are namespaced, by API group and kind."""
    found = {}
    for document in documents:
        if document.value.get("kind") == "CustomResourceDefinition":
            group, kind = (get(document.value, ("spec", *path)) for path in (("group",), ("names", "kind")))
            if isinstance(group, str) and isinstance(kind, str):
                found[group, kind] = get(document.value, ("spec", "scope")) != "Cluster"
    return found
