"""The Secrets in the paths of a run, by namespace and name.

Reads    the documents of other kinds, and the skipped files that mention a Secret. They are parsed only if a job needs
         a Secret.
Returns  whether the paths have a Secret, or an object of which a controller makes it: an ExternalSecret or a
         SealedSecret. An empty namespace matches any. A Secret has the namespace of its file, in which another tool may
         apply it, and the one to which the environment moves it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from trainc.compilation.foreign_references import secret_name
from trainc.diagnostics import Diagnostic, ObjectId
from trainc.frontends.reading import SECRET, documents_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Document
    from trainc.edits.environment import Environment
    from trainc.frontends.reading import Reading


class GivenSecrets:
    """The Secrets of a run, which are looked up once."""

    def __init__(self, reading: Reading, environment: Environment | None) -> None:
        self._reading = reading
        self._environment = environment

    @cached_property
    def names(self) -> dict[str, set[str]]:
        """The namespaces of the Secrets by name."""
        found: dict[str, set[str]] = {}
        documents = [*self._documents()]
        if self._environment is not None:
            from trainc.edits.transforming import Transformation

            documents += Transformation(self._environment).other_documents(documents)
        for document in documents:
            id = ObjectId.from_manifest(document.value)
            if name := secret_name(document, id):
                found.setdefault(name, set()).add(id.namespace)
        return found

    def has(self, namespace: str, name: str) -> bool:
        """Return whether a pod of the namespace finds the Secret."""
        namespaces = self.names.get(name, set[str]())
        return bool(namespaces) and (not namespace or bool({"", namespace} & namespaces))

    def _documents(self) -> Iterator[Document]:
        reading = self._reading
        yield from reading.documents["other"]
        for file in reading.skipped:
            if SECRET in file.data:
                for document in documents_of(file, lambda error, diagnostic: True):
                    if not isinstance(document, Diagnostic):
                        yield document
