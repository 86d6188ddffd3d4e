"""Completion: fields and values of the schema, names of documents, and a snippet for an empty document.

Reads    the text, the JSON Schema of the document's kind and release, and the documents of the project.
Returns  the items that fit at the cursor.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lsprotocol import types as lsp

import trainc
from trainc.lsp.outline import MARK, Outline, outline_at
from trainc.lsp.references import RUNTIMES, SETTINGS, kinds_of, replicated_jobs, runtime_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.lsp.outline import Path
    from trainc.lsp.project import OpenProject

Schema = dict[str, Any]

RUNTIME: Final = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: {kind}
metadata:
  name: ${{1:name}}{namespace}
  labels:
    trainer.kubeflow.org/framework: ${{2:torch}}
spec:
  mlPolicy:
    numNodes: ${{3:1}}
    ${{2:torch}}: {{}}
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            metadata:
              labels:
                trainer.kubeflow.org/trainjob-ancestor-step: trainer
            spec:
              template:
                spec:
                  containers:
                    - name: node
                      image: ${{4:image}}
"""
SNIPPETS: Final = {
    "TrainJob": """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: ${1:name}
  namespace: ${2:namespace}
spec:
  runtimeRef:
    name: ${3:torch-distributed}
  trainer:
    numNodes: ${4:1}
    image: ${5:image}
    command: [${6:torchrun, train.py}]
""",
    "ClusterTrainingRuntime": RUNTIME.format(kind="ClusterTrainingRuntime", namespace=""),
    "TrainingRuntime": RUNTIME.format(kind="TrainingRuntime", namespace="\n  namespace: ${5:namespace}"),
}
OF_SETTINGS: Final = {"Settings": "sources: [${1:jobs}]\nruntimes: {paths: [${2:runtimes}]}\noutput: ${3:rendered}\n"}
BUILT_IN: Final = ("runtimes", "builtin")
TYPES: Final = {"object", "array", "string", "integer", "number", "boolean"}


class Spot(NamedTuple):
    """Where the cursor is."""

    document: Outline
    path: Path
    """The path of the field that has the cursor in its value, or of the mapping that gets a key."""
    is_key: bool
    flow: bool


def spot(text: str, line: int, column: int) -> Spot | None:
    """Return where a cursor is; lines and columns count from 0. None in a comment or a block scalar."""
    lines = text.split("\n")
    lines[line] = f"{lines[line][:column]}{MARK}{lines[line][column:]}"
    document = outline_at("\n".join(lines), line)
    for each in document.fields:
        if MARK in str(each.path[-1]):
            return Spot(document, each.path[:-1], is_key=True, flow=each.flow)
        if MARK in each.value:
            return Spot(document, each.path, is_key=False, flow=each.flow)
    return None


@lru_cache(maxsize=64)
def schema_of(kind: str, release: str | None) -> Schema | None:
    """Return the schema of a kind in a release; None if there is none."""
    try:
        found: Schema = trainc.schema(kind, release)
    except (ValueError, FileNotFoundError):
        return None
    return found


def release_of(project: OpenProject) -> str | None:
    """Return the release of Trainer in the trainc.yaml of the root; None for the default."""
    return outline_at(project.text(SETTINGS), 0).value("trainerVersion").removeprefix("v") or None


def schema_at(project: OpenProject, path: str, document: Outline, field: Path) -> Schema | None:
    """Return the schema of a field of a document; None if it is unknown."""
    kind = "Settings" if os.path.basename(path) == SETTINGS else document.kind
    root = schema_of(kind, release_of(project)) or schema_of(kind, None)
    node = root
    for part in field:
        if root is None or node is None:
            return None
        node = _schema_below(root, _resolved(root, node), part)
    return None if root is None or node is None else _resolved(root, node)


def _schema_below(root: Schema, node: Schema, part: str | int) -> Schema | None:
    for each in (node, *node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
        one = _resolved(root, each)
        found = one.get("items") if isinstance(part, int) else one.get("properties", {}).get(part)
        found = found or (one.get("additionalProperties") if isinstance(part, str) else None)
        if isinstance(found, dict):
            return found
    return None


def _resolved(root: Schema, node: Schema) -> Schema:
    while "$ref" in node:
        found = root
        for step in node["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        node = {**found, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def described(node: Schema) -> str:
    """Return what a schema says about a field: its type, values, limits and rules.

    >>> described({"type": "integer", "minimum": 1, "default": 1})
    'integer, default `1`, minimum `1`'
    """
    words = [_type(node)]
    if "enum" in node:
        words.append("one of " + ", ".join(f"`{value}`" for value in node["enum"]))
    limits = ("default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern")
    words += [f"{name} `{node[name]}`" for name in limits if name in node]
    if required := node.get("required"):
        words.append("requires " + ", ".join(f"`{name}`" for name in required))
    rules = [rule.get("message") or rule["rule"] for rule in node.get("x-kubernetes-validations", ())]
    sentences = [node[name] for name in ("description", "title") if name in node][:1]
    return "\n\n".join([*sentences, ", ".join(filter(None, words)), *(f"- {rule}" for rule in rules)])


def _type(node: Schema) -> str:
    found = node.get("type")
    names = found if isinstance(found, list) else [found]
    return " or ".join(str(name) for name in names if name in TYPES)


def complete(project: OpenProject, path: str, position: lsp.Position) -> list[lsp.CompletionItem]:
    """Return the items that fit at a position."""
    text, at = project.text(path), project.code_points(path, position)
    document = outline_at(text, at.line)
    if not any(not field.is_word for field in document.fields):
        of_settings = os.path.basename(path) == SETTINGS
        return [_snippet(kind, body) for kind, body in (OF_SETTINGS if of_settings else SNIPPETS).items()]
    found = spot(text, at.line, at.character)
    if found is None:
        return []
    node = schema_at(project, path, found.document, found.path) or {}
    if found.is_key or (_type(node) == "object" and isinstance(found.path[-1], int)):
        return [*_keys(found, node)]
    return [*_values(project, found, node)]


def _snippet(kind: str, body: str) -> lsp.CompletionItem:
    form = lsp.InsertTextFormat.Snippet
    kind_of_item = lsp.CompletionItemKind.Snippet
    return lsp.CompletionItem(kind, kind=kind_of_item, insert_text=body, insert_text_format=form)


def _keys(at: Spot, node: Schema) -> Iterator[lsp.CompletionItem]:
    present = at.document.keys(at.path)
    required = node.get("required", ())
    for name, below in node.get("properties", {}).items():
        if name not in present:
            yield lsp.CompletionItem(
                name,
                kind=lsp.CompletionItemKind.Field,
                detail="required" if name in required else _type(below),
                documentation=below.get("description"),
                sort_text=f"{0 if name in required else 1}{name}",
                insert_text=f"{name}: ",
            )


def _values(project: OpenProject, at: Spot, node: Schema) -> Iterator[lsp.CompletionItem]:
    values = [*node.get("enum", ())] + (["true", "false"] if node.get("type") == "boolean" else [])
    # A release may be a number or a text.
    for value in dict.fromkeys(map(str, values)):
        yield lsp.CompletionItem(value, kind=lsp.CompletionItemKind.EnumMember)
    for name, detail in sorted(dict(_names(project, at)).items()):
        yield lsp.CompletionItem(name, kind=lsp.CompletionItemKind.Reference, detail=detail)


def _names(project: OpenProject, at: Spot) -> Iterator[tuple[str, str]]:
    """Yield the names of the documents, containers or replicated jobs that a field may name, with their kinds."""
    document, field = at.document, at.path
    if field == ("kind",):
        yield from ((kind, "") for kind in SNIPPETS)
    if field[-1:] == ("kind",) and "runtimeRef" in field:
        yield from ((kind, "") for kind in RUNTIMES)
    kinds = kinds_of(field, document.value(*field[:-1], "kind"))
    for each in project.documents():
        id = trainc.ObjectId.from_manifest(each.value)
        if id.kind in kinds:
            yield id.name, id.kind
    settings = outline_at(project.text(SETTINGS), 0)
    if kinds and kinds[0] == RUNTIMES[0] and settings.value(*BUILT_IN) != "forbid":
        only_installed = settings.value("output") == "none"
        found = trainc.built_in_runtimes(release_of(project), only_installed=only_installed)
        yield from ((name, "built-in") for name in found)
    if field[-1:] == ("name",) and "replicatedJobs" in field and document.kind == "TrainJob":
        yield from _names_of_runtime(project, document, field)


def _names_of_runtime(project: OpenProject, document: Outline, field: Path) -> Iterator[tuple[str, str]]:
    """Yield the names of the replicated jobs of a TrainJob's runtime, or of the containers of one of them."""
    at = field.index("replicatedJobs") + 2
    wanted = document.value(*field[:at], "name")
    for each in replicated_jobs(runtime_of(project, document)):
        if len(field) == at + 1:
            yield str(each.get("name", "")), "replicated job"
        elif wanted in ("", each.get("name")):
            key = next(part for part in reversed(field) if isinstance(part, str) and part != "name")
            pod: Any = each
            for part in ("template", "spec", "template", "spec", key):
                pod = pod.get(part) if isinstance(pod, dict) else None
            if key in ("containers", "initContainers", "volumes") and isinstance(pod, list):
                yield from ((str(one.get("name", "")), key) for one in pod if isinstance(one, dict))
