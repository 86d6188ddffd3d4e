"""Pairs of TrainJobs whose names are generated: a change of an immutable field gives such a TrainJob another name.

Reads    both sides of a review.
Returns  the new side with the names of the old side, so that a review shows the changes of one run's successor instead
         of a removed and an added JobSet with other host names.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc.diagnostics import ObjectId
from trainc.emit.order import objects_of_a_job
from trainc.files.confine import is_within
from trainc.kubernetes.trees import put
from trainc.provenance.tracing.history import remade, resolved_plan

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from trainc.compilation import Compiled
    from trainc.review.sides import Side, SideItem

    Groups = dict[Hashable, list[Compiled]]


def with_old_names(old: Side, new: Side) -> Side:
    """Return the new side with the old names of its TrainJobs with generateName; each object has its new name, too."""
    found = {id(job): renamed(job, before.name) for before, job in _pairs(old, new) if before.name != job.name}
    return new._replace(items=tuple(_item(item, found) for item in new.items)) if found else new


def _pairs(old: Side, new: Side) -> Iterator[tuple[Compiled, Compiled]]:
    """Yield the renamed TrainJobs of both sides with one generateName: by source file, else the only ones left."""
    before, after = _groups(old), _groups(new)
    for key in before.keys() & after.keys():
        names = {job.name for job in before[key]} & {job.name for job in after[key]}
        left = [[job for job in group if job.name not in names] for group in (before[key], after[key])]
        files = [_by_file(old, left[0]), _by_file(new, left[1])]
        for file in files[0].keys() & files[1].keys():
            pairs = list(zip(files[0][file], files[1][file], strict=False))
            yield from pairs
            paired = {id(job) for pair in pairs for job in pair}
            left = [[job for job in group if id(job) not in paired] for group in left]
        if len(left[0]) == len(left[1]) == 1:
            yield left[0][0], left[1][0]


def _groups(side: Side) -> Groups:
    """Return the TrainJobs of a side whose names are generated, by namespace and the fixed parts of the name."""
    groups: Groups = {}
    for job in {id(item.job): item.job for item in side.items}.values():
        if job is not None and job.plan.job.letters_at is not None:
            groups.setdefault((job.namespace, job.plan.job.around_letters), []).append(job)
    return groups


def _by_file(side: Side, jobs: list[Compiled]) -> Groups:
    """Return TrainJobs by file, in their order in it."""
    groups: Groups = {}
    for job in sorted(jobs, key=lambda job: job.plan.job.document[:2]):
        groups.setdefault(_path(side, job.plan.job.document.file), []).append(job)
    return groups


def _path(side: Side, name: str) -> str:
    """Return the path of a file in its side: two folders, or two files, may be compared."""
    file = side.file(name)
    return next((os.path.relpath(file, path) for path in side.spec.paths if is_within(file, path)), file)


def renamed(job: Compiled, name: str) -> Compiled:
    """Return a TrainJob with its objects under another generated name of the same length."""
    plan = remade(resolved_plan(job.plan, job=put(job.plan.job.value, ("metadata", "name"), name)))
    return job._replace(name=name, plan=plan, objects=tuple(objects_of_a_job(plan.objects)))


def _item(item: SideItem, jobs: dict[int, Compiled]) -> SideItem:
    job = jobs.get(id(item.job))
    if job is None or item.job is None:
        return item
    tree = job.objects[item.position]
    return item._replace(id=ObjectId.from_manifest(tree), tree=tree, job=job, new_name=item.id.name)
