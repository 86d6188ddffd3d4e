"""Object metadata, which no schema describes: names, labels, annotations, owners.

Reads    the value of `metadata`.
Returns  its violations. A missing namespace is allowed (difference namespace-optional); for fields that only the
         cluster sets, only the type is checked. The `Metadata` node of `structural` returns the stored value.
Source   apimachinery v0.36.2: the Go type ObjectMeta, and its validation for custom resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.kubernetes import names, string_formats
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
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.base.declarations import Declaration
    from trainc.kubernetes.trees import Path, Tree

MOST_ANNOTATION_BYTES: Final = 256 * 1024
"""Maximum total size of the keys and values of an object's annotations."""

MOST_MANAGER_BYTES: Final = 128
MOST_SUBRESOURCE_BYTES: Final = 256
"""The limits of two texts in an entry of managedFields."""

_MANAGED: Final = {
    "apiVersion": "string",
    "fieldsType": "string",
    "manager": "string",
    "operation": "string",
    "subresource": "string",
    "time": "time",
}
_OWNER: Final = {
    "apiVersion": "string",
    "blockOwnerDeletion": "boolean",
    "controller": "boolean",
    "kind": "string",
    "name": "string",
    "uid": "string",
}
_PYTHON: Final = {"array": list, "boolean": bool, "object": dict, "string": str}
LONGEST_PREFIX: Final = 58
"""The number of characters of metadata.generateName that a generated name has."""
PLACEHOLDER: Final = "xxxxx"
"""A placeholder for the characters that the API server adds to metadata.generateName."""
_ENDS: Final = "use letters, digits, `-`, `_` and `.`, and start and end with a letter or digit"
_KEY_FORM: Final = f"{_ENDS}; a domain and a `/` may precede them"
_VALUE_FORM: Final = f"{_ENDS}; or use an annotation"
_NAME_FORM: Final = "use lowercase letters, digits, `-` and `.`"
_NAMESPACE_FORM: Final = "use lowercase letters, digits and `-`"


def check(metadata: Any, *, namespaced: bool) -> Iterator[Violation]:
    """Yield every violation in the metadata of an object that is created; paths start with `metadata`."""
    if metadata is not None and not isinstance(metadata, dict):
        from trainc.kubernetes.structural import schema_messages

        yield schema_messages.wrong_type(("metadata",), metadata, METADATA_SCHEMA)
    found: Tree = metadata if isinstance(metadata, dict) else {}
    valid = {}
    for key, value in found.items():
        if value is None or key not in METADATA:
            continue
        fault = _type_fault(("metadata", key), value, METADATA[key])
        if fault:
            yield fault
        else:
            valid[key] = value
    yield from _names(valid, unnamed=found.get("name") in (None, ""), namespaced=namespaced)
    for key, rule in _RULES.items():
        if key in valid:
            yield from rule(valid[key])


def is_invalid_prefix(prefix: str, *, unnamed: bool) -> bool:
    """Return whether metadata.generateName is invalid, or the name that the API server generates from it.

    unnamed   whether the server generates a name: it keeps an existing one
    """
    # The server checks a prefix with `a` in place of the dash at its end and the character before the dash.
    whole = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
    generated = [f"{prefix[:LONGEST_PREFIX]}{PLACEHOLDER}"] if unnamed else []
    return any(map(names.dns1123_subdomain_errors, [whole, *generated]))


def _names(metadata: Tree, *, unnamed: bool, namespaced: bool) -> Iterator[Violation]:
    name, prefix, namespace = (metadata.get(key, "") for key in ("name", "generateName", "namespace"))
    if prefix and is_invalid_prefix(prefix, unnamed=unnamed):
        yield _invalid_name(("metadata", "generateName"), prefix, _NAME_FORM)
    if name and names.dns1123_subdomain_errors(name):
        yield _invalid_name(("metadata", "name"), name, _NAME_FORM)
    if unnamed and not prefix:
        yield Violation.at(("metadata", "name"), REQUIRED, "metadata.name is required", "add metadata.name")
    if namespace and not namespaced:
        yield Violation.at(
            ("metadata", "namespace"),
            INVALID_NAMESPACE,
            f'namespace is "{namespace}", but this kind is cluster-scoped; it is dropped',
            "remove the namespace; a kustomization with `namespace` adds it to kinds that kustomize does not know",
        )._replace(severity="warning")
    elif namespace and (violation := invalid_namespace(namespace)) is not None:
        yield violation


def invalid_namespace(namespace: str) -> Violation | None:
    """Return the violation of an object in a namespace that cannot exist; None for a valid name."""
    if not names.dns1123_label_errors(namespace):
        return None
    return _invalid_name(("metadata", "namespace"), namespace, _NAMESPACE_FORM)._replace(rule=INVALID_NAMESPACE.id)


def _invalid_name(path: Path, value: str, form: str) -> Violation:
    characters, most = (names.LABEL, 63) if path[-1] == "namespace" else (names.SUBDOMAIN, 253)
    message = f"{path[-1]} {_shown(value)} {names.fault(value, characters, most)}"
    return Violation.at(path, INVALID_NAME, message, form + names.example(value))


def _invalid_key(path: Path, key: str, declared: Declaration, what: str, *, at: str) -> Violation:
    message = f"{what} {_shown(key)} {names.fault_of_key(key)}"
    return Violation.at(path, declared, message, _KEY_FORM, field=at, key=what.endswith("key"))


def _labels(labels: Tree) -> Iterator[Violation]:
    for key, value in labels.items():
        path = ("metadata", "labels", key)
        if value is not None and not isinstance(value, str):
            yield _wrong_type(path, value, "string")
            continue
        if names.qualified_name_errors(key):
            yield _invalid_key(path, key, INVALID_LABEL, "label key", at="metadata.labels")
        if value and names.label_value_errors(value):
            why = names.fault(value, names.QUALIFIED, 63)
            message = f"label {_shown(key)} has the value {_shown(value)}, which {why}"
            yield Violation.at(path, INVALID_LABEL, message, _VALUE_FORM, field="metadata.labels")


def _annotations(annotations: Tree) -> Iterator[Violation]:
    size = 0
    for key, value in annotations.items():
        path = ("metadata", "annotations", key)
        if value is not None and not isinstance(value, str):
            yield _wrong_type(path, value, "string")
            continue
        if names.qualified_name_errors(key.lower()):
            yield _invalid_key(path, key, INVALID_ANNOTATION, "annotation key", at="metadata.annotations")
        size += _bytes(key) + _bytes(value or "")
    if size > MOST_ANNOTATION_BYTES:
        message = f"the annotations take {size} bytes, more than the maximum of {MOST_ANNOTATION_BYTES}"
        yield Violation.at(("metadata", "annotations"), ANNOTATIONS_TOO_BIG, message, "move the data to a ConfigMap")


def _finalizers(finalizers: list[Any]) -> Iterator[Violation]:
    for index, value in enumerate(finalizers):
        path = ("metadata", "finalizers", index)
        if isinstance(value, str) and names.qualified_name_errors(value):
            yield _invalid_key(path, value, INVALID_FINALIZER, "finalizer", at="metadata.finalizers")
        elif value is not None and not isinstance(value, str):
            yield _wrong_type(path, value, "string")
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        message = "the finalizers orphan and foregroundDeletion are mutually exclusive"
        yield Violation.at(("metadata", "finalizers"), INVALID_FINALIZER, message, "remove one of them")


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
        message = f"{controllers} owner references set `controller: true`, but only one may"
        help = "keep `controller: true` in only one of them"
        yield Violation.at(("metadata", "ownerReferences"), INVALID_OWNER, message, help)


def _owner(path: Path, owner: Tree) -> Iterator[Violation]:
    group, _, version = (owner.get("apiVersion") or "").rpartition("/")
    if not version or "/" in group:
        at = "metadata.ownerReferences.apiVersion"
        message = "the owner's apiVersion must be a version or a group and version"
        yield Violation.at(
            (*path, "apiVersion"), INVALID_OWNER, message, "use a value such as v1 or batch/v1", field=at
        )
    for key in ("kind", "name", "uid"):
        if not owner.get(key):
            at = f"metadata.ownerReferences.{key}"
            from trainc.base.fixes import removal

            without = "remove the owner: its uid differs in each cluster"
            help = removal(path, without) if key == "uid" else f"add {key}"
            yield Violation.at((*path, key), INVALID_OWNER, f"the owner has no {key}", help, field=at)
    if (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Event"):
        yield Violation.at(
            path, INVALID_OWNER, "an Event cannot be an owner", "remove it", field="metadata.ownerReferences"
        )


def _generation(generation: float) -> Iterator[Violation]:
    if generation < 0:
        path = ("metadata", "generation")
        yield Violation.at(path, OUT_OF_RANGE, "generation must not be negative", "remove it: the cluster sets it")


def _managed_fields(entries: list[Any]) -> Iterator[Violation]:
    for index, entry in enumerate(entries):
        path: Path = ("metadata", "managedFields", index)
        if entry is None:
            entry = {}  # noqa: PLW2901 (Go reads a null as an empty entry)
        if not isinstance(entry, dict):
            yield _wrong_type(path, entry, "object")
        else:
            yield from _managed(path, entry)


def _managed(path: Path, entry: Tree) -> Iterator[Violation]:
    """Check an entry of managedFields."""
    faults = [
        fault
        for key, expected in _MANAGED.items()
        if entry.get(key) is not None and (fault := _type_fault((*path, key), entry[key], expected))
    ]
    yield from faults
    if faults:
        return
    if entry.get("operation") not in ("Apply", "Update"):
        yield _unmanaged_field(path, "operation", "operation must be Apply or Update")
    if entry.get("fieldsType") not in (None, "", "FieldsV1"):
        yield _unmanaged_field(path, "fieldsType", f"fieldsType must be FieldsV1, not {_shown(entry['fieldsType'])}")
    for key, most in (("manager", MOST_MANAGER_BYTES), ("subresource", MOST_SUBRESOURCE_BYTES)):
        if (size := _bytes(entry.get(key) or "")) > most:
            yield _unmanaged_field(path, key, f"{key} takes {size} bytes, more than the maximum of {most}")
    if not (entry.get("manager") or "").isprintable():
        yield _unmanaged_field(path, "manager", f"manager {_shown(entry['manager'])} has an unprintable character")


def _unmanaged_field(path: Path, key: str, message: str) -> Violation:
    from trainc.base.fixes import removal

    help = removal(path[:-1], "remove managedFields: the cluster sets them")
    return Violation.at((*path, key), INVALID_MANAGED_FIELDS, message, help)


def _type_fault(path: Path, value: Any, expected: str) -> Violation | None:
    if expected == "name":
        return None if isinstance(value, str) else _wrong_type(path, value, "string", "schema")
    if expected == "integer":
        whole = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        whole = whole or (isinstance(value, float) and value.is_integer() and abs(value) < 2**63)
        return None if whole else _wrong_type(path, value, "integer")
    if expected == "time" and isinstance(value, str):
        from trainc.kubernetes.structural import schema_messages

        fault = schema_messages.no_time(path, value, "read")
        return fault._replace(help="remove it: the cluster sets it") if string_formats.date_time(value) else None
    python_type: type = _PYTHON.get(expected, str)
    if isinstance(value, python_type):
        return None
    return _wrong_type(path, value, "string" if python_type is str else expected)


def _wrong_type(path: Path, value: Any, expected: str, stage: Literal["read", "schema"] = "read") -> Violation:
    from trainc.kubernetes.structural import schema_messages

    return schema_messages.wrong_type(path, value, {"type": expected}, stage)


def _shown(value: str) -> str:
    return shown(value)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


_RULES: Final[dict[str, Callable[[Any], Iterator[Violation]]]] = {
    "labels": _labels,
    "annotations": _annotations,
    "finalizers": _finalizers,
    "ownerReferences": _owners,
    # The cluster sets these; they remain when users copy an object from it.
    "generation": _generation,
    "managedFields": _managed_fields,
}
