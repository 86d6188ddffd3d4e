"""Schemas for editors: a sentence for each field, and the fields of an object's metadata.

Reads    a schema, and schemas/descriptions.json: sentences by the end of a field's path, without the indices of lists.
         A path begins with the kind. Of the ends of a path with a sentence, the longest one applies.
Returns  the schema with descriptions. The CRDs' schemas in schemas/ have none: the sentences are trainc's own. A field
         of a pod without a sentence has a link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_table
from trainc.base.kinds import KINDS

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree

    Names = tuple[str, ...]

SPECIAL_CONTAINERS: Final = frozenset({"initContainers", "ephemeralContainers"})
"""Lists of containers whose fields have the sentences of `containers`."""
TEXT: Final = {"type": "string"}
TEXTS: Final = {"type": "object", "additionalProperties": TEXT}
QUEUE_NAME: Final = "kueue.x-k8s.io/queue-name"
REFERENCE: Final = "https://kubernetes.io/docs/reference/kubernetes-api"
PARTS_OF_POD: Final = {
    "containers": ("Container", f"{REFERENCE}/workload-resources/pod-v1/#Container"),
    "volumes": ("Volume", f"{REFERENCE}/config-and-storage-resources/volume/#Volume"),
}
POD: Final = ("PodSpec", f"{REFERENCE}/workload-resources/pod-v1/#PodSpec")
JOBS: Final = frozenset(row.name for row in KINDS if row.role == "job")


def sentence(kind: str, path: Names) -> str:
    """Return the sentence for a field of a kind; empty without one.

    >>> sentence("PyTorchJob", ("spec", "pytorchReplicaSpecs", "template", "spec", "initContainers", "image"))
    'The image; pin a tag or a digest'
    """
    table = data_table("descriptions")
    words = (kind, *_common(path))
    ends = (".".join(words[begin:]) for begin in range(len(words)))
    return next((table[end] for end in ends if end in table), "")


def _common(path: Names) -> Names:
    return (*("containers" if word in SPECIAL_CONTAINERS else word for word in path[:-1]), path[-1])


def described(kind: str, schema: Tree) -> Tree:
    """Return the schema of a kind with descriptions."""
    return _Describing(kind, _with_metadata(kind, schema)).schema()


def _with_metadata(kind: str, schema: Tree) -> Tree:
    """Return a schema with the fields of the metadata that its users write; the CRDs leave them to the API server."""
    fields = dict.fromkeys(("name", "namespace", "generateName"), TEXT) | {"labels": TEXTS, "annotations": TEXTS}
    group = schema["x-kubernetes-group-version-kind"][0]["group"]
    if kind in data_table("cluster-scoped").get(group, ()):
        del fields["namespace"]
    if kind in JOBS:
        fields["labels"] = TEXTS | {"properties": {QUEUE_NAME: TEXT}}
    metadata = schema["properties"]["metadata"] | {"properties": fields}
    return schema | {"properties": schema["properties"] | {"metadata": metadata}}


class _Describing:
    """A walk through a schema. A definition has the sentences of the first field that refers to it."""

    def __init__(self, kind: str, schema: Tree) -> None:
        self.kind, self.whole = kind, schema
        self.definitions: Tree = {}
        self.pods: set[Names] = set()

    def schema(self) -> Tree:
        """Return the schema with descriptions."""
        root = self._node(self.whole, ())
        return root | {"$defs": self.definitions} if "$defs" in self.whole else root

    def _node(self, node: Tree, path: Names) -> Tree:
        if "$ref" in node:
            self._define(node["$ref"].rpartition("/")[2], path)
        new: dict[str, Any] = {}
        if "containers" in node.get("properties", {}):
            self.pods.add(path)
        if "properties" in node:
            new["properties"] = {name: self._field(below, (*path, name)) for name, below in node["properties"].items()}
        for keyword in ("items", "additionalProperties"):
            if isinstance(node.get(keyword), dict):
                new[keyword] = self._node(node[keyword], path)
        return node | new

    def _field(self, node: Tree, path: Names) -> Tree:
        new = self._node(node, path)
        found = sentence(self.kind, path) or self._link(path)
        return {"description": found, **new} if found else new

    def _link(self, path: Names) -> str:
        """Return the page about a field of a pod; empty for any other field."""
        for size in range(1, len(path)):
            if path[:size] in self.pods:
                name, address = PARTS_OF_POD.get(_common(path[size:])[0], POD) if size + 1 < len(path) else POD
                return f"{name} in the Kubernetes API reference: {address}"
        return ""

    def _define(self, name: str, path: Names) -> None:
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self._node(self.whole["$defs"][name], path)
