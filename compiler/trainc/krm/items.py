"""The items of the answer: the given items, with TrainJobs replaced by their objects.

Reads    the items, their roles, and the compiled objects.
Returns  the items in their order. TrainJobs and runtimes are input and are not in the answer, as in a build, unless
         they are local configuration (config.kubernetes.io/local-config). Other kinds are unchanged, except for the
         settings' namespace if they have none.

kpt writes an item to the file and index in its annotations, and rejects two items with the same location. The first
object takes its TrainJob's location; the others follow at the end of that file. The objects of a TrainJob that stays in
`job.yaml` go to `job.jobset.yaml` and replace those of a previous run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBSET
from trainc.diagnostics import ObjectId
from trainc.emit.order import in_order
from trainc.krm.resourcelist import PackageLocation, file_of, is_local, location
from trainc.kubernetes.trees import get, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.compilation import Compilation
    from trainc.diagnostics import Document
    from trainc.frontends.reading import Reading
    from trainc.krm.resourcelist import ResourceList
    from trainc.kubernetes.trees import Tree

NAMESPACE: Final = ("metadata", "namespace")


def is_config(item: object, given: ResourceList) -> bool:
    """Return whether an item is the functionConfig itself, the only item that kustomize passes to a generator."""
    return ObjectId.from_manifest(item) == ObjectId.from_manifest(given.config.value)


def items_of_compiled_objects(given: ResourceList, compilation: Compilation) -> list[Document]:
    """Return the items of the answer that have the identity of a compiled object.

    Not included: objects that an earlier run compiled from a TrainJob that stays in the list; they are replaced.
    """
    compiled = _compiled(given, compilation)
    kept = (number for number, item in enumerate(given.items) if is_local(item))
    replaced_ids = {ObjectId.from_manifest(tree) for number in kept for tree in compiled.get(number, ())}
    ids = {ObjectId.from_manifest(tree) for trees in compiled.values() for tree in trees} - replaced_ids
    return [document for document in compilation.others if ObjectId.from_manifest(document.value) in ids]


def passed_through(given: ResourceList, compilation: Compilation) -> list[Document]:
    """Return the documents of other kinds that the settings' namespace applies to."""
    return [
        document
        for document in compilation.others
        if (number := given.number_of(document)) is not None
        and not (is_local(given.items[number]) or is_config(given.items[number], given))
    ]


def replaced(
    given: ResourceList, read: Reading, compilation: Compilation, copied_files: Callable[[str], bool] | None = None
) -> list[Any]:
    """Return the items of the answer; of other kinds, only those of `copied_files` and local configuration."""
    compiled = _compiled(given, compilation)
    others = _moved_items(given, compilation)
    sources = (
        given.number_of(document)
        for role in ("job", "runtime")
        for document in read.documents[role]
        if document.value.get("kind") != JOBSET.kind
    )
    inputs = {index for index in sources if index is not None}
    kept = {index for index in inputs if is_local(given.items[index])}
    updated = {ObjectId.from_manifest(tree): tree for index in kept for tree in compiled.get(index, ())}
    overwritten = {
        ObjectId.from_manifest(others.get(index, item)) for index, item in enumerate(given.items) if index not in inputs
    } & updated.keys()
    dropped = {
        index
        for index, item in enumerate(given.items)
        if copied_files is not None
        and not (is_local(item) or is_config(item, given) or copied_files(file_of(item) or ""))
    }
    free = _FreeLocations(map(location, given.items))
    answer: list[Any] = []
    for index, given_item in enumerate(given.items):
        item = others.get(index, given_item)
        if index not in inputs:
            tree = updated.get(ObjectId.from_manifest(item))
            if tree is not None or index not in dropped:
                answer.append(item if tree is None else location(item).on(tree))
        elif index in kept:
            new = [tree for tree in compiled.get(index, ()) if ObjectId.from_manifest(tree) not in overwritten]
            answer += [item, *_placed(new, free.jobset_file(location(item)))]
        else:
            answer += _placed(compiled.get(index, ()), free.instead_of(location(item)))
            if index not in dropped:
                answer += [document.value for document in compilation.others if given.number_of(document) == index]
    return answer + compiled.get(None, [])


def _compiled(given: ResourceList, compilation: Compilation) -> dict[int | None, list[Tree]]:
    """Return the compiled objects by the index of their TrainJob's item; None for those of the paths."""
    compiled: dict[int | None, list[Tree]] = {}
    for job in compilation.jobs:
        compiled.setdefault(given.number_of(job.plan.job.document), []).extend(map(in_order, job.objects))
    return compiled


def _moved_items(given: ResourceList, compilation: Compilation) -> dict[int, Any]:
    """Return the items that the settings change, by index, with the annotations of kustomize and kpt.

    They change the namespace of an object, and JobSets.
    """
    changed: dict[int, Any] = {}
    for document in passed_through(given, compilation):
        if document.edits:
            _, index, *path = document.within
            assert isinstance(index, int)
            item = changed.get(index, given.items[index])
            if document.value.get("kind") != JOBSET.kind:
                changed[index] = put(item, (*path, *NAMESPACE), get(document.value, NAMESPACE))
            else:
                changed[index] = put(item, tuple(path), document.value) if path else location(item).on(document.value)
    return changed


def _placed(trees: Iterable[Tree], locations: Iterator[PackageLocation]) -> list[Tree]:
    return [at.on(tree) for tree, at in zip(trees, locations, strict=False)]


class _FreeLocations:
    """The locations that no item has."""

    def __init__(self, taken: Iterable[PackageLocation]) -> None:
        self.last: dict[tuple[str | None, str], int] = {}
        for at in taken:
            self.last[at.file] = max(at.number, self.last.get(at.file, -1))

    def instead_of(self, at: PackageLocation) -> Iterator[PackageLocation]:
        """Yield the location of a removed item, then the end of its file."""
        yield at
        yield from self._end(at)

    def jobset_file(self, at: PackageLocation) -> Iterator[PackageLocation]:
        """Yield the end of the `.jobset` file beside a kept item's file."""
        stem, suffix = os.path.splitext(at.path)
        yield from self._end(at._replace(path=f"{stem}.jobset{suffix}" if at.path else ""))

    def _end(self, at: PackageLocation) -> Iterator[PackageLocation]:
        while True:
            self.last[at.file] = self.last.get(at.file, -1) + 1
            yield at._replace(number=self.last[at.file])
