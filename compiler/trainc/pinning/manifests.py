"""The file of a runtime: its path, and its text without the fields that only the cluster sets.

Reads    a runtime as the API server returns it. Its name and namespace are valid.
Returns  the path below the folder, and the bytes, which depend on nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import CLUSTER_SCOPED
from trainc.emit import yaml
from trainc.files.selection import SETTINGS
from trainc.kubernetes.trees import removed_at
from trainc.pipeline.checks.runtime import RECORD
from trainc.pipeline.library import key_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree

MARK: Final = "# Pinned by trainc. To update it, run trainc runtimes pull, or trainc runtimes import.\n"
"""The first line of every pinned file."""
SERVER_METADATA: Final = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
"""Fields of an object in one cluster. Trainer adds a finalizer while a TrainJob uses the runtime."""
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
SUFFIX: Final = ".yaml"
_TAKEN: Final = frozenset({SETTINGS.removesuffix(SUFFIX), "kustomization"})
"""Names that, with the suffix, are settings files of trainc and kustomize."""
_LONGEST: Final = 200
"""The longest name of a runtime that is a file name: Linux allows 255 bytes, with the suffix of a temporary file."""
_KEPT: Final = 150


def path_of(document: Document) -> str:
    """Return the path of a runtime's file: `NAME.yaml`, or `NAMESPACE/NAME.yaml`.

    A name that would be another file, or too long, gets a part with `_`, which no valid name contains.
    """
    kind, namespace, name = key_of(document)
    if len(name) > _LONGEST:
        from hashlib import sha256

        file = f"{name[:_KEPT]}_{sha256(name.encode()).hexdigest()[:16]}"
    else:
        file = name
    if name in _TAKEN or (kind not in CLUSTER_SCOPED and not namespace):
        file = f"{kind.lower()}_{file}"
    return f"{namespace}/{file}{SUFFIX}" if namespace else f"{file}{SUFFIX}"


def files_of(documents: Iterable[Document], tag: str = "") -> dict[str, str]:
    """Return the text of each runtime's file by its path; `tag` is the release of Trainer in the cluster, if known."""
    writer = yaml.Writer()
    start = MARK + (RECORD.format(tag) if tag else "")
    return {path_of(document): start + writer.document(clean(document.value)) for document in documents}


def clean(tree: Tree, fields: Container[str] = SERVER_METADATA) -> Tree:
    """Return an object without the fields that the cluster sets, of which `fields` are those of the metadata.

    >>> clean({"metadata": {"name": "a", "uid": "1", "annotations": {LAST_APPLIED: "{}"}}, "status": {}})
    {'metadata': {'name': 'a'}}
    """
    metadata = {key: value for key, value in tree["metadata"].items() if key not in fields}
    if LAST_APPLIED in (metadata.get("annotations") or ()):
        metadata = removed_at(metadata, ("annotations", LAST_APPLIED))
        if not metadata["annotations"]:
            del metadata["annotations"]
    return {key: metadata if key == "metadata" else value for key, value in tree.items() if key != "status"}
