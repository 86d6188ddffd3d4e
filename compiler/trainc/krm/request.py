"""The functionConfig.

Reads    a TrainJobCompiler (schemas/trainc/TrainJobCompiler.json), or a ConfigMap with the fields of its spec as text
         in `data`, which kpt creates for `-- key=value`. Lists are separated by commas or line breaks.
Returns  the request, or all its errors. An unknown field is an error.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_path
from trainc.base.declarations import Declaration
from trainc.base.option_rows import BY_NAME, RELEASE_ROWS, ROWS
from trainc.base.records import NamedTuple
from trainc.compilation.run import Options, Purpose
from trainc.diagnostics import Diagnostic, ObjectId, Place, Related
from trainc.files.confine import is_hidden
from trainc.kubernetes.structural import StructuralSchema
from trainc.kubernetes.trees import get
from trainc.pipeline.library import OptionNames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Document, Path
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation

FUNCTION_CONFIG: Final = Declaration("function-config", ("read",), trainc_only=True)

KIND: Final = "TrainJobCompiler"
VERSION: Final = "trainc.dev/v1alpha1"
FIELDS: Final = {(VERSION, KIND): "spec", ("v1", "ConfigMap"): "data"}
"""The field of each kind that contains the request."""


OPTION_NAMES: Final = OptionNames(
    runtimes="runtimes: [{}] in the functionConfig",
    name_suffix_hash="nameSuffixHash in the functionConfig",
    suspend="suspend in the functionConfig",
    legacy="legacy in the functionConfig",
    gang="gang in the functionConfig",
    trainer_version="trainerVersion in the functionConfig",
    field_validation="fieldValidation: warn in the functionConfig",
    strict="strict in the functionConfig",
    exclude="leave one out with `exclude` in trainc.yaml",
)
"""The functionConfig fields that messages name instead of options."""
PURPOSE: Final = Purpose(copies=True, option_names=OPTION_NAMES)


class Request(NamedTuple):
    """The paths and options of a run."""

    options: Options
    """The options; trainc.yaml is read only if the functionConfig has `settings`."""
    paths: tuple[str, ...] = ()
    """Files and folders to compile in addition to the items, relative to the working directory."""


def parse(config: Document) -> Request | list[Diagnostic]:
    """Return the request of a functionConfig. Without one, the items are compiled with the defaults."""
    if config.value is None:
        return _request({})
    subject = ObjectId.from_manifest(config.value)
    field = FIELDS.get((subject.apiVersion, subject.kind))
    if field is None:
        return [_error(config, _unsupported_field(config.value, subject), f"use apiVersion {VERSION}, kind {KIND}")]
    fields = config.value.get(field)
    schema = _schema(field)
    if field == "data" and isinstance(fields, dict):
        known = schema["properties"][field]["properties"]
        fields = {key: _typed_value(value, known.get(key)) for key, value in fields.items()}
    admitted = StructuralSchema(schema).admit({} if fields is None else {field: fields})
    # An unknown field is an error: the request would be incomplete without it.
    found = [_schema_error(config, violation) for violation in (*admitted.violations, *admitted.unknown)]
    if found:
        return found
    values = admitted.value.get(field, {})
    found = [*_wrong_paths(config, field, values), *_wrong_names(config, field, values)]
    return found or _request(values)


def _unsupported_field(value: object, subject: ObjectId) -> str:
    if not isinstance(value, dict):
        return "the functionConfig must be an object"
    name = " ".join(word for word in (subject.apiVersion, subject.kind) if word)
    return f"the functionConfig {name} is not supported" if name else "the functionConfig has no apiVersion and no kind"


def _schema(field: str) -> Tree:
    """Return the schema of a whole functionConfig, limited to trainc's field."""
    with open(data_path("schemas", "trainc", f"{KIND}.json"), encoding="utf-8") as file:
        schema: Tree = json.load(file)
    title = KIND if field == "spec" else "the functionConfig"
    return schema | {"title": title, "properties": {field: schema["properties"]["spec"]}}


def _typed_value(value: object, schema: Tree | None) -> object:
    """Return the typed value of a ConfigMap's text; text that does not match the type stays unchanged."""
    kind = (schema or {}).get("type")
    if isinstance(value, str) and kind == "array":
        return [part for part in map(str.strip, re.split(r"[,\n]", value)) if part]
    if isinstance(value, str) and kind == "boolean":
        return {"true": True, "false": False}.get(value, value)
    return value


def _request(values: Tree) -> Request:
    given: dict[str, Any] = {row.name: values[row.field] for row in ROWS if row.field in values}
    for name, value in given.items():
        if BY_NAME[name].form == "paths":
            given[name] = tuple(map(_path, value))
        elif BY_NAME[name].form == "names":
            given[name] = (value,)
    options = Options(no_config=not given.get("config"), **given)
    return Request(options, tuple(map(_path, values.get("paths", ()))))


def _path(path: str) -> str:
    """Return a normalized path. `-` is a file of that name here, not standard input."""
    return os.path.normpath(path) if path != "-" else os.path.join(os.curdir, path)


def _wrong_paths(config: Document, field: str, values: Tree) -> Iterator[Diagnostic]:
    """Report paths that are invalid, hidden, or outside the working directory."""
    for key in ("paths", "runtimes", "settings"):
        value = values.get(key, [])
        for index, path in enumerate([value] if isinstance(value, str) else value):
            at: Path = (field, key) if isinstance(value, str) else (field, key, index)
            if "\0" in path:
                yield _error(config, "the path contains a NUL character", "remove it", at)
            elif os.path.isabs(path) or os.path.normpath(path).split(os.sep)[0] == os.pardir:
                help = (
                    "copy it into the working directory, or pass it as an item: "
                    "trainc krm reads only files in its working directory"
                )
                yield _error(config, f"{path} is outside the working directory", help, at)
            elif any(map(is_hidden, os.path.normpath(path).split(os.sep))):
                yield _error(config, f"{path} is a hidden file or folder", "use a name without a dot at its start", at)


def _wrong_names(config: Document, field: str, values: Tree) -> Iterator[Diagnostic]:
    """Report a release that does not exist, and the name of a gang scheduler that is misspelt or invalid."""
    for row in RELEASE_ROWS.values():
        if row.release_fault is not None and row.field in values and (fault := row.release_fault(values[row.field])):
            yield _error(config, *fault, (field, row.field))
    if "gang" in values:
        from trainc.frontends.gangs import name_fault

        if fault := name_fault(values["gang"]):
            yield _error(config, *fault, (field, "gang"))


def _error(config: Document, message: str, help: str, path: Path = ()) -> Diagnostic:
    object, place = ObjectId.from_manifest(config.value), Place(config, _existing_path(config, path))
    return Diagnostic.declared(FUNCTION_CONFIG, message, help, object=object, place=place)


def _schema_error(config: Document, violation: Violation) -> Diagnostic:
    return Diagnostic(
        id=violation.rule,
        severity="error",
        stage="read",
        message=violation.message,
        help=_quoted(config, violation) or violation.help,
        object=ObjectId.from_manifest(config.value),
        field=violation.field,
        place=Place(config, _existing_path(config, violation.path), key=violation.key),
        related=tuple(Related(relation, Place(config, path)) for relation, path in violation.related),
    )


def _quoted(config: Document, violation: Violation) -> str:
    """Return the help for a wrong boolean in a ConfigMap's data, where every value is text."""
    is_text = violation.path[:1] == ("data",) and isinstance(get(config.value, violation.path), str)
    return 'use "true" or "false"' if is_text and violation.rule == "wrong-type" else ""


def _existing_path(config: Document, path: Path) -> Path:
    """Return the longest existing part of a path: the list items of a ConfigMap are parts of one text."""
    missing: Any = object()
    while path and get(config.value, path, missing) is missing:
        path = path[:-1]
    return path
