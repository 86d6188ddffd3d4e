"""The internal annotations of kustomize and kpt: an item's file and its index in the file.

Reads    an item.
Returns  its file and its index there; and the item without these annotations. They are not the user's, and would be
         copied from a TrainJob to all its objects.
Source   kyaml's kioutil, kustomize's api/internal/utils (5.7); kpt's package path. The annotation that kpt reads on
         apply (config.kubernetes.io/depends-on) is the user's and is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.trees import get
from trainc.source.stream_origin import INDEXES, PATHS, index, kustomize

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree

PREFIXES: Final = ("internal.config.kubernetes.io/", "kustomize.config.k8s.io/", "internal.kpt.dev/")
KEYS: Final = frozenset(
    {
        "alpha.config.kubernetes.io/transformations",
        "config.k8s.io/function",
        "config.k8s.io/id",
        "config.kubernetes.io/function",
        "config.kubernetes.io/index",
        "config.kubernetes.io/local-config",
        "config.kubernetes.io/merge-source",
        "config.kubernetes.io/origin",
        "config.kubernetes.io/package",
        "config.kubernetes.io/path",
    }
)
PACKAGE: Final = "internal.config.kubernetes.io/package-path"
"""The package that kpt resolves a path against, in nested packages."""
LOCAL: Final = "config.kubernetes.io/local-config"


class PackageLocation(NamedTuple):
    """The location of an item in a package."""

    path: str
    """The file; empty if the item has no path annotation."""
    number: int
    """The item's index in the file, from 0."""
    package: str | None
    keys: tuple[str, ...]
    """The location annotations that the item has."""

    @property
    def file(self) -> tuple[str | None, str]:
        """The file's identity in nested packages."""
        return self.package, self.path

    def on(self, tree: Tree) -> Tree:
        """Return an object with the annotations of this location."""
        if not self.path:
            return tree
        added = {key: self.path if key in PATHS else str(self.number) for key in self.keys}
        if self.package is not None:
            added[PACKAGE] = self.package
        metadata = tree["metadata"]
        return tree | {"metadata": metadata | {"annotations": metadata.get("annotations", {}) | added}}


def annotations_of(item: object) -> dict[str, Any]:
    """Return the annotations of an item, which may be malformed."""
    found = get(item, ("metadata", "annotations"))
    return found if isinstance(found, dict) else {}


def location(item: object) -> PackageLocation:
    """Return the location of an item."""
    annotations = annotations_of(item)
    path = next((annotations[key] for key in PATHS if isinstance(annotations.get(key), str)), "")
    package = annotations.get(PACKAGE)
    keys = tuple(key for key in (*PATHS, *INDEXES) if key in annotations)
    return PackageLocation(path, index(annotations) or 0, package if isinstance(package, str) else None, keys)


def file_of(item: object) -> str:
    """Return an item's file. kustomize sets it only with buildMetadata: [originAnnotations]."""
    return location(item).path or kustomize(annotations_of(item)).get("path", "")


def is_local(item: object) -> bool:
    """Return whether an item is local configuration, which stays in the package and out of the cluster."""
    return annotations_of(item).get(LOCAL) == "true"


def without_internal(item: object) -> object:
    """Return the item without internal annotations; the same item if it has none."""
    annotations = annotations_of(item)
    kept = {key: value for key, value in annotations.items() if not (key in KEYS or key.startswith(PREFIXES))}
    if not isinstance(item, dict) or len(kept) == len(annotations):
        return item
    metadata = {key: value for key, value in item["metadata"].items() if key != "annotations"}
    return item | {"metadata": metadata | ({"annotations": kept} if kept else {})}
