"""The ResourceList, the input and output of a KRM function.

Reads    the bytes of standard input: one YAML document of at most 16 MiB.
Returns  its items and its functionConfig as documents with their place in it; and the text of an answer, in which
         documents of other kinds keep the order of their keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Document, Place
from trainc.emit.yaml import Writer
from trainc.files.inputs import STDIN
from trainc.frontends.reading import documents_of
from trainc.krm.annotations import file_of

if TYPE_CHECKING:
    from trainc.files.inputs import File
    from trainc.kubernetes.trees import Tree

RESOURCE_LIST: Final = Declaration("resource-list", ("read",), "Invalid ResourceList", trainc_only=True)

KIND: Final = "ResourceList"
VERSIONS: Final = ("config.kubernetes.io/v1", "config.kubernetes.io/v1beta1")
"""The versions in the specification, which have the same fields."""


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
