"""The files of a rendered side, read as kubectl reads them.

Reads    every file with the name of a manifest: also hidden files, those with the name of settings, those with trainc's
         marker, and those that trainc.yaml excludes. Of git's own folder, nothing is in a commit.
Returns  the objects of all kinds, and an error for each file that cannot be read: the review would be about other
         objects than those that kubectl applies. Of an object that was read from an API server, the fields that only
         the server writes are not compared.
Source   Kubernetes 1.36, ObjectMeta; kubectl for the annotation of the configuration that was applied last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import COMPILED, JOBSET
from trainc.base.records import NamedTuple
from trainc.budget import Meter
from trainc.diagnostics import Diagnostic, Document, ObjectId
from trainc.frontends import sort
from trainc.frontends.reading import documents_of, source_in_output
from trainc.pinning.manifests import clean

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from trainc.budget import Budget
    from trainc.files.inputs import File
    from trainc.kubernetes.trees import Tree


WRITTEN: Final = frozenset({JOBSET.kind, "ConfigMap", "PodGroup"})
"""The kinds that trainc writes."""
METADATA: Final = frozenset(("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"))
OF_SERVER: Final = frozenset(("uid", "resourceVersion"))
"""The fields of the metadata that an object has only if it was read from an API server."""


class RenderedFiles(NamedTuple):
    """The documents of a rendered side."""

    documents: tuple[Document, ...]
    """The objects of all kinds. A List is expanded."""
    others: tuple[Document, ...]
    """The documents without apiVersion, kind or name, such as a kustomization."""
    diagnostics: tuple[Diagnostic, ...]

    @property
    def has_jobsets(self) -> bool:
        """Whether one of the objects is a JobSet."""
        return self.has_jobsets_outside(())

    def has_jobsets_outside(self, files: Container[str]) -> bool:
        """Whether one of the objects is a JobSet that is not in one of some files."""
        return any(each.value.get("kind") == JOBSET.kind and each.file not in files for each in self.documents)


def read(files: Iterable[File | Diagnostic], limits: Budget) -> RenderedFiles:
    """Read the files of a rendered side, up to the number of errors in the budget."""
    documents: list[Document] = []
    others: list[Document] = []
    found: list[Diagnostic] = []
    errors = Meter(limits)
    for document in _sorted(files):
        if isinstance(document, Diagnostic):
            found.append(document)
            if not errors.charge("errors and warnings"):
                break
        else:
            (documents if identity(document) is not None else others).append(document)
    return RenderedFiles(tuple(documents), tuple(others), tuple(found))


def joined(first: RenderedFiles, more: RenderedFiles) -> RenderedFiles:
    """Return the documents of both."""
    return RenderedFiles(
        first.documents + more.documents, first.others + more.others, first.diagnostics + more.diagnostics
    )


def _sorted(files: Iterable[File | Diagnostic]) -> Iterator[Document | Diagnostic]:
    """Yield the documents of files, and an error for each one that is no object of a cluster."""
    for file in files:
        if isinstance(file, Diagnostic):
            yield file
            continue
        for document in documents_of(file):
            if isinstance(document, Diagnostic):
                yield document
                continue
            for each in sort(document, COMPILED):
                if isinstance(each, Diagnostic):
                    yield each
                elif each[0] == "other" or not file.output:
                    yield each[1]
                else:
                    yield source_in_output(each[1])


def identity(document: Document) -> ObjectId | None:
    """Return the identity of an object; one with only generateName has it as its name. None for another document."""
    id = ObjectId.from_source(document.value)
    return id if id.apiVersion and id.kind and id.name else None


def without_server_fields(tree: Tree) -> Tree:
    """Return an object that was read from an API server without the fields that only the server writes.

    Any other object is deployed as it is, with a status.

    >>> without_server_fields({"kind": "JobSet", "metadata": {"name": "a", "uid": "b"}, "status": {}})
    {'kind': 'JobSet', 'metadata': {'name': 'a'}}
    >>> without_server_fields({"kind": "Token", "metadata": {"name": "a"}, "status": {"user": "admin"}})
    {'kind': 'Token', 'metadata': {'name': 'a'}, 'status': {'user': 'admin'}}
    """
    metadata = tree.get("metadata")
    if not isinstance(metadata, dict) or OF_SERVER.isdisjoint(metadata):
        return tree
    return clean(tree, METADATA)
