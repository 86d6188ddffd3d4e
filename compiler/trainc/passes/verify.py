"""Verify: what would be refused in the objects that were made, after the API server has taken the JobSet's form.

Reads    the whole plan, when its objects are stored.
Returns  it with diagnostics; nothing is made of a TrainJob with errors.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.checks import job, jobset
from trainc.diagnostics import ObjectId

if TYPE_CHECKING:
    from trainc.plan import Plan

LONG: Final = 32 * 1024
"""As many characters can be no text of 128 KiB, the least of the limits."""
LARGE: Final = 128 * 1024
"""As many characters can be no JSON of 1.5 MiB: a character takes at most six bytes, and its quotes and field more."""
ANCHOR: Final = re.compile(r"&(?<![^\s,:?\[{]&)[^\s&]")
"""What looks like an anchor of YAML, which aliases repeat; a shell's `&&` and `2>&1` do not."""
OF_A_JOB: Final = 4 * 1024
"""As many characters stand for what is written into a replicated job without anybody saying so."""


def verify(plan: Plan) -> Plan:
    """Look at the objects as those who get them would; at sizes only where something may be large."""
    made = plan.objects[0]
    refused = list(jobset.violations(made))
    if refused:
        plan = plan.refuse("jobset", ObjectId.of(made), refused)
    said = {violation.path for violation in refused}
    for fault in job.faults(made):
        violation = fault.in_jobset()
        if violation.path not in said:
            plan = plan.refuse("job", fault.object, [violation])
    if any(tree["kind"] == "ConfigMap" for tree in plan.others):
        from trainc.checks import limits

        plan = plan.report(found for check in limits.CHECKS for found in check(plan.job.id, plan))
    return _without_notes(_sizes(plan))


def _without_notes(plan: Plan) -> Plan:
    """Notes tell what to do with the output; beside an error there is none."""
    if not plan.failed:
        return plan
    return plan._replace(diagnostics=tuple(found for found in plan.diagnostics if found.severity != "note"))


def _sizes(plan: Plan) -> Plan:
    """Measure, unless the texts are so short that it can only be small; an alias may stand for a lot."""
    of_job, of_runtime, of_project = (x.document.text for x in (plan.job, plan.runtime, plan.project))
    aliases = any(map(ANCHOR.search, (of_job, of_runtime, of_project)))
    if not aliases and len(of_job) + len(of_runtime) + len(of_project) < LONG:
        return plan
    from trainc.checks import limits

    # What a TrainJob or a project says may reach each of the jobs.
    made = plan.objects[0]
    if aliases or len(of_runtime) + len(plan.jobs) * (len(of_job) + len(of_project) + OF_A_JOB) > LARGE:
        plan = plan.refuse("jobset", ObjectId.of(made), limits.stored(made))
    for violation in limits.strings(made):
        plan = plan.refuse("job", job.first(made, plan.jobs[int(violation.path[2])]), [violation])
    return plan
