"""What kustomize and kpt note on an item for themselves: where it is from, and which one it is.

Reads    an item.
Returns  its file and its place there; and the item without these notes: they are not the user's, and would go from a
         TrainJob to every object that is made of it.
Source   kyaml's kioutil, kustomize's api/internal/utils (5.7); kpt's package path. What kpt reads when it applies
         (config.kubernetes.io/depends-on) is the user's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import get
from trainc.records import NamedTuple

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
PATHS: Final = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")
INDEXES: Final = ("internal.config.kubernetes.io/index", "config.kubernetes.io/index")
"""The name of today, and the one before it, which kustomize and kpt keep up, too."""
PACKAGE: Final = "internal.config.kubernetes.io/package-path"
"""What kpt takes a path to be relative to, in a package of packages."""
LOCAL: Final = "config.kubernetes.io/local-config"
ORIGIN: Final = "config.kubernetes.io/origin"


class Home(NamedTuple):
    """Where an item is written."""

    path: str
    """Empty where nobody says."""
    number: int
    """Which document of the file it is, from 0."""
    package: str | None
    keys: tuple[str, ...]
    """The annotations that say so on the item."""

    @property
    def file(self) -> tuple[str | None, str]:
        """Which file it is, among all packages."""
        return self.package, self.path

    def on(self, tree: Tree) -> Tree:
        """An object with annotations that say so."""
        if not self.path:
            return tree
        said = {key: self.path if key in PATHS else str(self.number) for key in self.keys}
        if self.package is not None:
            said[PACKAGE] = self.package
        metadata = tree["metadata"]
        return tree | {"metadata": metadata | {"annotations": metadata.get("annotations", {}) | said}}


def of(item: object) -> dict[str, Any]:
    """The annotations of an item, whatever state it is in."""
    found = get(item, ("metadata", "annotations"))
    return found if isinstance(found, dict) else {}


def home(item: object) -> Home:
    """Where an item is written."""
    said = of(item)
    path = next((said[key] for key in PATHS if isinstance(said.get(key), str)), "")
    index = next((number for key in INDEXES if (number := _number(said.get(key))) is not None), 0)
    package = said.get(PACKAGE)
    keys = tuple(key for key in (*PATHS, *INDEXES) if key in said)
    return Home(path, index, package if isinstance(package, str) else None, keys)


def file_of(item: object) -> str:
    """The file that an item is from; kustomize says so on request alone (buildMetadata: [originAnnotations])."""
    path = home(item).path
    origin = of(item).get(ORIGIN)
    if path or not isinstance(origin, str):
        return path
    from trainc.kubernetes.documents import YamlError, parse

    try:
        path = get(parse(origin), ("path",), "")
    except YamlError:
        return ""
    return path if isinstance(path, str) else ""


def is_local(item: object) -> bool:
    """Whether an item stays where it is, and is not for the cluster."""
    return of(item).get(LOCAL) == "true"


def without(item: object) -> object:
    """The item without these annotations; the same one where it has none."""
    said = of(item)
    kept = {key: value for key, value in said.items() if not (key in KEYS or key.startswith(PREFIXES))}
    if not isinstance(item, dict) or len(kept) == len(said):
        return item
    metadata = {key: value for key, value in item["metadata"].items() if key != "annotations"}
    return item | {"metadata": metadata | ({"annotations": kept} if kept else {})}


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
