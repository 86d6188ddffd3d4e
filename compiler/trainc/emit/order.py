"""The output order of objects and fields, which every format uses.

Reads    manifests.
Returns  the manifests or their keys in order. The tools of Kubernetes differ (kubectl sorts, kustomize keeps the
         order); trainc puts the identifying fields first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBSET

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Tree

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
