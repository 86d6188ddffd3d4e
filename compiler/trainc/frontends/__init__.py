"""The front ends: what people write, told apart by apiVersion and kind.

Reads    the documents of a file.
Returns  each with its role: a TrainJob, a runtime, or something of no concern here. A List is unrolled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

Role = Literal["job", "runtime", "other"]

NOT_AN_OBJECT: Final = Declaration("not-an-object", ("read",), "A document is no Kubernetes object")
NO_API_VERSION: Final = Declaration("no-api-version", ("read",), "A TrainJob or runtime has no apiVersion")
UNKNOWN_VERSION: Final = Declaration("unknown-version", ("read",), "The TrainJob API has no such version")
UNKNOWN_KIND: Final = Declaration("unknown-kind", ("read",), "The TrainJob API has no such kind")

GROUP: Final = "trainer.kubeflow.org"
VERSION: Final = f"{GROUP}/v1alpha1"
OLD_GROUP: Final = "kubeflow.org"
OLD_VERSION: Final = f"{OLD_GROUP}/v2alpha1"
"""Where the kinds were before they had a group of their own; other kinds of that group are of no concern here."""
CLUSTER: Final = "ClusterTrainingRuntime"
NAMESPACED: Final = "TrainingRuntime"
ROLES: Final[dict[str, Role]] = {"TrainJob": "job", NAMESPACED: "runtime", CLUSTER: "runtime"}


def sort(document: Document) -> Iterator[tuple[Role, Document] | Diagnostic]:
    """Tell what a document is; the items of a List one by one."""
    tree = document.value
    if not isinstance(tree, dict):
        yield _no_object(document)
        return
    kind, version = tree.get("kind"), tree.get("apiVersion")
    items = tree.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            yield from sort(document._replace(value=item, within=(*document.within, "items", index)))
    elif isinstance(version, str) and version.partition("/")[0] == GROUP:
        yield from _ours(document, kind, version)
    elif version == OLD_VERSION and isinstance(kind, str) and kind in ROLES:
        yield ROLES[kind], document
    elif (not version or not isinstance(version, str)) and isinstance(kind, str) and kind in ROLES:
        yield _unversioned(document, kind, version)
    else:
        yield "other", document


def _ours(document: Document, kind: object, version: str) -> Iterator[tuple[Role, Document] | Diagnostic]:
    if version != VERSION:
        message = f'no version "{version}" of the TrainJob API is known'
        yield _diagnostic(
            document, UNKNOWN_VERSION, message, f"the version of Trainer v2 is {VERSION}", ("apiVersion",)
        )
    elif not isinstance(kind, str) or kind not in ROLES:
        from trainc.nearest import nearest

        near = nearest(str(kind), ROLES)
        help = f"did you mean {near}?" if near else f"it has {', '.join(ROLES)}"
        message = f'{GROUP} has no kind "{kind}"' if kind else f"an object of {GROUP} without kind"
        yield _diagnostic(document, UNKNOWN_KIND, message, help, ("kind",))
    else:
        yield ROLES[kind], document


def _unversioned(document: Document, kind: str, version: object) -> Diagnostic:
    if version in (None, ""):
        return _diagnostic(document, NO_API_VERSION, f"a {kind} without apiVersion", f"add `apiVersion: {VERSION}`", ())
    message = f"the apiVersion of a {kind} must be a string"
    return _diagnostic(document, NO_API_VERSION, message, f"write `apiVersion: {VERSION}`", ("apiVersion",))


def _no_object(document: Document) -> Diagnostic:
    what = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return _diagnostic(
        document,
        NOT_AN_OBJECT,
        f"the document is {what.get(type(document.value), 'a scalar')}, not a Kubernetes object",
        "an object is a mapping with apiVersion, kind and metadata",
        (),
    )


def _diagnostic(
    document: Document, declared: Declaration, message: str, help: str, path: tuple[str, ...]
) -> Diagnostic:
    return Diagnostic.of(
        declared,
        message,
        help,
        object=ObjectId.of(document.value),
        field=".".join(path),
        place=Place(document=document, path=path),
    )
