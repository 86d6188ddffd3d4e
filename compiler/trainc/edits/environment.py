"""An environment: the settings of trainc.yaml that change the documents before they are compiled.

The settings are values only. `trainc.settings` reads them; the transformations and the patches apply them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.diagnostics import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.diagnostics import Document, Location


KEYS: Final = (
    "namespace",
    "namespacePrefix",
    "namespaceSuffix",
    "labels",
    "annotations",
    "images",
)
"""The keys of trainc.yaml that write fields; `patches` have their own names, and a changed name keeps its place."""


class Setting(NamedTuple):
    """A value, and the place in trainc.yaml where it was set."""

    value: Any
    place: Place
    folder: str = ""
    """The absolute folder of the file that has a patch: the patch's path is relative to it."""


class Image(NamedTuple):
    """An item of `images`: a new name, tag or digest for the images with a name, as in kustomize."""

    name: str
    place: Place
    """The item."""
    new_name: str = ""
    new_tag: str = ""
    digest: str = ""
    merged: tuple[Place, ...] = ()
    """The items of lower layers with which it was merged."""


class Environment(NamedTuple):
    """The effective transformations of one environment, or of a project without environments."""

    name: str = ""
    """Empty for a project without environments."""
    namespace: Setting | None = None
    """The namespace of all TrainJobs and TrainingRuntimes."""
    namespaces: Mapping[str, Setting] = {}
    """The new namespaces of all documents, by the old ones."""
    namespace_prefix: Setting | None = None
    namespace_suffix: Setting | None = None
    shared: tuple[Setting, ...] = ()
    """The items of `shared`: the objects that keep their namespace."""
    name_prefix: Setting | None = None
    name_suffix: Setting | None = None
    labels: Mapping[str, Setting] = {}
    annotations: Mapping[str, Setting] = {}
    images: tuple[Image, ...] = ()
    patches: tuple[Setting, ...] = ()
    """The items of `patches`, those of the file first; `trainc.edits.patching` reads their values."""
    root: str = ""
    """The folder that the paths of patches must not leave: the git root; outside of git, that of trainc.yaml."""

    @property
    def moves_namespaces(self) -> bool:
        """Whether it moves namespaces, and does not put all TrainJobs into one."""
        return bool(self.namespaces or self.namespace_prefix or self.namespace_suffix)

    def namespace_of(self, namespace: str) -> Setting | None:
        """Return the new name of a namespace, with its setting; None if it keeps its own."""
        if namespace in self.namespaces:
            return self.namespaces[namespace]
        affix = self.namespace_suffix or self.namespace_prefix
        if affix is None or not namespace:
            return None
        prefix, suffix = (
            setting.value if setting else "" for setting in (self.namespace_prefix, self.namespace_suffix)
        )
        return Setting(f"{prefix}{namespace}{suffix}", affix.place)

    @property
    def files(self) -> list[str]:
        """The files with patches, which are not manifests."""
        items = [(item.folder, item.value.get("path")) for item in self.patches if isinstance(item.value, dict)]
        return [os.path.normpath(os.path.join(folder, path)) for folder, path in items if isinstance(path, str)]


def is_of_file(place: Place | Location | None) -> bool:
    """Return whether a place is a setting of the file, which all environments have."""
    return isinstance(place, Place) and place.path[:1] != ("environments",)


def described(written: Place, document: Document) -> str:
    """Return the source of a field for reports: `environment prod`, or the settings file; empty for its own document.

    written    the result of `Place.in_text` for a field of the document
    """
    if written.document.text is document.text:
        return ""
    if len(written.path) > 1 and written.path[0] == "environments":
        return f"environment {written.path[1]}"
    return written.document.file
