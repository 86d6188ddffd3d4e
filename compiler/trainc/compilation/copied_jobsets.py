"""The JobSets of the paths as documents of the output: as they are written, with what the settings change.

Reads    the documents of jobs and of other kinds, after the patches, images, namespaces and labels of trainc.yaml; the
         plans of the JobSets without errors.
Returns  the documents of other kinds and the JobSets in file order, with the accelerators of trainc.yaml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.kinds import JOBSET
from trainc.diagnostics import Edit
from trainc.pipeline.passes.accelerate import accelerate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.diagnostics import Document
    from trainc.pipeline.plan import Plan


def with_jobsets(
    others: Sequence[Document], jobs: Iterable[Document], plans: Iterable[Plan], files: Sequence[str]
) -> tuple[Document, ...]:
    """Return the documents of other kinds and the JobSets, in the order of the files."""
    known = {plan.job.document.identity: plan for plan in plans if plan.project.accelerators}
    jobsets = [
        _accelerated(each, known[each.identity]) if each.identity in known else each
        for each in jobs
        if each.value.get("kind") == JOBSET.kind
    ]
    positions = {file: index for index, file in enumerate(files)}
    found = [*others, *jobsets]
    return tuple(sorted(found, key=lambda each: (positions.get(each.file, len(files)), each.line, each.within)))


def _accelerated(document: Document, plan: Plan) -> Document:
    """Return a JobSet with the accelerators, without the defaults that the cluster adds."""
    before = document.value
    spec = accelerate(plan._replace(spec=before["spec"])).spec
    if spec is before["spec"]:
        return document
    return document._replace(value=before | {"spec": spec}, edits=(*document.edits, Edit(before, lambda path: path)))
