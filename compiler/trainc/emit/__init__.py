"""The back end: manifests as deterministic bytes that every parser reads alike.

Each format is a module, named after its `--format` key. It has `parts(objects, copies)`, which yields the output in
parts. All formats share the order of objects and fields: the identifying fields are first. (The tools of Kubernetes
differ: kubectl sorts, kustomize keeps the order.)

**An output format** (a format of `trainc build`). Copy from `emit/json.py`.
1. Write `emit/<name>.py` with `parts(objects, copies)`, which yields the whole output in parts: the compiled
   objects, and the documents of `--passthrough`. The order of fields is that of `in_order`.
2. Add `<name>` to `FORMATS` in `emit/__init__.py`, and a parser of another project to `READERS` in
   `tests/unit/test_emit_round_trip.py`.
3. Describe `--format <name>` in `docs/commands/build.md`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBSET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.kubernetes.trees import Tree

    Copy = tuple[Tree, str]
    """An object that trainc does not compile: its value, and its own text as one YAML document."""


FORMATS: Final = ("yaml", "json")
"""The formats. The first one is the default, and the format of the files in an output folder."""


def load(key: str) -> Callable[[Iterable[Tree], Iterable[Copy]], Iterator[str]]:
    """Return the function `parts` of a format: the compiled objects in order, then the copies, as text in parts."""
    parts: Callable[[Iterable[Tree], Iterable[Copy]], Iterator[str]] = import_module(f"{__name__}.{key}").parts
    return parts


TOP: Final = {"apiVersion": 0, "kind": 1, "metadata": 2, "spec": 3}


def objects_of_a_job(objects: Iterable[Tree]) -> list[Tree]:
    """Sort the compiled objects of one TrainJob: the JobSet, then the others by apiVersion, kind and name."""
    return sorted(
        objects,
        key=lambda tree: (tree["kind"] != JOBSET.kind, tree["apiVersion"], tree["kind"], tree["metadata"]["name"]),
    )


def top_fields(keys: Iterable[str]) -> list[str]:
    """Sort the keys of a whole object: apiVersion, kind, metadata, spec, then the others sorted.

    >>> top_fields(["data", "metadata", "binaryData", "apiVersion"])
    ['apiVersion', 'metadata', 'binaryData', 'data']
    """
    return sorted(keys, key=lambda key: (TOP.get(key, len(TOP)), key))


def fields(keys: Iterable[str]) -> list[str]:
    """Sort the keys of a mapping inside an object: name, then the others by code point.

    >>> fields(["value", "name", "Key"])
    ['name', 'Key', 'value']
    """
    return sorted(keys, key=lambda key: (key != "name", key))


def in_order(tree: Tree) -> Tree:
    """Return a copy of a whole object with its mappings in output order."""
    return {key: _sorted_fields(tree[key]) for key in top_fields(tree)}


def _sorted_fields(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _sorted_fields(node[key]) for key in fields(node)}
    if isinstance(node, list):
        return [_sorted_fields(item) for item in node]
    return node
