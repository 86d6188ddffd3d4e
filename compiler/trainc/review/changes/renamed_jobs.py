"""Pairs of TrainJobs that have another name on the new side: renamed ones, and those whose names are generated.

Reads    both sides of a review.
Returns  the new side with the names of the old side, so that a review shows the edits of one TrainJob instead of a
         removed and an added JobSet with other host names. A change of an immutable field gives a TrainJob with
         generateName another name. A TrainJob is renamed if it is the only one that disappears from a source file, and
         another one is the only one that appears there, or has the same name there without the settings.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.diagnostics import ObjectId
from trainc.emit import objects_of_a_job
from trainc.files.confine import is_within
from trainc.kubernetes.trees import get
from trainc.pipeline.generated_names import digest
from trainc.provenance.tracing.correspondence import GONE
from trainc.provenance.tracing.history import remade, resolved_plan
from trainc.review.changes import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from trainc.compilation import Compiled
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree
    from trainc.review.changes import Kind
    from trainc.review.sides import Side, SideItem

    Groups = dict[Hashable, list[Compiled]]


NAMES: Final = (("metadata", "namespace"), ("metadata", "name"))
"""The fields that identify an object of a kind."""


class _Pair(NamedTuple):
    """A TrainJob on both sides."""

    old: Compiled
    new: Compiled


def with_old_names(old: Side, new: Side) -> Side:
    """Return the new side with the old names of its renamed TrainJobs; each object also has its own identity."""
    pairs = [pair for pair in (*_generated(old, new), *_renamed(old, new)) if _name(pair.old) != _name(pair.new)]
    found = {id(job): renamed(job, *reversed(_name(before))) for before, job in pairs}
    return new._replace(items=tuple(_item(item, found) for item in new.items)) if found else new


def with_names_of_environment(old: Side, new: Side) -> Side:
    """Return the new side with the names of the old one, another environment that is compiled from the same documents.

    The objects of a TrainJob get the host names and labels that follow from the old name, too.
    """
    groups = [_grouped(_jobs(side), lambda job: document_key(job.plan.job.document)) for side in (old, new)]
    pairs = (pair for key in groups[0] for pair in zip(groups[0][key], groups[1].get(key, ()), strict=False))
    jobs = {id(job): renamed(job, *reversed(_name(before))) for before, job in pairs if _name(before) != _name(job)}
    copies = {document_key(item.document): item for item in old.items if item.job is None}
    items = (_item(item, jobs) if item.job else _copy(item, copies) for item in new.items)
    return new._replace(items=tuple(items))


def document_key(document: Document) -> tuple[Hashable, ...]:
    """Return the position of a document, which is the same in all environments."""
    return document.file, document.line, document.column, document.within


def _copy(item: SideItem, olds: dict[tuple[Hashable, ...], SideItem]) -> SideItem:
    """Return a copied document with the name of the same document in the old environment."""
    old = olds.get(document_key(item.document))
    if old is None or old.id == item.id:
        return item
    return item._replace(id=old.id, tree=with_name(item.tree, old.tree), own=item)


def with_hashes(old: Side, new: Side) -> tuple[Side, Side]:
    """Return two sides with their real names if the names of one side, and not of the other, have a hash.

    The objects of the new side have the names of the old side, and each also has its own identity.
    """
    before, after = (side.settings.delivery.name_suffix_hash for side in (old, new))
    if before == after:
        return old, new
    if after:
        own = {id(job): _with_hash(job) for item in new.items if (job := (item.own or item).job) is not None}
        return old, new._replace(items=tuple(_with_identity(item, own) for item in new.items))
    named = {_name(job): _with_hash(job) for job in _jobs(old)}
    after_jobs = {
        id(job): renamed(job, *reversed(_name(named[_name(job)]))) for job in _jobs(new) if _name(job) in named
    }
    return (
        with_own_hashes(old),
        new._replace(items=tuple(_item(item, after_jobs)._replace(own=item.own or item) for item in new.items)),
    )


def with_own_hashes(side: Side) -> Side:
    """Return a side with the real names of its objects if its settings add a hash to them."""
    if not side.settings.delivery.name_suffix_hash:
        return side
    jobs = {id(job): _with_hash(job) for job in _jobs(side)}
    return side._replace(items=tuple(_item(item, jobs)._replace(own=None) for item in side.items))


def _with_hash(job: Compiled) -> Compiled:
    """Return a TrainJob with its objects under the name with a hash; a generated name has no other hash."""
    if _is_generated(job):
        return job
    plan = remade(resolved_plan(job.plan)._replace(suffix=f"-{digest(job.objects)}"))
    return job._replace(name=plan.name, plan=plan, objects=tuple(objects_of_a_job(plan.objects)))


def _with_identity(item: SideItem, jobs: dict[int, Compiled]) -> SideItem:
    """Return an object whose own identity is that of another version of its TrainJob."""
    own = item.own or item
    return item._replace(own=_item(own, jobs)._replace(own=None))


def _generated(old: Side, new: Side) -> Iterator[_Pair]:
    """Yield the TrainJobs of both sides with one generateName: by source file, else the only ones left."""
    before, after = (_grouped(filter(_is_generated, _jobs(side)), _generated_name) for side in (old, new))
    for key in before.keys() & after.keys():
        names = {job.name for job in before[key]} & {job.name for job in after[key]}
        left = [[job for job in group if job.name not in names] for group in (before[key], after[key])]
        files = [_by_file(old, left[0]), _by_file(new, left[1])]
        for file in files[0].keys() & files[1].keys():
            pairs = [_Pair(*pair) for pair in zip(files[0][file], files[1][file], strict=False)]
            yield from pairs
            paired = {id(job) for pair in pairs for job in pair}
            left = [[job for job in group if id(job) not in paired] for group in left]
        if len(left[0]) == len(left[1]) == 1:
            yield _Pair(left[0][0], left[1][0])


def _renamed(old: Side, new: Side) -> Iterator[_Pair]:
    """Yield the renamed TrainJobs of each source file."""
    sides = [[job for job in _jobs(side) if not _is_generated(job)] for side in (old, new)]
    kept = {_name(job) for job in sides[0]} & {_name(job) for job in sides[1]}
    left = [[job for job in jobs if _name(job) not in kept] for jobs in sides]
    before, after = (_by_file(side, jobs) for side, jobs in zip((old, new), left, strict=True))
    for file in before.keys() & after.keys():
        sources = [_grouped(group[file], _source_name) for group in (before, after)]
        same = sources[0].keys() & sources[1].keys()
        yield from (_Pair(sources[0][name][0], sources[1][name][0]) for name in same)
        rest = [[job for job in group[file] if _source_name(job) not in same] for group in (before, after)]
        if len(rest[0]) == len(rest[1]) == 1:
            yield _Pair(rest[0][0], rest[1][0])


def _jobs(side: Side) -> list[Compiled]:
    """Return the TrainJobs of a side."""
    return [job for job in {id(item.job): item.job for item in side.items}.values() if job is not None]


def _grouped(jobs: Iterable[Compiled], key: Callable[[Compiled], Hashable]) -> Groups:
    groups: Groups = {}
    for job in jobs:
        groups.setdefault(key(job), []).append(job)
    return groups


def _is_generated(job: Compiled) -> bool:
    return job.plan.job.letters_at is not None


def _generated_name(job: Compiled) -> Hashable:
    """Return the namespace and the fixed parts of a generated name."""
    return job.namespace, job.plan.job.around_letters


def _name(job: Compiled) -> tuple[str, str]:
    return job.namespace, job.name


def _source_name(job: Compiled) -> Hashable:
    """Return the namespace and the name in the source file, without those of settings."""
    written = job.plan.job.document.unedited
    return get(written, ("metadata", "namespace"), ""), job.plan.job.source_name


def _by_file(side: Side, jobs: Iterable[Compiled]) -> Groups:
    """Return TrainJobs by file, in their order in it."""
    ordered = sorted(jobs, key=lambda job: job.plan.job.document[:2])
    return _grouped(ordered, lambda job: _path(side, job.plan.job.document.file))


def _path(side: Side, name: str) -> Hashable:
    """Return the path of a file in its side: two folders, or two files, may be compared."""
    commit, file = side.spec.commit, side.file(name)
    top = os.curdir if commit is None else commit.top
    file = os.path.abspath(os.path.join(top, file))
    for number, path in enumerate(side.spec.paths):
        for root in dict.fromkeys((os.path.abspath(path), os.path.abspath(os.path.join(top, path)))):
            if is_within(file, root):
                return number, os.path.relpath(file, root)
    return file


def renaming(old: Tree, new: Tree) -> list[Change]:
    """Return the changes of an object's name and namespace."""
    found = []
    for path in NAMES:
        before, after = (get(tree, path, GONE) for tree in (old, new))
        if before != after:
            kind: Kind = "added" if before is GONE else "removed" if after is GONE else "changed"
            found.append(Change(kind, ".".join(path), path, path, before, after))
    return found


def with_name(tree: Tree, own: Tree) -> Tree:
    """Return an object with the name and the namespace of another one."""
    names = {path[-1]: get(own, path) for path in NAMES if get(own, path) is not None}
    rest = {key: field for key, field in tree["metadata"].items() if ("metadata", key) not in NAMES}
    return tree | {"metadata": names | rest}


def renamed(job: Compiled, name: str, namespace: str | None = None) -> Compiled:
    """Return a TrainJob with its objects under another name, and in another namespace; None keeps its own."""
    namespace = job.namespace if namespace is None else namespace
    names = {"name": name} | ({"namespace": namespace} if namespace else {})
    plan = remade(resolved_plan(job.plan, job=with_name(job.plan.job.value, {"metadata": names})))
    return job._replace(name=name, namespace=namespace, plan=plan, objects=tuple(objects_of_a_job(plan.objects)))


def _item(item: SideItem, jobs: dict[int, Compiled]) -> SideItem:
    job = jobs.get(id(item.job))
    if job is None or item.job is None:
        return item
    tree = job.objects[item.position]
    return item._replace(id=ObjectId.from_manifest(tree), tree=tree, job=job, own=item)
