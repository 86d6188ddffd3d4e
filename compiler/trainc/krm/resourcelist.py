"""The ResourceList, the input and output of a KRM function.

Reads    the bytes of standard input: one YAML document of at most 16 MiB; diagnostics.
Returns  its items and its functionConfig as documents with their place in it; and the text of an answer, in which
         documents of other kinds keep the order of their keys. The internal annotations of an item have its file and
         its index there: they are not the user's, and would be copied from a TrainJob to its objects.
         For each diagnostic an entry of `results` (message, severity, resourceRef, field, file, tags), and the
         diagnostic with the item's original file, for a terminal. A function receives re-serialized items, so their
         original lines are unknown and omitted; the lines of files that trainc reads itself are reported. Secrets are
         masked.
Source   KRM Functions Specification v1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Document, Location, ObjectId, Place
from trainc.emit.yaml import Writer
from trainc.files.inputs import STDIN
from trainc.frontends.reading import documents_of
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.masking.masked_values import masked_at
from trainc.reports import in_order, sort_key
from trainc.source.stream_origin import INDEXES, PATHS, index, kustomize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.diagnostics import Path
    from trainc.files.inputs import File
    from trainc.kubernetes.trees import Tree


RESOURCE_LIST: Final = Declaration("resource-list", ("read",), trainc_only=True)
KIND: Final = "ResourceList"
VERSIONS: Final = ("config.kubernetes.io/v1", "config.kubernetes.io/v1beta1")
"""The versions in the specification, which have the same fields."""
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


class ResourceList(NamedTuple):
    """The input of a function."""

    document: Document

    @property
    def items(self) -> list[Any]:
        """The items, unvalidated."""
        return self.document.value.get("items") or []

    @property
    def documents(self) -> list[Document]:
        """The items as documents, with their file if an annotation names it."""
        return [
            self.document._replace(file=file_of(item) or STDIN, value=item, within=("items", index))
            for index, item in enumerate(self.items)
        ]

    @property
    def config(self) -> Document:
        """The functionConfig; its value is None if it is missing."""
        value = self.document.value.get("functionConfig")
        return self.document._replace(value=value, within=("functionConfig",))

    def owns(self, document: Document) -> bool:
        """Return whether a document is a part of this ResourceList."""
        return document.text is self.document.text and bool(document.within)

    def number_of(self, document: Document) -> int | None:
        """Return the index of the item that is or contains a document; None for a file that trainc has read."""
        number = document.within[1] if self.owns(document) else None
        return number if isinstance(number, int) else None

    def written(self, items: list[Any], results: list[Tree]) -> str:
        """Return the text of the answer with these items and results."""
        value = self.document.value
        answer: Tree = {"apiVersion": value["apiVersion"], "kind": KIND, "items": items}
        if "functionConfig" in value:
            answer["functionConfig"] = value["functionConfig"]
        if results:
            answer["results"] = results
        return Writer(as_given=True).document(answer)


EMPTY: Final = ResourceList(Document(file="", line=1, text="", value={"apiVersion": VERSIONS[0]}))
"""The base of the answer to invalid input."""


def read(file: File | Diagnostic) -> ResourceList | list[Diagnostic]:
    """Return the ResourceList on standard input, or its errors."""
    if isinstance(file, Diagnostic):
        return [file]
    found = list(documents_of(file))
    errors = [document for document in found if isinstance(document, Diagnostic)]
    documents = [document for document in found if isinstance(document, Document)]
    if errors:
        return errors
    if not documents:
        return [_error("standard input is empty, but must contain a ResourceList")]
    if len(documents) != 1:
        return [_error(f"standard input must contain one ResourceList, not {len(documents)} documents")]
    value = documents[0].value
    if not isinstance(value, dict) or value.get("kind") != KIND:
        kind = value.get("kind") if isinstance(value, dict) else None
        content = f", not a {kind}" if isinstance(kind, str) and kind else ""
        return [_error(f"standard input must contain a ResourceList{content}", documents[0])]
    if value.get("apiVersion") not in VERSIONS:
        return [_error(f"apiVersion must be {VERSIONS[0]}", documents[0], "apiVersion")]
    if not isinstance(value.get("items"), list | None):
        return [_error("items must be a list", documents[0], "items")]
    return ResourceList(documents[0])


def _error(message: str, document: Document | None = None, *path: str) -> Diagnostic:
    return Diagnostic.declared(
        RESOURCE_LIST,
        message,
        "run `trainc krm` from kustomize or kpt, or compile with `trainc build`",
        place=Place(document, path) if document else None,
    )


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


SEVERITIES: Final = {"error": "error", "warning": "warning", "note": "info"}
_LONGEST: Final = 200
"""The maximum length of a value in a result."""
_MISSING: Final[Any] = object()


class FunctionItem(NamedTuple):
    """A diagnostic in both forms."""

    entry: Tree
    shown: Diagnostic


class _Subject(NamedTuple):
    """The part of the ResourceList that contains a place."""

    value: object
    """The item, or the functionConfig."""
    path: Path
    """The field in the value."""


def reported(diagnostics: Iterable[Diagnostic], given: ResourceList) -> list[FunctionItem]:
    """Return each diagnostic in both forms, those of items first, then those of files."""
    pairs = sorted(((in_order([raw])[0], raw) for raw in diagnostics), key=lambda pair: sort_key(pair[0]))
    return [FunctionItem(_entry(located, raw, given), _shown(located, raw, given)) for located, raw in pairs]


def _entry(located: Diagnostic, raw: Diagnostic, given: ResourceList) -> Tree:
    subject = _subject(raw.place, given)
    entry: Tree = {
        "message": located.message + (f" ({located.help})" if located.help else ""),
        "severity": SEVERITIES[located.severity],
    }
    id = ObjectId.from_manifest(subject.value) if subject else located.object
    if id.apiVersion and id.kind and id.name:
        entry["resourceRef"] = {key: value for key, value in id._asdict().items() if value}
        if field := field_of(subject.path) if subject else located.field:
            entry["field"] = {"path": field, **_current_value(located, raw)}
    if file := _file(located, subject):
        entry["file"] = file
    return entry | {"tags": {"id": located.id, "stage": located.stage}}


def _subject(place: object, given: ResourceList) -> _Subject | None:
    """Return the item or functionConfig that contains a place; None for a file that trainc has read, or the list."""
    if isinstance(place, Place):
        place = place.in_text()
    if isinstance(place, Place) and place.document.inside is not None:
        place = Place(place.document.inside.document, ("data", place.document.inside.path[-1]))
    if not isinstance(place, Place) or not given.owns(place.document):
        return None
    path = (*place.document.within, *place.path)
    depth = 2 if path[0] == "items" else 1
    return _Subject(get(given.document.value, path[:depth]), path[depth:])


def _current_value(located: Diagnostic, raw: Diagnostic) -> Tree:
    """Return the field's current value, if it is short and not a secret."""
    where, at = raw.place, located.place
    if not isinstance(where, Place) or where.key or not isinstance(at, Location) or at.source is None or not at.line:
        return {}
    value = get(where.document.value, where.path, _MISSING)
    if not isinstance(value, str | int | float) or (isinstance(value, str) and len(value) > _LONGEST):
        return {}
    tree = where.document.value
    return {"currentValue": value} if masked_at(tree, where.path) == value else {}


def _file(located: Diagnostic, subject: _Subject | None) -> Tree:
    if subject is None:
        at = located.place
        return {"path": at.file} if isinstance(at, Location) and at.file != STDIN else {}
    origin = location(subject.value)
    if origin.path:
        return {"path": origin.path, "index": origin.number}
    path = file_of(subject.value)
    return {"path": path} if path else {}


def _shown(located: Diagnostic, raw: Diagnostic, given: ResourceList) -> Diagnostic:
    """Replace lines of the ResourceList with the item's file, and prefix the message with the object and field."""
    related = tuple(
        shown._replace(place=_source_place(shown.place, before.place, given))
        for shown, before in zip(located.related, raw.related, strict=True)
    )
    subject = _subject(raw.place, given)
    if subject is None:
        return located._replace(related=related)
    message = f"{_words(subject, given)}: {located.message}"
    file = file_of(subject.value)
    return located._replace(message=message, place=Location(file) if file else None, related=related)


def _source_place(shown: Place | Location, before: Place | Location, given: ResourceList) -> Place | Location:
    subject = _subject(before, given)
    return Location(file_of(subject.value) or _words(subject, given)) if subject else shown


def _words(subject: _Subject, given: ResourceList) -> str:
    """Return the object and its field in words."""
    if subject.value is given.config.value:
        name = "functionConfig"
    else:
        id = ObjectId.from_manifest(subject.value)
        name = f"{id.kind or 'item'} {'/'.join(part for part in (id.namespace, id.name) if part)}".rstrip()
    return f"{name}, {field_of(subject.path)}" if subject.path else name
