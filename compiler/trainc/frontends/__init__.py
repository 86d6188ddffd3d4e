"""The front ends: classify documents by apiVersion and kind.

Reads    the documents of a file, and the rows of the kinds to compile.
Returns  each document with its role: a TrainJob, a runtime, or another object. A List is expanded into its items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import DRAFT_VERSION, GROUP, JOBSET, KINDS, LEGACY, OLD_GROUP, VERSION, find
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from trainc.base.fixes import Fix
    from trainc.base.kinds import Kind, Role

NOT_AN_OBJECT: Final = Declaration("not-an-object", ("read",))
NO_API_VERSION: Final = Declaration("no-api-version", ("read",), fix="safe")
UNKNOWN_VERSION: Final = Declaration("unknown-version", ("read",), fix="unsafe")
UNKNOWN_KIND: Final = Declaration("unknown-kind", ("read",), fix="safe")

VERSIONED: Final = frozenset(row.kind for row in (JOBSET, *LEGACY))
"""The kinds of which trainc reads some versions."""
OURS: Final = tuple(row.kind for row in KINDS if row.group == GROUP)


def sort(document: Document, kinds: Collection[Kind]) -> Iterator[tuple[Role, Document] | Diagnostic]:
    """Yield a document with its role, or a diagnostic; for a List, yield each item.

    A document of a kind that is not among `kinds` has the role `other`.
    """
    tree = document.value
    if not isinstance(tree, dict):
        yield _not_an_object(document)
        return
    kind, version = tree.get("kind"), tree.get("apiVersion")
    items = tree.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            yield from sort(document._replace(value=item, within=(*document.within, "items", index)), kinds)
    elif isinstance(version, str) and version.partition("/")[0] == GROUP:
        yield from _document_of_kind(document, kind, version, kinds)
    elif find(version, kind) is not None or kind not in OURS:
        yield _with_role(document, version, kind, kinds)
    elif not version or not isinstance(version, str):
        yield _version_fault(document, kind, version)
    else:
        yield _from_another_group(document, kind, version)


def _document_of_kind(
    document: Document, kind: object, version: str, kinds: Collection[Kind]
) -> Iterator[tuple[Role, Document] | Diagnostic]:
    if version not in (VERSION, DRAFT_VERSION) or (kind in OURS and find(version, kind) is None):
        from trainc.base.fixes import setting

        message = f'unknown version "{version}" of the TrainJob API'
        fix = setting(("apiVersion",), VERSION, f"use {VERSION}, as in Trainer v2")
        yield _diagnostic(document, UNKNOWN_VERSION, message, fix, ("apiVersion",))
    elif kind not in OURS:
        from trainc.base.fixes import misspelled_key, replaced_name

        near = replaced_name(("kind",), kind, OURS) if isinstance(kind, str) else None
        near = near or (misspelled_key(document.value, "kind") if "kind" not in document.value else None)
        message = f'unknown kind "{kind}" in {GROUP}' if kind else f"the object of {GROUP} has no kind"
        yield _diagnostic(document, UNKNOWN_KIND, message, near or f"use one of {', '.join(OURS)}", ("kind",))
    else:
        yield _with_role(document, version, kind, kinds)


def _with_role(
    document: Document, version: object, kind: object, kinds: Collection[Kind]
) -> tuple[Role, Document] | Diagnostic:
    """Return a document with its role, or the diagnostic for a version of a kind that trainc does not read."""
    row = find(version, kind)
    if row is not None:
        return row.role if row in kinds and row.has_plugin(document.value) else "other", document
    if isinstance(version, str) and isinstance(kind, str) and kind in VERSIONED:
        for other in (JOBSET, *LEGACY):
            is_compiled = other.kind == kind and other in kinds and other.has_plugin(document.value)
            if is_compiled and _is_version_of(other, version):
                return _older_version(document, other, version)
    return "other", document


def _is_version_of(row: Kind, version: str) -> bool:
    """Return whether an apiVersion is that of a kind, not of another project's kind of the same name."""
    groups = {known.partition("/")[0] for known in (*row.versions, *dict(row.older))}
    return version.partition("/")[0] in groups


def _older_version(document: Document, row: Kind, version: str) -> Diagnostic:
    moved = dict(row.older).get(version)
    help = f"use {row.versions[0]}" + (f": {moved}" if moved else "")
    return _diagnostic(document, UNKNOWN_VERSION, f"unknown version {version} of {row.word}", help, ("apiVersion",))


def _from_another_group(document: Document, kind: str, version: str) -> tuple[Role, Document] | Diagnostic:
    """Return a document with one of our kinds and another apiVersion: a misspelt one, or another project's object."""
    if not is_meant(version):
        return "other", document
    message = f'unknown apiVersion "{version}" of the {kind}'
    return _diagnostic(document, UNKNOWN_VERSION, message, f"use {VERSION}", ("apiVersion",))


def is_meant(version: str) -> bool:
    """Return whether an apiVersion with one of Trainer's kinds is probably misspelt, not another project's.

    The core group and the groups of other projects than Kubeflow have none of these kinds; a group that differs from
    Trainer's in one edit is a typing error.

    >>> [is_meant(text) for text in ("kubeflow.org/v1", "v1", "trainer.kubflow.org/v1alpha1", "train.acme.io/v1")]
    [True, True, True, False]
    """
    from trainc.base.suggestions import is_one_edit

    group, slash, _ = version.lower().partition("/")
    return not slash or group.endswith(OLD_GROUP) or is_one_edit(group, GROUP)


def _version_fault(document: Document, kind: str, version: object) -> Diagnostic:
    if version in (None, ""):
        from trainc.base.fixes import addition, misspelled_key

        near = misspelled_key(document.value, "apiVersion")
        help = near or addition(("apiVersion",), VERSION, f"add `apiVersion: {VERSION}`")
        return _diagnostic(document, NO_API_VERSION, f"the {kind} has no apiVersion", help, ())
    message = f"the apiVersion of the {kind} must be a string"
    return _diagnostic(document, NO_API_VERSION, message, f"use `apiVersion: {VERSION}`", ("apiVersion",))


def _not_an_object(document: Document) -> Diagnostic:
    types = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return _diagnostic(
        document,
        NOT_AN_OBJECT,
        f"the document is {types.get(type(document.value), 'a scalar')}, not a Kubernetes object",
        "use a mapping with apiVersion, kind and metadata",
        (),
    )


def _diagnostic(
    document: Document, declared: Declaration, message: str, help: str | Fix, path: tuple[str, ...]
) -> Diagnostic:
    return Diagnostic.declared(
        declared,
        message,
        help,
        object=ObjectId.from_manifest(document.value),
        field=".".join(path),
        place=Place(document=document, path=path),
    )
