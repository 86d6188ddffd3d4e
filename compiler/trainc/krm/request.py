"""What a functionConfig asks for.

Reads    a TrainJobCompiler (schemas/trainc/TrainJobCompiler.json), or a ConfigMap whose data has the fields of its
         spec as text, as kpt makes one of `-- key=value`: lists are separated by commas or line breaks.
Returns  the request, or everything that is wrong with it: a field that is not known is an error.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

from trainc.data import data_path
from trainc.declarations import Declaration
from trainc.delivery import PLAIN, Delivery
from trainc.diagnostics import Diagnostic, ObjectId, Place, Related
from trainc.kubernetes.structural import StructuralSchema
from trainc.kubernetes.trees import get
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Document, Path
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import FieldValidation, Violation

FUNCTION_CONFIG: Final = Declaration(
    "function-config", ("read",), "A functionConfig asks for what trainc krm cannot do", own=True
)

KIND: Final = "TrainJobCompiler"
VERSION: Final = "trainc.dev/v1alpha1"
FIELDS: Final = {(VERSION, KIND): "spec", ("v1", "ConfigMap"): "data"}
"""Where a kind has its settings."""


class Request(NamedTuple):
    """What to compile, and how."""

    paths: tuple[str, ...] = ()
    """Files and folders to compile besides the items, relative to the working directory."""
    runtimes: tuple[str, ...] = ()
    settings: str = ""
    """The trainc.yaml to read; empty for none."""
    only: str | None = None
    namespace: str | None = None
    strict: bool = False
    field_validation: FieldValidation | None = None
    """None where the functionConfig does not set it."""
    delivery: Delivery = PLAIN


def of(config: Document) -> Request | list[Diagnostic]:
    """The request of a functionConfig; without one, to compile the items."""
    if config.value is None:
        return Request()
    subject = ObjectId.of(config.value)
    field = FIELDS.get((subject.apiVersion, subject.kind))
    if field is None:
        return [_fault(config, _no_config(config.value, subject), f"write one of apiVersion {VERSION}, kind {KIND}")]
    asked = config.value.get(field)
    schema = _schema(field)
    if field == "data" and isinstance(asked, dict):
        asked = {key: _typed(value, schema["properties"][field]["properties"].get(key)) for key, value in asked.items()}
    admitted = StructuralSchema(schema).admit({} if asked is None else {field: asked})
    found = [_of_schema(config, violation) for violation in (*admitted.violations, *admitted.unknown)]
    if found:
        return found
    wanted = admitted.value.get(field, {})
    return list(_wrong_paths(config, field, wanted)) or _request(wanted)


def _no_config(value: object, subject: ObjectId) -> str:
    if not isinstance(value, dict):
        return "the functionConfig is no object"
    what = " ".join(word for word in (subject.apiVersion, subject.kind) if word) or "an object without kind"
    return f"the functionConfig is {what}, which is none of trainc's"


def _schema(field: str) -> Tree:
    """The schema of a whole functionConfig, as far as it is trainc's."""
    with open(data_path("schemas", "trainc", f"{KIND}.json"), encoding="utf-8") as file:
        schema: Tree = json.load(file)
    title = KIND if field == "spec" else "a functionConfig"
    return schema | {"title": title, "properties": {field: schema["properties"]["spec"]}}


def _typed(value: object, schema: Tree | None) -> object:
    """What the text of a ConfigMap stands for; as it is where it stands for nothing."""
    kind = (schema or {}).get("type")
    if isinstance(value, str) and kind == "array":
        return [part for part in map(str.strip, re.split(r"[,\n]", value)) if part]
    if isinstance(value, str) and kind == "boolean":
        return {"true": True, "false": False}.get(value, value)
    return value


def _request(wanted: Tree) -> Request:
    return Request(
        paths=tuple(map(_path, wanted.get("paths", ()))),
        runtimes=tuple(map(_path, wanted.get("runtimes", ()))),
        settings=wanted.get("settings", ""),
        only=wanted.get("only"),
        namespace=wanted.get("namespace"),
        strict=wanted.get("strict", False),
        field_validation=wanted.get("fieldValidation"),
        delivery=Delivery(
            name_suffix_hash=wanted.get("nameSuffixHash", False),
            argocd_replace=wanted.get("argocdReplace", False),
            suspend=wanted.get("suspend", False),
        ),
    )


def _path(path: str) -> str:
    """A path that is one: `-` is standard input elsewhere, and here a file of that name."""
    return os.path.normpath(path) if path != "-" else os.path.join(os.curdir, path)


def _wrong_paths(config: Document, field: str, wanted: Tree) -> Iterator[Diagnostic]:
    """The paths that lead out of the working directory, or are none."""
    for key in ("paths", "runtimes", "settings"):
        value = wanted.get(key, [])
        for index, path in enumerate([value] if isinstance(value, str) else value):
            at: Path = (field, key) if isinstance(value, str) else (field, key, index)
            if "\0" in path:
                yield _fault(config, "a path with a NUL character", "remove it", at)
            elif os.path.isabs(path) or os.path.normpath(path).split(os.sep)[0] == os.pardir:
                help = "trainc krm reads below its working directory alone: copy what is elsewhere, or make it an item"
                yield _fault(config, f"{path} leads out of the working directory", help, at)


def _fault(config: Document, message: str, help: str, path: Path = ()) -> Diagnostic:
    object, place = ObjectId.of(config.value), Place(config, _there(config, path))
    return Diagnostic.of(FUNCTION_CONFIG, message, help, object=object, place=place)


def _of_schema(config: Document, violation: Violation) -> Diagnostic:
    return Diagnostic(
        id=violation.rule,
        severity="error",
        stage="read",
        message=violation.message,
        help=_quoted(config, violation) or violation.help,
        object=ObjectId.of(config.value),
        field=violation.field,
        place=Place(config, _there(config, violation.path), key=violation.key),
        related=tuple(Related(what, Place(config, path)) for what, path in violation.related),
    )


def _quoted(config: Document, violation: Violation) -> str:
    """The way out where everything is text, in the data of a ConfigMap."""
    is_text = violation.path[:1] == ("data",) and isinstance(get(config.value, violation.path), str)
    return 'write "true" or "false"' if is_text and violation.rule == "wrong-type" else ""


def _there(config: Document, path: Path) -> Path:
    """A place that is there: an item of a ConfigMap's list is a part of a text."""
    missing: Any = object()
    while path and get(config.value, path, missing) is missing:
        path = path[:-1]
    return path
