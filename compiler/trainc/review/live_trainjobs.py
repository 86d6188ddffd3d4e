"""TrainJobs of a cluster beside those of a project with `output: none`, which are applied as they are.

Reads    a compiled TrainJob, and the TrainJob of its name in a cluster.
Returns  both, compiled in the same way: without the settings for documents, which only a build applies, and with the
         runtimes of the project. What Trainer's controller does in another way is therefore no difference.
Source   Kueue v0.19: the runtime patch that it adds to an admitted TrainJob.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.emit import objects_of_a_job
from trainc.kubernetes.trees import get, put, removed_at
from trainc.kueue.admission import LABEL
from trainc.pinning.manifests import clean
from trainc.pipeline import stages
from trainc.pipeline.objects import TrainJob
from trainc.pipeline.plan import Plan
from trainc.review.changes.renamed_jobs import with_name

if TYPE_CHECKING:
    from trainc.compilation import Compiled
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree

PATCHES: Final = ("spec", "runtimePatches")
SUSPEND: Final = ("spec", "suspend")
KUEUE: Final = "kueue.x-k8s.io/manager"
"""The manager of Kueue's runtime patch."""


def compiled_alike(job: Compiled, live: Document) -> Compiled | None:
    """Return a TrainJob of a cluster, compiled as that of the files; None if it does not compile."""
    names = {"name": job.name} | ({"namespace": job.namespace} if job.namespace else {})
    value = with_name(_without_admission(clean(live.value), job.plan.job.document.value), {"metadata": names})
    return _compiled(job, live._replace(value=value))


def _compiled(job: Compiled, document: Document) -> Compiled | None:
    plan = job.plan
    kept = {key: getattr(plan, key) for key in ("library", "release", "project", "delivery", "patches", "suffix")}
    own = TrainJob(document, document.value)
    done = stages.run(Plan(job=own, gang_scheduler=plan.gang_scheduler, field_validation="ignore", **kept))
    if done.failed or not done.objects:
        return None
    return job._replace(plan=done, objects=tuple(objects_of_a_job(done.objects)))


def _without_admission(live: Tree, source: Tree) -> Tree:
    """Return a TrainJob of a cluster without what Kueue writes when it admits it."""
    if not get(live, LABEL):
        return live
    patches = get(live, PATCHES)
    if isinstance(patches, list):
        kept = [each for each in patches if get(each, ("manager",)) != KUEUE]
        live = put(live, PATCHES, kept) if kept else removed_at(live, PATCHES)
    return live if get(source, SUSPEND) is not None else removed_at(live, SUSPEND)
