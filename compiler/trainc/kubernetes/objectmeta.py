"""The metadata of an object, which no schema describes: names, labels, annotations, owners.

Reads    the value under `metadata`.
Returns  its violations. A namespace may be missing (difference namespace-optional); what only the cluster sets is
         looked at for its type alone. What is stored of it is said by the node of `structural`.
Source   apimachinery v0.36.2: the Go type ObjectMeta, and the validation of it for custom resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.kubernetes import formats, names
from trainc.kubernetes.structural.nodes import METADATA, METADATA_SCHEMA
from trainc.kubernetes.violations import (
    ANNOTATIONS_TOO_BIG,
    INVALID_ANNOTATION,
    INVALID_FINALIZER,
    INVALID_LABEL,
    INVALID_MANAGED_FIELDS,
    INVALID_NAME,
    INVALID_NAMESPACE,
    INVALID_OWNER,
    OUT_OF_RANGE,
    REQUIRED,
    Violation,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.declarations import Declaration
    from trainc.kubernetes.trees import Path, Tree

MOST_ANNOTATION_BYTES: Final = 256 * 1024
"""Of all keys and values of an object's annotations."""

_OWNER: Final = {
    "apiVersion": "string",
    "blockOwnerDeletion": "boolean",
    "controller": "boolean",
    "kind": "string",
    "name": "string",
    "uid": "string",
}
_PYTHON: Final = {"array": list, "boolean": bool, "object": dict, "string": str}
_ENDS: Final = "use letters, digits, `-`, `_` and `.`, the first and the last a letter or a digit"
_KEY_FORM: Final = f"{_ENDS}; a domain and a `/` may stand before them"
_VALUE_FORM: Final = f"{_ENDS}; or make it an annotation"
_NAME_FORM: Final = "use lower-case letters, digits, `-` and `.`"
_NAMESPACE_FORM: Final = "use lower-case letters, digits and `-`"


def check(metadata: Any, *, namespaced: bool) -> Iterator[Violation]:
    """Everything that is wrong with the metadata of an object on its creation; paths begin with `metadata`."""
    if metadata is not None and not isinstance(metadata, dict):
        from trainc.kubernetes.structural import complaints

        yield complaints.wrong_type(("metadata",), metadata, METADATA_SCHEMA)
    found: Tree = metadata if isinstance(metadata, dict) else {}
    right = {}
    for key, value in found.items():
        if value is None or key not in METADATA:
            continue
        fault = _type_fault(("metadata", key), value, METADATA[key])
        if fault:
            yield fault
        else:
            right[key] = value
    yield from _names(right, unnamed=found.get("name") in (None, ""), namespaced=namespaced)
    yield from _labels(right.get("labels", {}))
    yield from _annotations(right.get("annotations", {}))
    yield from _finalizers(right.get("finalizers", ()))
    yield from _owners(right.get("ownerReferences", ()))
    yield from _by_the_cluster(right)


def _names(metadata: Tree, *, unnamed: bool, namespaced: bool) -> Iterator[Violation]:
    name, prefix, namespace = (metadata.get(key, "") for key in ("name", "generateName", "namespace"))
    if prefix and names.is_dns1123_subdomain(prefix.removesuffix("-") or prefix):
        yield _invalid_name(("metadata", "generateName"), prefix, _NAME_FORM)
    if name and names.is_dns1123_subdomain(name):
        yield _invalid_name(("metadata", "name"), name, _NAME_FORM)
    if unnamed:
        way_out = "add metadata.name; generateName is for the cluster to complete" if prefix else "add metadata.name"
        yield Violation.at(("metadata", "name"), REQUIRED, "the object has no name", way_out)
    if namespace and not namespaced:
        yield Violation.at(
            ("metadata", "namespace"),
            INVALID_NAMESPACE,
            f'namespace is "{namespace}", but objects of this kind belong to the whole cluster',
            "remove the namespace",
        )
    elif namespace and names.is_dns1123_label(namespace):
        yield _invalid_name(("metadata", "namespace"), namespace, _NAMESPACE_FORM)._replace(rule=INVALID_NAMESPACE.id)


def _invalid_name(path: Path, value: str, form: str) -> Violation:
    from trainc.kubernetes import misnamed

    characters, most = (misnamed.LABEL, 63) if path[-1] == "namespace" else (misnamed.SUBDOMAIN, 253)
    message = f"{path[-1]} is {_shown(value)}, which {misnamed.fault(value, characters, most)}"
    return Violation.at(path, INVALID_NAME, message, form + misnamed.example(value))


def _invalid_key(path: Path, key: str, declared: Declaration, what: str, *, at: str) -> Violation:
    from trainc.kubernetes import misnamed

    message = f"the {what} {_shown(key)} {misnamed.fault_of_key(key)}"
    return Violation.at(path, declared, message, _KEY_FORM, field=at, key=what.endswith("key"))


def _labels(labels: Tree) -> Iterator[Violation]:
    for key, value in labels.items():
        path = ("metadata", "labels", key)
        if value is not None and not isinstance(value, str):
            yield _wrong_type(path, value, "string")
            continue
        if names.is_qualified_name(key):
            yield _invalid_key(path, key, INVALID_LABEL, "label's key", at="metadata.labels")
        if value and names.is_label_value(value):
            from trainc.kubernetes import misnamed

            why = misnamed.fault(value, misnamed.QUALIFIED, 63)
            message = f"label {_shown(key)} has the value {_shown(value)}, which {why}"
            yield Violation.at(path, INVALID_LABEL, message, _VALUE_FORM, field="metadata.labels")


def _annotations(annotations: Tree) -> Iterator[Violation]:
    size = 0
    for key, value in annotations.items():
        path = ("metadata", "annotations", key)
        if value is not None and not isinstance(value, str):
            yield _wrong_type(path, value, "string")
            continue
        if names.is_qualified_name(key.lower()):
            yield _invalid_key(path, key, INVALID_ANNOTATION, "annotation's key", at="metadata.annotations")
        size += _bytes(key) + _bytes(value or "")
    if size > MOST_ANNOTATION_BYTES:
        message = f"the annotations take {size} bytes, and may take {MOST_ANNOTATION_BYTES}"
        yield Violation.at(("metadata", "annotations"), ANNOTATIONS_TOO_BIG, message, "put the data into a ConfigMap")


def _finalizers(finalizers: list[Any]) -> Iterator[Violation]:
    for index, value in enumerate(finalizers):
        path = ("metadata", "finalizers", index)
        if isinstance(value, str) and names.is_qualified_name(value):
            yield _invalid_key(path, value, INVALID_FINALIZER, "finalizer", at="metadata.finalizers")
        elif value is not None and not isinstance(value, str):
            yield _wrong_type(path, value, "string")
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        message = "the finalizers orphan and foregroundDeletion exclude each other"
        yield Violation.at(("metadata", "finalizers"), INVALID_FINALIZER, message, "keep one of them")


def _owners(owners: list[Any]) -> Iterator[Violation]:
    controllers = 0
    for index, owner in enumerate(owners):
        path: Path = ("metadata", "ownerReferences", index)
        if owner is None:
            continue
        if not isinstance(owner, dict):
            yield _wrong_type(path, owner, "object")
            continue
        faults = [
            fault
            for key, expected in _OWNER.items()
            if owner.get(key) is not None and (fault := _type_fault((*path, key), owner[key], expected))
        ]
        yield from faults
        if not faults:
            yield from _owner(path, owner)
            controllers += owner.get("controller") is True
    if controllers > 1:
        message = f"{controllers} owners are the controller; one may be"
        yield Violation.at(("metadata", "ownerReferences"), INVALID_OWNER, message, "leave `controller: true` to one")


def _owner(path: Path, owner: Tree) -> Iterator[Violation]:
    group, _, version = (owner.get("apiVersion") or "").rpartition("/")
    if not version or "/" in group:
        at = "metadata.ownerReferences.apiVersion"
        message = "the owner's apiVersion is no version, or no group and version"
        yield Violation.at((*path, "apiVersion"), INVALID_OWNER, message, "write one such as v1 or batch/v1", field=at)
    for key in ("kind", "name", "uid"):
        if not owner.get(key):
            at = f"metadata.ownerReferences.{key}"
            way_out = "remove the owner: its uid is another one in each cluster" if key == "uid" else f"add its {key}"
            yield Violation.at((*path, key), INVALID_OWNER, f"the owner has no {key}", way_out, field=at)
    if (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Event"):
        yield Violation.at(
            path, INVALID_OWNER, "an Event cannot own anything", "remove it", field="metadata.ownerReferences"
        )


def _by_the_cluster(metadata: Tree) -> Iterator[Violation]:
    """What only the cluster sets, and people leave in when they copy an object from it."""
    if metadata.get("generation", 0) < 0:
        path: Path = ("metadata", "generation")
        yield Violation.at(path, OUT_OF_RANGE, "generation is negative", "remove it: the cluster counts")
    for index, entry in enumerate(metadata.get("managedFields", ())):
        path = ("metadata", "managedFields", index)
        if entry is None:
            entry = {}  # noqa: PLW2901 (Go reads a null as an empty entry)
        if not isinstance(entry, dict):
            yield _wrong_type(path, entry, "object")
        elif entry.get("operation") not in ("Apply", "Update"):
            message = "operation is neither Apply nor Update"
            yield Violation.at(
                (*path, "operation"), INVALID_MANAGED_FIELDS, message, "remove managedFields: the cluster keeps them"
            )


def _type_fault(path: Path, value: Any, expected: str) -> Violation | None:
    if expected == "name":
        return None if isinstance(value, str) else _wrong_type(path, value, "string", "schema")
    if expected == "integer":
        whole = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        whole = whole or (isinstance(value, float) and value.is_integer() and abs(value) < 2**63)
        return None if whole else _wrong_type(path, value, "integer")
    if expected == "time" and isinstance(value, str):
        from trainc.kubernetes.structural import complaints

        fault = complaints.no_time(path, value, "read")
        return fault._replace(help="remove it: the cluster sets it") if formats.date_time(value) else None
    right: type = _PYTHON.get(expected, str)
    return None if isinstance(value, right) else _wrong_type(path, value, "string" if right is str else expected)


def _wrong_type(path: Path, value: Any, expected: str, stage: Literal["read", "schema"] = "read") -> Violation:
    from trainc.kubernetes.structural import complaints

    return complaints.wrong_type(path, value, {"type": expected}, stage)


def _shown(value: str) -> str:
    from trainc.kubernetes.structural.remedies import shown

    return shown(value)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
