"""The differences that a review does not compare: nothing that could reach a cluster is passed over in silence.

Reads    the files of both sides that differ, and the review of the objects.
Returns  each difference that the objects and settings of the review do not show, with the reason: an object of a kind
         that trainc does not compile, a file that cannot be read or that the settings leave out, a submodule, an output
         of a build. Documents without apiVersion or kind are no objects and are left out, as are hidden files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.diagnostics import Diagnostic, ObjectId
from trainc.files import inputs
from trainc.files.inputs import File
from trainc.files.output_marks import is_marked
from trainc.frontends import sort
from trainc.frontends.configmaps import without_runtimes
from trainc.frontends.kustomizations import is_kustomization
from trainc.frontends.reading import documents_of
from trainc.review.reviewed import NotCompared, Review
from trainc.review.sides import rendered_files
from trainc.review.sides.rendered_files import without_server_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trainc.diagnostics import Document
    from trainc.review.reviewed import Cause, Reviewed, Status
    from trainc.review.sides.side_files import SideFile, SideFiles

LFS: Final = b"version https://git-lfs.github.com/spec/"
"""The start of a file of git-lfs, which only names the content."""
REASONS: Final = {
    "excluded": "a pattern of exclude leaves it out",
    "patch": "it is a patch that changes no compared object",
    "output": "it is an output; compare the output folders",
    "link": "it is a link to a path that is compared under its own name",
    "kept": "keep leaves it in the output folder",
    "submodule": "it is a submodule, whose files are in another repository",
}
LFS_REASON: Final = "it is a pointer of git-lfs, whose content is not in git"
OTHER_KIND: Final = "trainc does not compile objects of this kind"
PART: Final = "it is a patch of a kustomization, which trainc does not apply"
KUSTOMIZATION: Final = "it is a kustomization, which trainc does not apply"
NO_IDENTITY: Final = "a document has no apiVersion, kind or name"

MODULE_HELP: Final = "add its files to the repository"

Key = tuple[str, ...]


class _Content:
    """The content of a file that differs between the sides."""

    def __init__(self, file: SideFile, files: SideFiles, *, beside_rendered: bool = False) -> None:
        """`beside_rendered` is whether one side is rendered, which is compared only in the kinds that trainc writes."""
        self.reason = _reason(file, files)
        self.objects: dict[Key, Document] = {}
        """The objects of kinds that are not compared, by identity."""
        self.values: list[Any] = []
        """The documents, if the file has a reason for which it is not compared."""
        if file.fault or not file.data or file.role in {"submodule", "link"}:
            self.values.append(file.data)
            return
        for document in documents_of(File(file.path, file.data)):
            if isinstance(document, Diagnostic):
                self.reason = self.reason or f"it cannot be read: {document.message}"
                self.values.append(file.data)
            elif self.reason:
                self.values.append(document.value)
            else:
                self._sort(document, files, beside_rendered=beside_rendered)

    def _sort(self, document: Document, files: SideFiles, *, beside_rendered: bool) -> None:
        """Add the objects of a document that are not compared."""
        for found in sort(document, files.kinds):
            if isinstance(found, Diagnostic):
                self.reason = self.reason or f"it cannot be read: {found.message}"
                self.values.append(document.value)
            elif beside_rendered:
                if found[0] == "other" and files.drops(found[1]):
                    self._add(found[1])
            elif files.is_rendered:
                if rendered_files.identity(found[1]) is None:
                    self.reason = NO_IDENTITY
                    self.values.append(found[1].value)
            elif found[0] == "other" and files.lists_others(found[1].file):
                self._add(found[1])

    def _add(self, document: Document) -> None:
        """Add an object; a document without apiVersion or kind is none."""
        id = ObjectId.from_source(document.value)
        if id.kind == "ConfigMap":  # the runtimes in it are compared
            rest = without_runtimes(document)
            if "data" in document.value and "data" not in rest:
                return
            document = document._replace(value=rest)
        if id.apiVersion and id.kind:
            key: Key = id.apiVersion.rpartition("/")[0], *id[1:]
            # Several objects can have one generateName, or none.
            while key in self.objects:
                key = (*key, "")
            self.objects[key] = document


def _reason(file: SideFile, files: SideFiles) -> str:
    """Return the reason why a file is not compared; empty if its documents decide."""
    if file.fault:
        return f"it {file.fault}"
    if file.data.startswith(LFS):
        return LFS_REASON
    if files.is_rendered and file.role not in {"submodule", "link"}:
        return ""
    if file.role in REASONS:
        return REASONS[file.role]
    if is_marked(file.data):
        return REASONS["output"]
    if file.path in files.parts:
        return PART
    return KUSTOMIZATION if is_kustomization(file.path) else ""


def completed(review: Review, old: SideFiles, new: SideFiles, objects: Iterable[Reviewed]) -> Review:
    """Return a review with the differences that are not compared; `objects` are those that are.

    A submodule in a rendered folder is an error.
    """
    is_beside = old.is_rendered != new.is_rendered
    found = _objects_beside_rendered(old, new) if is_beside else _differences(old, new, objects)
    rows = sorted(found, key=lambda row: (row.file, row.object or ObjectId(), row.reason))
    if new.is_rendered and (modules := [row for row in rows if row.reason == REASONS["submodule"]]):
        faults = (inputs.fault(new.named(row.file), row.reason.removeprefix("it "), MODULE_HELP) for row in modules)
        return review._replace(diagnostics=tuple(faults))
    return review._replace(not_compared=tuple(rows))


def _differences(old: SideFiles, new: SideFiles, reviewed: Iterable[Reviewed]) -> Iterator[NotCompared]:
    """Yield the differences between the files of two sides that the review does not compare."""
    patterns = {*old.keep, *new.keep}
    before, after = old.by_path(new, patterns), new.by_path(old, patterns)
    is_same = old.paths == new.paths
    causes = {cause.at.file for each in reviewed for cause in _causes(each)}
    objects: tuple[dict[Key, Document], dict[Key, Document]] = {}, {}
    for path in dict.fromkeys((*after, *before)):
        pair = before.get(path), after.get(path)
        if _is_same(*pair):
            continue
        sides = zip(pair, (old, new), strict=True)
        contents = [None if file is None else _Content(file, files) for file, files in sides]
        for known, content in zip(objects, contents, strict=True):
            if content is not None:
                _add_objects(known, content.objects)
        # Of two paths, only one may have an output folder.
        yield from (row for row in _row(pair, contents, causes) if is_same or row.reason != REASONS["output"])
    yield from (row for _, row in _object_rows(*objects))


def _objects_beside_rendered(old: SideFiles, new: SideFiles) -> Iterator[NotCompared]:
    """Yield the objects of a rendered side that the compiled side lacks, of kinds that trainc does not compile.

    A rendered folder that is compared with its sources may have more objects.
    """
    if old.paths != new.paths:
        return
    objects: tuple[dict[Key, Document], dict[Key, Document]] = {}, {}
    for known, files in zip(objects, (old, new), strict=True):
        for file in files.all_read():
            _add_objects(known, _Content(file, files, beside_rendered=True).objects)
    rendered = objects[new.is_rendered]
    yield from (row for key, row in _object_rows(*objects) if key in rendered)


def _add_objects(known: dict[Key, Document], more: Mapping[Key, Document]) -> None:
    """Add objects to known ones; two objects of one identity are two."""
    for identity, document in more.items():
        key = identity
        while key in known:
            key = (*key, "")
        known[key] = document


def _is_same(old: SideFile | None, new: SideFile | None) -> bool:
    """Return whether a file has the same content on both sides, and is read or left out on both."""
    return old is not None and new is not None and (old.data, bool(old.fault)) == (new.data, bool(new.fault))


def _causes(reviewed: Reviewed) -> Iterator[Cause]:
    """Yield the causes of an object's changes."""
    for cause in (reviewed.cause, *(line.cause for line in reviewed.lines)):
        if cause is not None:
            yield cause


def _row(
    pair: tuple[SideFile | None, SideFile | None], contents: list[_Content | None], causes: set[str]
) -> Iterator[NotCompared]:
    """Yield the row of a file that is not compared as a whole, or has a document that cannot be compared."""
    old, new = contents
    own = new or old
    file = pair[1] or pair[0]
    assert own is not None  # one of the sides has the file
    assert file is not None
    if not own.reason or (file.role == "patch" and file.path in causes):
        return
    if old is not None and new is not None and old.reason and old.values == new.values:
        return  # only comments differ
    yield NotCompared(file.path, _status(old, new), own.reason)


def _object_rows(old: Mapping[Key, Document], new: Mapping[Key, Document]) -> Iterator[tuple[Key, NotCompared]]:
    """Yield a row for each object that differs, with its identity."""
    for key in dict.fromkeys((*new, *old)):
        before, after = old.get(key), new.get(key)
        document = after or before
        assert document is not None  # one of the sides has it
        if before and after and without_server_fields(before.value) == without_server_fields(after.value):
            continue
        id = ObjectId.from_source(document.value)
        yield key, NotCompared(document.file, _status(before, after), OTHER_KIND, id)


def _status(old: object, new: object) -> Status:
    """Return the status of a file or an object; None is a side without it."""
    return "added" if old is None else "removed" if new is None else "changed"
