"""The TrainJobs that use a runtime.

Reads    paths, and the library of runtimes.
Returns  the number of TrainJobs by runtime. A TrainJob with errors counts if its runtimeRef names a runtime.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from trainc.base.kinds import TRAINJOB
from trainc.compilation.sources import read
from trainc.pipeline.objects import TrainJob
from trainc.pipeline.passes.conform import conform
from trainc.pipeline.passes.resolve import resolve
from trainc.pipeline.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.budget import Meter
    from trainc.compilation.run import Run
    from trainc.diagnostics import Identity
    from trainc.pipeline.library import Library


def users(paths: Sequence[str], library: Library, run: Run, meter: Meter) -> Counter[Identity]:
    """Return the number of TrainJobs in paths that use each runtime, by the identity of the runtime's document."""
    reading = read(paths, run, kinds=(TRAINJOB,), meter=meter)
    found: Counter[Identity] = Counter()
    for document in reading.documents["job"]:
        job = TrainJob(document=document, value=document.value)
        plan = conform(Plan(job=job, library=library, release=run.settings.release, field_validation="ignore"))
        if not plan.stopped:
            plan = resolve(plan)
        if plan.runtime.document.text:
            found[plan.runtime.document.identity] += 1
    return found
