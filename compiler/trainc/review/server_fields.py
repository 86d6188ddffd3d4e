"""Server fields: the fields of an object that only the API server writes, which a review does not compare.

Source   Kubernetes 1.36, ObjectMeta; kubectl for the annotation of the configuration that was applied last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree

METADATA: Final = frozenset(("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"))
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def without_server_fields(tree: Tree) -> Tree:
    """Return an object without the fields that only the API server writes.

    >>> without_server_fields({"kind": "JobSet", "metadata": {"name": "a", "uid": "b"}, "status": {}})
    {'kind': 'JobSet', 'metadata': {'name': 'a'}}
    """
    metadata = tree.get("metadata")
    if not isinstance(metadata, dict):
        return tree
    own = {key: value for key, value in metadata.items() if key not in METADATA}
    annotations = own.get("annotations")
    if isinstance(annotations, dict) and LAST_APPLIED in annotations:
        own["annotations"] = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
        if not own["annotations"]:
            del own["annotations"]
    if len(own) == len(metadata) and own == metadata and "status" not in tree:
        return tree
    return {key: own if key == "metadata" else value for key, value in tree.items() if key != "status"}
