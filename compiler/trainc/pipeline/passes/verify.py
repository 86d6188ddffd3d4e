"""Verify: check the compiled objects after the JobSet's schema has admitted them.

Reads    the whole plan, when its objects have their stored form.
Returns  the plan with diagnostics. There is no output for a TrainJob with errors.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import ObjectId
from trainc.kubernetes.trees import Memory
from trainc.pipeline.checks import created_jobs, jobset

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

LONG: Final = 32 * 1024
"""So few characters cannot result in a text of 128 KiB, the smallest of the limits."""
LARGE: Final = 128 * 1024
"""So few characters cannot result in 1.5 MiB of JSON: one takes at most six bytes, plus a share of quotes and keys."""
KUEUE: Final = frozenset(
    f"kueue.x-k8s.io/{name}"
    for name in (
        "admission-gated-by",
        "elastic-job",
        "max-exec-time-seconds",
        "podset-group-name",
        "podset-preferred-topology",
        "podset-required-topology",
        "podset-slice-required-topology",
        "podset-slice-required-topology-constraints",
        "podset-slice-size",
        "podset-unconstrained-topology",
        "prebuilt-workload-name",
        "queue-name",
    )
)
"""The labels and annotations that Kueue's webhook checks."""
ANCHOR: Final = r"&(?<![^\s,:?\[{]&)[^\s&]"
"""A possible YAML anchor, which aliases can repeat. The `&&` and `2>&1` of a shell do not match."""
OF_A_JOB: Final = 4 * 1024
"""The estimated characters that trainc and the defaults add to a replicated job."""
OF_A_HOST: Final = 192
"""The maximum length of a host name in a list: the pod's name, the subdomain and a port, with quotes and a comma."""

_LONG_TEXTS: Final = Memory()


def verify(plan: Plan) -> Plan:
    """Apply the schemas of PodGroups, and the checks of the webhooks of JobSet and Kueue, of Jobs and of pods.

    Sizes are checked only if something may be large.
    """
    made = plan.objects[0]
    if plan.runtime.gang:
        from trainc.pipeline import schedulers

        for group, violations in schedulers.refused(plan):
            plan = plan.refuse("build", ObjectId.from_manifest(group), violations)
    refused = list(jobset.violations(made, plan.release))
    if refused:
        plan = plan.refuse("jobset", ObjectId.from_manifest(made), refused)
    if _has_key_of_kueue(made):
        plan = _refused_by_kueue(plan)
    reported = {violation.path for violation in refused}
    for faults in (created_jobs.faults(made), created_jobs.image_faults(made)):
        found = [(fault.object, violation) for fault in faults if (violation := fault.in_jobset()).path not in reported]
        for object, violation in found:
            plan = plan.refuse("job", object, [violation])
        reported |= {violation.path for _, violation in found}
    if any(tree["kind"] == "ConfigMap" for tree in plan.others):
        from trainc.pipeline.checks import limits

        plan = plan.report(found for check in limits.CHECKS for found in check(plan.job.id, plan))
    return _without_notes(_sizes(plan))


def _has_key_of_kueue(jobset: Tree) -> bool:
    """Return whether a label or annotation of a JobSet, or an annotation of its pods, has a key of Kueue."""
    metadata = jobset["metadata"]
    if not (KUEUE.isdisjoint(metadata.get("labels") or ()) and KUEUE.isdisjoint(metadata.get("annotations") or ())):
        return True
    for job in jobset["spec"].get("replicatedJobs") or ():
        of_pods = job["template"]["spec"]["template"].get("metadata")
        if of_pods and not KUEUE.isdisjoint(of_pods.get("annotations") or ()):
            return True
    return False


def _refused_by_kueue(plan: Plan) -> Plan:
    """Return the plan with the violations of Kueue's webhook, and the ids that cannot be disabled as lint rules."""
    from trainc.pipeline.checks import kueue_webhook

    made = plan.objects[0]
    violations = list(kueue_webhook.violations(made))
    if not violations:
        return plan
    from trainc.pipeline.lint.triggers import turned_off

    # One of them may be the id of a violation. The stage `lint`, which reports them, does not run after an error.
    _, unknown = turned_off(plan)
    return plan.refuse("kueue", ObjectId.from_manifest(made), violations)._replace(lint_findings=unknown)


def _without_notes(plan: Plan) -> Plan:
    """Remove the notes if there is an error: they are about the output, which an error prevents."""
    if not plan.failed:
        return plan
    return plan._replace(diagnostics=tuple(found for found in plan.diagnostics if found.severity != "note"))


def _has_anchor(text: str) -> bool:
    """Return whether a text may have anchors. The items of a list share its text, which is searched once."""
    if len(text) < LONG:
        return "&" in text and re.search(ANCHOR, text) is not None
    _, found = _LONG_TEXTS.get(id(text)) or _LONG_TEXTS.keep(id(text), (text, re.search(ANCHOR, text) is not None))
    return bool(found)


def _sizes(plan: Plan) -> Plan:
    """Check sizes, unless the inputs are too short to exceed a limit and have no anchors, which aliases can repeat.

    A framework may write the host name of each pod into each container.
    """
    of_job, of_runtime, of_project = (x.document.text for x in (plan.job, plan.runtime, plan.project))
    aliases = any(map(_has_anchor, (of_job, of_runtime, of_project)))
    of_hosts = OF_A_HOST * sum(job.get("replicas", 1) * pods for job, pods in zip(plan.jobs, plan.counts, strict=True))
    if not aliases and len(of_job) + len(of_runtime) + len(of_project) + of_hosts < LONG:
        return plan
    from trainc.pipeline.checks import limits

    # The text of a TrainJob or a project may be copied into each of the jobs.
    made = plan.objects[0]
    of_hosts *= max((len(plan.containers(job)) for job in range(len(plan.jobs))), default=0)
    if aliases or len(of_runtime) + len(plan.jobs) * (len(of_job) + len(of_project) + OF_A_JOB + of_hosts) > LARGE:
        plan = plan.refuse("jobset", ObjectId.from_manifest(made), limits.stored(made))
    for violation in limits.strings(made):
        plan = plan.refuse("job", created_jobs.first_job(made, plan.jobs[int(violation.path[2])]), [violation])
    return plan
