"""The types of the objects that patches change: which of their lists are merged, and by which key.

Reads    the CRD of a TrainJob's dialect, or of a runtime's kind; the Go types of templates and JobSets.
Returns  structs for `kubernetes.merge`. A list of the CRD is merged if its `x-kubernetes-list-type` is `map` or `set`,
         and a map if its values are objects with known fields. The template of a runtime and a JobSet have Go's merge
         keys, with which Trainer merges runtimePatches.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import EACH, JOBSET, TRAINJOB, find
from trainc.base.releases import DEFAULT_RELEASE
from trainc.base.trainjob_dialects import DIALECTS, detect, newest
from trainc.frontends import extensions
from trainc.kubernetes.gotypes import ROOT, GoField, Struct, struct
from trainc.kubernetes.structural import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.base.kinds import Kind
    from trainc.kubernetes.trees import Tree

METADATA: Final = "meta/v1.ObjectMeta"
POD_TEMPLATE: Final = "core/v1.PodTemplateSpec"
_CRDS: Final = DEFAULT_RELEASE.crds
"""The schemas with the types of fields, which are the same in all releases."""
_OBJECT: Final = {"metadata": METADATA}
_RUNTIME: Final = {"metadata": METADATA, "spec.template.metadata": METADATA, "spec.template.spec": ROOT}


def struct_of(value: Tree) -> Struct:
    """Return the type of a TrainJob in any dialect, of a runtime, or of a JobSet."""
    kind = value["kind"]
    if kind == JOBSET.kind:
        return _jobset()
    row = find(value.get("apiVersion"), kind)
    if row is not None and row.framework:
        return _legacy(row, row.schema_folder(value.get("apiVersion")))
    if kind != TRAINJOB.kind:
        return _runtime(kind)
    # Fields that contradict each other are reported when the TrainJob is compiled.
    return _trainjob(DIALECTS[detect(value, newest()).key or newest()].schema)


@cache  # one value
def _jobset() -> Struct:
    fields = {"metadata": GoField("struct", METADATA), "spec": GoField("struct", ROOT)}
    return Struct(JOBSET.kind, _with_type(fields))


@cache  # one value for each kind of runtime
def _runtime(kind: str) -> Struct:
    return struct_of_schema(kind, extensions.schema(kind, _CRDS), _RUNTIME)


@cache  # one value for each release
def _trainjob(folder: str) -> Struct:
    return struct_of_schema(TRAINJOB.kind, extensions.read(folder, f"{TRAINJOB.kind}.json"), _OBJECT)


def struct_of_schema(kind: str, schema: Tree, of_go: Mapping[str, str]) -> Struct:
    """Return the type of a kind's schema.

    of_go   the Go types of some fields, by path; a step `*` is each value of a map
    """
    return _Types(kind, schema, of_go).root


@cache  # one value for each legacy kind and release
def _legacy(kind: Kind, folder: str) -> Struct:
    templates = {".".join(path): POD_TEMPLATE for path in kind.pods}
    return struct_of_schema(kind.kind, read(kind.kind, folder), _OBJECT | templates)


def _with_type(fields: dict[str, GoField]) -> dict[str, GoField]:
    return {"apiVersion": GoField("string"), "kind": GoField("string")} | fields


class _Types:
    """The structs of a structural schema, by path; each is created on first use."""

    def __init__(self, kind: str, schema: Tree, of_go: Mapping[str, str]) -> None:
        self._definitions: Tree = schema.get("$defs", {})
        self._of_go = of_go
        """The Go types of some fields, by path."""
        self._schemas: dict[str, Tree] = {}
        self._structs: dict[str, Struct] = {}
        fields = {name: self._field(name, child) for name, child in schema["properties"].items()}
        self.root = Struct(kind, _with_type(fields), self)

    def __call__(self, path: str) -> Struct | None:
        """Return the struct at a path, or of a Go type; None for any other type."""
        if path not in self._schemas:
            return struct(path)
        if path not in self._structs:
            properties = self._schemas[path]["properties"]
            fields = {name: self._field(f"{path}.{name}", child) for name, child in properties.items()}
            self._structs[path] = Struct(path, fields, self)
        return self._structs[path]

    def _field(self, path: str, schema: Tree) -> GoField:
        if path in self._of_go:
            return GoField("struct", self._of_go[path])
        schema = self._resolved(schema)
        if schema.get("type") == "array":
            item: Any = self._resolved(schema["items"])
            keys = schema.get("x-kubernetes-list-map-keys", ())
            strategy = "merge" if schema.get("x-kubernetes-list-type") in ("map", "set") else ""
            return GoField(
                "slice", self._kept_type(f"{path}[]", item), strategy=strategy, mergeKey=next(iter(keys), "")
            )
        if "additionalProperties" in schema:
            values = schema["additionalProperties"]
            each = self._field(f"{path}.{EACH}", values) if isinstance(values, dict) else GoField("")
            return GoField("map", each.of if each.kind in ("ptr", "struct") else "")
        return (
            GoField("ptr", self._kept_type(path, schema)) if "properties" in schema else GoField(schema.get("type", ""))
        )

    def _kept_type(self, path: str, schema: Tree) -> str:
        if "properties" in schema:
            self._schemas[path] = schema
        return path

    def _resolved(self, schema: Tree) -> Tree:
        reference = schema.get("$ref")
        found: Tree = schema if reference is None else self._definitions[reference.rpartition("/")[2]]
        return found
