"""Moves: objects whose documents move to another folder, and the Applications of Argo CD that this touches.

Reads    the documents of the files that differ between the sides, in all projects.
Returns  a move for each pair of folders. The cluster as a whole may keep all objects. But if each folder is the source
         of an Application, Argo CD prunes the objects with one and deploys them with the other. Applications are found
         in the manifests of the repository, by `source.path`; of an ApplicationSet, only the name is read. They are
         searched only if a document moves. Two sides with different paths, such as two folders, have no moves.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.diagnostics import Diagnostic, ObjectId
from trainc.files import inputs
from trainc.files.confine import is_within, repository_above
from trainc.files.selection import Selection
from trainc.frontends.reading import documents_of
from trainc.kubernetes.trees import get
from trainc.review.commits import commit_files

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from trainc.budget import Meter
    from trainc.diagnostics import Document
    from trainc.review.commits import Commit

APPLICATION: Final = "Application"


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
    sets: tuple[str, ...] = ()
    """The ApplicationSets of the tree, whose Applications are not known: generators are not read."""


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

    def moves(
        self, old: Commit | None, new: Commit | None, paths: Sequence[str], meter: Meter
    ) -> tuple[FolderMove, ...]:
        """Return the moves between folders, by folder. Raise OverBudgetError beyond the budget.

        Args:
            old: the commit of the old side; None for files on disk.
            new: the commit of the new side.
            paths: the paths that both sides have.
            meter: the work of the review.
        """
        groups: dict[tuple[str, str], list[tuple[_Placed, _Placed]]] = {}
        for pair in self._moved():
            folders = os.path.dirname(pair[0].file), os.path.dirname(pair[1].file)
            groups.setdefault(folders, []).append(pair)
        if not groups:
            return ()
        top = _top(old, new, paths)
        before, after = (_Applications(commit, top, meter) for commit in (old, new))
        found = []
        for (one, other), pairs in sorted(groups.items()):
            touched = [(before.deploying(was.path), after.deploying(now.path)) for was, now in pairs]
            found.append(
                FolderMove(
                    one or os.curdir,
                    other or os.curdir,
                    objects=tuple(sorted(now.id for _, now in pairs)),
                    pruned_by=_names(was - now for was, now in touched),
                    deployed_by=_names(now - was for was, now in touched),
                    sets=_names((before.sets, after.sets)),
                )
            )
        return tuple(found)

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


def _top(old: Commit | None, new: Commit | None, paths: Sequence[str]) -> str | None:
    """Return the root of the repository; None outside of one."""
    commit = new or old
    return repository_above(os.path.abspath(paths[0])) if commit is None else commit.top


class _Applications:
    """The Applications of a side's repository, by the folder of their sources."""

    def __init__(self, commit: Commit | None, top: str | None, meter: Meter) -> None:
        self.folders: dict[str, set[str]] = {}
        """The names of the Applications by the absolute path of a source."""
        self.sets: set[str] = set()
        """The names of the ApplicationSets."""
        for value in _manifests(commit, top, meter) if top is not None else ():
            if ObjectId.from_manifest(value).kind != APPLICATION:
                self.sets.add(ObjectId.from_manifest(value).name)
                continue
            for source in _sources(value):
                if isinstance(path := source.get("path"), str):
                    folder = os.path.normpath(os.path.join(str(top), path))
                    self.folders.setdefault(folder, set()).add(ObjectId.from_manifest(value).name)

    def deploying(self, path: Hashable) -> set[str]:
        """Return the names of the Applications that deploy a file; those of other paths are unknown."""
        found = (names for folder, names in self.folders.items() if isinstance(path, str) and is_within(path, folder))
        return set().union(*found)


def _manifests(commit: Commit | None, top: str, meter: Meter) -> Iterator[Any]:
    """Yield the Applications and their sets in a repository. Faults of files that no review reads are not reported."""
    if commit is None:
        files = inputs.read([os.path.relpath(top)], Selection())
    else:
        files = commit_files.read(commit, [top], Selection())
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
    return id.kind in {APPLICATION, "ApplicationSet"} and id.apiVersion.startswith("argoproj.io/")


def _sources(application: Any) -> Iterator[dict[str, Any]]:
    """Yield the sources of an Application, which has one or several."""
    several = get(application, ("spec", "sources"), [])
    for source in (get(application, ("spec", "source")), *(several if isinstance(several, list) else ())):
        if isinstance(source, dict):
            yield source
