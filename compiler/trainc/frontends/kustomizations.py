"""Kustomizations among the files of a run: which files are patches, and which documents an overlay changes.

Reads    the kustomization files of the folders that are walked. The paths in them are compared with the paths of the
         other files, and are never opened, so a path out of the root, a URL or a cycle reads nothing.
Returns  the patch files, which are partial documents; notes for TrainJobs and runtimes that are compiled without the
         changes of a kustomization, and for patches without a resource; and a diagnostic for a name that several
         kustomizations use.
Source   kustomize v5.7, api/types: Kustomization, and its older field names.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import LEGACY, TRAINJOB, find, role_of
from trainc.base.records import NamedTuple
from trainc.base.texts import plural
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, Related
from trainc.files.selection import KUSTOMIZATIONS
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


KUSTOMIZE_BASE: Final = Declaration("kustomize-base", ("read",), "note", trainc_only=True)
KUSTOMIZE_PATCH: Final = Declaration("kustomize-patch", ("read",), "note", trainc_only=True)
KUSTOMIZE_OVERLAYS: Final = Declaration("kustomize-overlays", ("read",), trainc_only=True)

GROUP: Final = "kustomize.config.k8s.io"
KINDS: Final = ("Kustomization", "Component")

FOLDERS: Final = ("resources", "bases", "components")
"""The fields that include files or other kustomizations."""
PATCHES: Final = ("patches", "patchesStrategicMerge", "patchesJson6902")
PARTS: Final = (*PATCHES, "replacements", "configurations")
"""The fields that list files without complete objects, as a path or as an item with a `path`."""
CHANGES: Final = (
    *PATCHES,
    "replacements",
    "components",
    "namespace",
    "namePrefix",
    "nameSuffix",
    "labels",
    "commonLabels",
    "commonAnnotations",
    "images",
    "imageTags",
    "replicas",
    "vars",
    "transformers",
)
"""The fields that change the included objects."""
IMAGES: Final = ("images", "imageTags")
_IMAGE: Final = ("spec", "trainer", "image")
"""The image that kustomize does not know."""
_TO_FILE: Final = "> runtimes.yaml"
MOST: Final = 500
"""The number of kustomizations that are followed from one document."""
_SHOWN: Final = 3
"""The number of kustomizations that a message names."""


class Kustomization(NamedTuple):
    """A kustomization file."""

    document: Document
    folder: str
    """The key of its folder."""
    revision: str

    @property
    def shown(self) -> str:
        """The folder for a command line, which reads the working tree."""
        return os.path.dirname(self.document.file.removeprefix(self.revision)) or os.curdir

    def change(self, fields: Iterable[str] = CHANGES) -> str | None:
        """Return the first of these fields that is set."""
        return next((field for field in fields if self.document.value.get(field)), None)

    def paths(self, fields: Iterable[str]) -> Iterator[str]:
        """Yield the paths in some fields, and URLs and inline patches, which match no file."""
        for field in fields:
            listed = self.document.value.get(field)
            for item in listed if isinstance(listed, list) else ():
                path = item.get("path") if isinstance(item, dict) else item
                if isinstance(path, str):
                    yield path


class _Changed(NamedTuple):
    """How a resource is changed."""

    by: list[Kustomization]
    top_level: list[Kustomization]
    """The kustomizations that include it and that no other one includes."""


def is_kustomization(path: str) -> bool:
    """Return whether a file has a name that kustomize looks for."""
    return path.endswith(KUSTOMIZATIONS) and os.path.basename(path.rpartition(":")[2]) in KUSTOMIZATIONS


class Kustomizations:
    """The kustomization files of a run."""

    def __init__(self) -> None:
        self.found: list[Kustomization] = []
        self._including: dict[str, list[Kustomization]] = {}
        """The kustomizations that include a file or folder, by its key."""
        self._parts: dict[str, Kustomization] = {}
        """The kustomization that lists a file below its folder as a patch, by the file's key."""
        self._resources: set[str] = set()
        """The keys of the files and folders that a kustomization above them lists as resources."""
        self._folders: dict[tuple[str, str], str] = {}
        self._revisions: frozenset[str] = frozenset()

    def take(self, document: Document, revision: str = "", *, is_above: bool = False) -> bool:
        """Add a document of a file with one of `KUSTOMIZATIONS`; return False if it is not a kustomization.

        Args:
            document: the document.
            revision: the prefix of the file's path if it is a file of a commit.
            is_above: whether the file is in a folder above the paths of the run. It then only decides about files
                below its folder, as in a run on that folder.
        """
        tree = document.value
        if not isinstance(tree, dict) or not _is_kustomization(tree):
            return False
        self._revisions |= {revision}
        folder = os.path.dirname(document.file.removeprefix(revision))
        found = Kustomization(document, self._folder(folder, revision), revision)
        # As in kustomize, which reads no file outside of the kustomization's folder.
        inside = f"{found.folder.removesuffix(os.sep)}{os.sep}"
        for path in found.paths(FOLDERS):
            if (key := _joined(found, path)).startswith(inside):
                self._resources.add(key)
            if not is_above:
                self._including.setdefault(key, []).append(found)
        for path in found.paths(PARTS):
            if (key := _joined(found, path)).startswith(inside):
                self._parts.setdefault(key, found)
        if not is_above:
            self.found.append(found)
        return True

    def is_part(self, file: str) -> bool:
        """Return whether a file is a patch or another part of a kustomization, and not a resource of any."""
        key = self._key(file)
        return key in self._parts and key not in self._resources

    def user_of(self, file: str) -> Kustomization | None:
        """Return the kustomization that lists a file as a patch; None if there is none."""
        return self._parts.get(self._key(file))

    def listing(self, *documents: Document) -> list[Kustomization]:
        """Return the kustomizations that list some documents' files as resources."""
        found = {id(each): each for document in documents for each in self._listing_file(document.file)}
        return _in_order(found.values())

    def top_level(self) -> list[Kustomization]:
        """Return the kustomizations that no other one includes."""
        return _in_order(each for each in self.found if each.folder not in self._including) or self.found

    def in_different_overlays(self, document: Document, other: Document) -> bool:
        """Return whether two documents are resources of different kustomizations."""
        ours, theirs = ({id(each) for each in self._listing_file(of.file)} for of in (document, other))
        return bool(ours and theirs) and not ours & theirs

    def changed(self, document: Document) -> _Changed:
        """Return how kustomizations change a document."""
        return self._changes_above(self._listing_file(document.file))

    def _changes_above(self, direct: list[Kustomization]) -> _Changed:
        """Return how some kustomizations, and those that include them, change the resources of the first ones."""
        waiting = list(direct)
        seen = {id(each): each for each in waiting}
        outermost = []
        while waiting and len(seen) < MOST:
            each = waiting.pop()
            above = self._including.get(each.folder, [])
            if not any(one.folder != each.folder for one in above):
                outermost.append(each)
            fresh = [one for one in above if id(one) not in seen]
            seen |= {id(one): one for one in fresh}
            waiting += fresh
        return _Changed(_in_order(each for each in seen.values() if each.change()), _in_order(outermost or direct))

    def notes(self, documents: Iterable[Document], patches: Iterable[Document]) -> Iterator[Diagnostic]:
        """Yield a note for all TrainJobs and runtimes that the same kustomizations change.

        Yield a note for each kustomization with `patches` that changes none of the documents.
        """
        found: dict[tuple[int, ...], _Changed] = {}
        groups: dict[tuple[int, ...], list[Document]] = {}
        for document in documents:
            direct = self._listing_file(document.file)
            key = tuple(map(id, direct))
            if key not in found:
                found[key] = self._changes_above(direct)
            if found[key].by:
                groups.setdefault(tuple(map(id, found[key].by)), []).append(document)
        by_changes = {tuple(map(id, each.by)): each for each in found.values()}
        for key, group in groups.items():
            yield _note(group, by_changes[key])
        applied = {id for key in groups for id in key}
        for patch in patches:
            kustomization = self._parts[self._key(patch.file)]
            # An overlay applies the patches of its components and bases.
            changed = self._changes_above([kustomization])
            if not applied & {id(each) for each in changed.by}:
                applied.add(id(kustomization))
                yield _patch(patch, kustomization, changed.top_level)

    def _listing_file(self, file: str) -> list[Kustomization]:
        """Return the kustomizations that list a file as a resource."""
        return self._including.get(self._key(file), [])

    def _key(self, file: str) -> str:
        revision = next((each for each in self._revisions if each and file.startswith(each)), "")
        folder, name = os.path.split(file.removeprefix(revision))
        return os.path.join(self._folder(folder, revision), name)

    def _folder(self, path: str, revision: str) -> str:
        """Return the key of a folder: its path with all links resolved, or its path in the commit."""
        key = revision, path
        if key not in self._folders:
            inside = os.path.normpath(os.path.join(os.sep, path))
            self._folders[key] = revision + inside if revision else os.path.realpath(path)
        return self._folders[key]


def _is_kustomization(tree: dict[str, Any]) -> bool:
    version, kind = tree.get("apiVersion") or GROUP, tree.get("kind") or KINDS[0]
    return isinstance(version, str) and version.partition("/")[0] == GROUP and kind in KINDS


def _joined(kustomization: Kustomization, path: str) -> str:
    """Return the key of a path that a kustomization lists."""
    inside = kustomization.folder.removeprefix(kustomization.revision)
    return kustomization.revision + os.path.normpath(os.path.join(inside, path))


def _in_order(kustomizations: Iterable[Kustomization]) -> list[Kustomization]:
    return sorted(kustomizations, key=lambda each: each.document.file)


def _note(documents: list[Document], changed: _Changed) -> Diagnostic:
    first = documents[0]
    subject = ObjectId.from_source(first.value)
    more = f" (and {plural(len(documents) - 1, 'more object')})" if len(documents) > 1 else ""
    names = _listed([each.document.file for each in changed.by])
    is_job = role_of(subject.apiVersion, subject.kind) == "job"
    render = _command(changed.top_level, _to_build(subject)) if is_job else _command(changed.top_level, _TO_FILE)
    help = f"to compile with them, run {render}" if is_job else f"to use the changed runtime, render it: {render}"
    message = f'{subject.kind} "{subject.name}"{more} is compiled without the changes of {names}'
    if any(each.change(IMAGES) for each in changed.by) and any(_has_image(document) for document in documents):
        only_images = all(each.change() in IMAGES for each in changed.by)
        if only_images and len(documents) == 1 and "containers" not in first.text:
            message = f'kustomize does not change the image of TrainJob "{subject.name}": {names} has no effect on it'
            help = f"set images in trainc.yaml, which changes {field_of(_IMAGE)}"
        else:
            help += f"; kustomize does not change {field_of(_IMAGE)}, but images in trainc.yaml does"
    return Diagnostic.declared(
        KUSTOMIZE_BASE,
        message,
        help,
        object=subject,
        field="metadata.name",
        place=Place(first, ("metadata", "name")),
        related=tuple(
            Related("the changes", Place(each.document, (each.change() or "",), key=True))
            for each in changed.by[:_SHOWN]
        ),
    )


def _has_image(document: Document) -> bool:
    return document.value.get("kind") == TRAINJOB.kind and get(document.value, _IMAGE) is not None


def _to_build(subject: ObjectId) -> str:
    """Return the end of a command that compiles a job of that kind."""
    kind = find(subject.apiVersion, subject.kind)
    return f"| trainc build {'--legacy ' if kind in LEGACY else ''}-"


def _patch(patch: Document, kustomization: Kustomization, outermost: list[Kustomization]) -> Diagnostic:
    subject = ObjectId.from_manifest(patch.value)
    return Diagnostic.declared(
        KUSTOMIZE_PATCH,
        f'{subject.kind} "{subject.name}" is a patch in {kustomization.document.file}, but the resource that it '
        "changes is not in the given paths",
        f"to compile it, run {_command(outermost, _to_build(subject))}",
        object=subject,
        field="metadata.name",
        place=Place(patch, ("metadata", "name")),
    )


def overlay_conflict(
    document: Document, first: Document, kustomizations: Kustomizations, *, allowed: bool
) -> Diagnostic | None:
    """Return the diagnostic for a second document of one name; None unless several kustomizations are the reason.

    It is a note if `allowed`, because nothing is written.
    """
    if not kustomizations.in_different_overlays(document, first):
        return None
    own = kustomizations.changed(document).top_level
    names = _listed([each.document.file for each in kustomizations.listing(first, document)])
    subject = ObjectId.from_manifest(document.value)
    within = f' in namespace "{subject.namespace}"' if subject.namespace else ""
    found = Diagnostic.declared(
        KUSTOMIZE_OVERLAYS,
        f'{subject.kind} "{subject.name}"{within} is in several kustomizations: {names}',
        f"compile one kustomization at a time: {_command(own, _to_build(subject))}",
        object=subject,
        field="metadata.name",
        place=Place(document, ("metadata", "name")),
        related=(Related("the first one", Place(first, ("metadata", "name"))),),
    )
    return found._replace(severity="note") if allowed else found


def _listed(names: list[str]) -> str:
    more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    *head, last = [*names[:_SHOWN], *more]
    return f"{', '.join(head)} and {last}" if head else last


def command(kustomizations: Kustomizations) -> str:
    """Return the command that compiles one of a run's outermost kustomizations."""
    return _command(kustomizations.top_level())


def _command(kustomizations: list[Kustomization], end: str = "| trainc build -") -> str:
    """Return the command that compiles or renders one of some kustomizations."""
    import shlex

    first, *others = [shlex.quote(each.shown) for each in kustomizations[:_SHOWN]]
    alternatives = f" (or {', '.join(others)})" if others else ""
    return f"`kubectl kustomize {first} {end}`{alternatives}"
