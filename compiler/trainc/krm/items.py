"""The items of the answer: those that were given, with the objects in the places of the TrainJobs.

Reads    the items, the roles in which they were read, and what was made.
Returns  the items in their order. TrainJobs and runtimes are input, and stay out of the answer as they stay out of a
         build; an item that is marked as not for the cluster (config.kubernetes.io/local-config) stays. Other kinds are
         as they were.

kpt writes an item to the file and at the index that its annotations say, and refuses two items at one place. The first
object takes its TrainJob's place; the others stand at the end of that file. Beside a TrainJob that stays,
`job.yaml` gets its objects into `job.jobset.yaml`, and what a run before has made there is replaced.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from trainc.diagnostics import ObjectId
from trainc.emit.order import in_order
from trainc.krm.annotations import Home, home, is_local

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation import Compilation
    from trainc.diagnostics import Document
    from trainc.krm.resourcelist import ResourceList
    from trainc.kubernetes.trees import Tree
    from trainc.reading import Reading


def is_config(item: object, given: ResourceList) -> bool:
    """Whether an item is the functionConfig itself: kustomize gives nothing else to a generator."""
    return ObjectId.of(item) == ObjectId.of(given.config.value)


def beside(given: ResourceList, read: Reading, compilation: Compilation) -> list[Document]:
    """Return the items of the answer that have the identity of a compiled object.

    What an earlier run made of a TrainJob that stays is replaced, so it is left out.
    """
    made = _made(given, compilation)
    again = {ObjectId.of(tree) for i, item in enumerate(given.items) if is_local(item) for tree in made.get(i, ())}
    wanted = {ObjectId.of(tree) for trees in made.values() for tree in trees} - again
    return [document for document in read.documents["other"] if ObjectId.of(document.value) in wanted]


def replaced(given: ResourceList, read: Reading, compilation: Compilation) -> list[Any]:
    """The items of the answer."""
    made = _made(given, compilation)
    sources = (given.number_of(document) for role in ("job", "runtime") for document in read.documents[role])
    inputs = {index for index in sources if index is not None}
    stays = {index for index in inputs if is_local(given.items[index])}
    again = {ObjectId.of(tree): tree for index in stays for tree in made.get(index, ())}
    renewed = {ObjectId.of(item) for index, item in enumerate(given.items) if index not in inputs} & again.keys()
    free = _Free(map(home, given.items))
    answer: list[Any] = []
    for index, item in enumerate(given.items):
        if index not in inputs:
            tree = again.get(ObjectId.of(item))
            answer.append(item if tree is None else home(item).on(tree))
        elif index in stays:
            new = [tree for tree in made.get(index, ()) if ObjectId.of(tree) not in renewed]
            answer += [item, *_placed(new, free.beside(home(item)))]
        else:
            answer += _placed(made.get(index, ()), free.instead_of(home(item)))
            answer += [document.value for document in read.documents["other"] if given.number_of(document) == index]
    return answer + made.get(None, [])


def _made(given: ResourceList, compilation: Compilation) -> dict[int | None, list[Tree]]:
    """The objects by the item that they were made of; None for those of the paths."""
    made: dict[int | None, list[Tree]] = {}
    for job in compilation.jobs:
        made.setdefault(given.number_of(job.plan.job.document), []).extend(map(in_order, job.objects))
    return made


def _placed(trees: Iterable[Tree], homes: Iterator[Home]) -> list[Tree]:
    return [where.on(tree) for tree, where in zip(trees, homes, strict=False)]


class _Free:
    """The places in files that no item has."""

    def __init__(self, taken: Iterable[Home]) -> None:
        self.last: dict[tuple[str | None, str], int] = {}
        for where in taken:
            self.last[where.file] = max(where.number, self.last.get(where.file, -1))

    def instead_of(self, where: Home) -> Iterator[Home]:
        """The place of an item that goes, then the end of its file."""
        yield where
        yield from self._end(where)

    def beside(self, where: Home) -> Iterator[Home]:
        """The end of the file beside that of an item that stays."""
        stem, suffix = os.path.splitext(where.path)
        yield from self._end(where._replace(path=f"{stem}.jobset{suffix}" if where.path else ""))

    def _end(self, where: Home) -> Iterator[Home]:
        while True:
            self.last[where.file] = self.last.get(where.file, -1) + 1
            yield where._replace(number=self.last[where.file])
