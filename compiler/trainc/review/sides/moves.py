"""Moves: objects whose documents move to another folder, and the Applications of Argo CD that this touches.

Reads    the documents of the files that differ between the sides, in all projects.
Returns  a move for each pair of folders. The cluster as a whole may keep all objects. But if each folder is the source
         of an Application, Argo CD prunes the objects with one and deploys them with the other. Applications are found
         in the manifests of the repository, by `source.path`. They are searched only if a document moves. Two sides
         with different paths, such as two folders, have no moves.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from trainc.diagnostics import Diagnostic, ObjectId
from trainc.files import inputs
from trainc.files.confine import is_within, repository_above
from trainc.files.selection import Selection
from trainc.frontends.reading import documents_of
from trainc.kubernetes.trees import get
from trainc.review.commits import commit_files

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from trainc.budget import Meter
    from trainc.diagnostics import Document
    from trainc.review.sides import SideSpec


class FolderMove(NamedTuple):
    """Objects whose documents move from a folder to another one."""

    old: str
    """The folder before, without a revision."""
    new: str
    """The folder after."""
    objects: tuple[ObjectId, ...]
    """The identities of the documents."""
    pruned_by: tuple[str, ...] = ()
    """The Applications of the tree that had the objects."""
    deployed_by: tuple[str, ...] = ()
    """The Applications of the tree that have the objects now."""


class _Placed(NamedTuple):
    """A document of a side."""

    id: ObjectId
    file: str
    path: Hashable
    """The path of its file that both sides share (`side_files`)."""

    @property
    def folder(self) -> str:
        """The absolute path of its folder."""
        return os.path.dirname(str(self.path))


class PlacedDocuments:
    """The documents of one side, by identity without a version."""

    def __init__(self) -> None:
        self.by_identity: dict[tuple[str, ...], list[_Placed]] = {}

    def add(self, documents: Iterable[Document], path: Hashable) -> None:
        """Add the documents of a file."""
        for document in documents:
            id = ObjectId.from_source(document.value)
            if id.apiVersion and id.kind and id.name:
                key = (id.apiVersion.rpartition("/")[0], *id[1:])
                self.by_identity.setdefault(key, []).append(_Placed(id, document.file, path))


class MovableDocuments:
    """The documents of the files that differ between the sides."""

    def __init__(self) -> None:
        self.old = PlacedDocuments()
        self.new = PlacedDocuments()

    def moves(self, old: SideSpec, new: SideSpec, meter: Meter) -> tuple[FolderMove, ...]:
        """Return the moves between folders, by folder. Raise OverBudgetError beyond the budget."""
        if old.paths != new.paths:
            return ()
        groups: dict[tuple[str, str], list[tuple[_Placed, _Placed]]] = {}
        for one, other in self._moved():
            folders = os.path.dirname(one.file), os.path.dirname(other.file)
            groups.setdefault(folders, []).append((one, other))
        if not groups:
            return ()
        top = _top(old, new)
        before, after = (_Applications(side, top, meter) for side in (old, new))
        return tuple(
            FolderMove(
                folders[0] or os.curdir,
                folders[1] or os.curdir,
                objects=tuple(sorted(other.id for _, other in pairs)),
                pruned_by=_names(was - now for was, now in _touched(pairs, before, after)),
                deployed_by=_names(now - was for was, now in _touched(pairs, before, after)),
            )
            for folders, pairs in sorted(groups.items())
        )

    def _moved(self) -> Iterator[tuple[_Placed, _Placed]]:
        """Yield each document that leaves a folder and comes to another one."""
        for key, placed in self.new.by_identity.items():
            after = {each.folder: each for each in placed}
            before = {each.folder: each for each in self.old.by_identity.get(key, ())}
            gone = [each for folder, each in before.items() if folder not in after]
            found = [each for folder, each in after.items() if folder not in before]
            yield from zip(gone, found, strict=False)  # more of one side are added or removed


def _names(names: Iterable[set[str]]) -> tuple[str, ...]:
    return tuple(sorted(set().union(*names)))


def _touched(
    pairs: Iterable[tuple[_Placed, _Placed]], before: _Applications, after: _Applications
) -> Iterator[tuple[set[str], set[str]]]:
    """Yield the Applications that deploy each document before and after."""
    return ((before.deploying(one.path), after.deploying(other.path)) for one, other in pairs)


def _top(old: SideSpec, new: SideSpec) -> str | None:
    """Return the root of the repository; None outside of one."""
    for side in (new, old):
        if side.commit is not None:
            return side.commit.top
    return repository_above(os.path.abspath(new.paths[0]))


class _Applications:
    """The Applications of a side's repository, by the folder of their sources."""

    def __init__(self, side: SideSpec, top: str | None, meter: Meter) -> None:
        self.folders: dict[str, set[str]] = {}
        """The names of the Applications by the absolute path of a source."""
        for value in _manifests(side, top, meter) if top is not None else ():
            for source in _sources(value):
                if isinstance(path := source.get("path"), str):
                    folder = os.path.normpath(os.path.join(str(top), path))
                    self.folders.setdefault(folder, set()).add(ObjectId.from_manifest(value).name)

    def deploying(self, path: Hashable) -> set[str]:
        """Return the names of the Applications that deploy a file; those of other paths are unknown."""
        found = (names for folder, names in self.folders.items() if isinstance(path, str) and is_within(path, folder))
        return set().union(*found)


def _manifests(side: SideSpec, top: str, meter: Meter) -> Iterator[Any]:
    """Yield the Applications of a repository. Faults of files that a review does not read are not reported."""
    if side.commit is None:
        files = inputs.read([os.path.relpath(top)], Selection())
    else:
        files = commit_files.read(side.commit, [top], Selection())
    for file in files:
        if isinstance(file, Diagnostic):
            continue
        if not file.revision:
            meter.spend("input bytes", len(file.data))
        if b"argoproj.io" not in file.data or b"Application" not in file.data:
            continue
        for document in documents_of(file):
            if not isinstance(document, Diagnostic) and _is_application(document.value):
                yield document.value


def _is_application(value: Any) -> bool:
    id = ObjectId.from_manifest(value)
    return id.kind == "Application" and id.apiVersion.startswith("argoproj.io/")


def _sources(application: Any) -> Iterator[dict[str, Any]]:
    """Yield the sources of an Application, which has one or several."""
    several = get(application, ("spec", "sources"), [])
    for source in (get(application, ("spec", "source")), *(several if isinstance(several, list) else ())):
        if isinstance(source, dict):
            yield source
