"""The ResourceList: what kustomize and kpt send to a function, and want back.

Reads    the bytes of standard input: one YAML document of at most 16 MiB.
Returns  its items and its functionConfig as documents that know their place in it; and the text of an answer, in which
         the keys of somebody else's documents keep their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic, Document, Place
from trainc.emit.yaml import Writer
from trainc.inputs import STDIN
from trainc.krm.annotations import file_of
from trainc.reading import documents_of
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from trainc.inputs import File
    from trainc.kubernetes.trees import Tree

RESOURCE_LIST: Final = Declaration("resource-list", ("read",), "Standard input is no ResourceList", own=True)

KIND: Final = "ResourceList"
VERSIONS: Final = ("config.kubernetes.io/v1", "config.kubernetes.io/v1beta1")
"""The specification has both, with the same fields."""


class ResourceList(NamedTuple):
    """What a function is given."""

    document: Document

    @property
    def items(self) -> list[Any]:
        """The objects, in whatever state."""
        return self.document.value.get("items") or []

    @property
    def documents(self) -> list[Document]:
        """The same, as documents: of the files that they were read from, as far as somebody says so."""
        return [
            self.document._replace(file=file_of(item) or STDIN, value=item, within=("items", index))
            for index, item in enumerate(self.items)
        ]

    @property
    def config(self) -> Document:
        """The functionConfig; its value is None where there is none."""
        value = self.document.value.get("functionConfig")
        return self.document._replace(value=value, within=("functionConfig",))

    def owns(self, document: Document) -> bool:
        """Whether a document is a part of this one."""
        return document.text is self.document.text and bool(document.within)

    def number_of(self, document: Document) -> int | None:
        """Which item a document is, or is in; None where it is from a file that trainc has read."""
        number = document.within[1] if self.owns(document) else None
        return number if isinstance(number, int) else None

    def written(self, items: list[Any], results: list[Tree]) -> str:
        """The answer with these items and results."""
        value = self.document.value
        answer: Tree = {"apiVersion": value["apiVersion"], "kind": KIND, "items": items}
        if "functionConfig" in value:
            answer["functionConfig"] = value["functionConfig"]
        if results:
            answer["results"] = results
        return Writer(as_given=True).document(answer)


EMPTY: Final = ResourceList(Document(file="", line=1, text="", value={"apiVersion": VERSIONS[0]}))
"""What an answer is made of where nothing was understood."""


def read(file: File | Diagnostic) -> ResourceList | list[Diagnostic]:
    """The ResourceList of standard input, or what is wrong with it."""
    if isinstance(file, Diagnostic):
        return [file]
    found = list(documents_of(file))
    faults = [document for document in found if isinstance(document, Diagnostic)]
    documents = [document for document in found if isinstance(document, Document)]
    if faults:
        return faults
    if len(documents) != 1:
        there = f"{len(documents)} documents" if documents else "nothing"
        return [_fault(f"standard input holds {there}, and not one ResourceList")]
    value = documents[0].value
    if not isinstance(value, dict) or value.get("kind") != KIND:
        kind = value.get("kind") if isinstance(value, dict) else None
        what = f"a {kind}" if isinstance(kind, str) and kind else "no object"
        return [_fault(f"standard input holds {what}, and not a ResourceList", documents[0])]
    if value.get("apiVersion") not in VERSIONS:
        return [_fault(f"the apiVersion of a ResourceList is {VERSIONS[0]}", documents[0], "apiVersion")]
    if not isinstance(value.get("items"), list | None):
        return [_fault("items is no list", documents[0], "items")]
    return ResourceList(documents[0])


def _fault(message: str, document: Document | None = None, *path: str) -> Diagnostic:
    return Diagnostic.of(
        RESOURCE_LIST,
        message,
        "let kustomize or kpt call `trainc krm`; by hand, compile with `trainc build`",
        place=Place(document, path) if document else None,
    )
