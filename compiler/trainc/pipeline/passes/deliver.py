"""Deliver: adapt the JobSet to a cluster that may have an older version of it.

Reads    the command line options; the JobSet's labels and annotations so far.
Changes  spec.suspend, which a JobSet with a Kueue queue does not have (difference suspend-unset); the annotation that
         makes Argo CD delete and recreate the JobSet. ConfigMaps and PodGroups need no annotation: they can change in
         place.
Source   Argo CD's sync options: a comma-separated list of Key=value. Kueue v0.19: its webhook suspends a JobSet on
         creation; a manifest that sets suspend would restart or release the JobSet at each apply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.pipeline.objects import QUEUE

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan

SYNC_OPTIONS: Final = "argocd.argoproj.io/sync-options"
REPLACE: Final = ("Force=true", "Replace=true")


def deliver(plan: Plan) -> Plan:
    """Suspend the JobSet unless a queue does, and let Argo CD replace it, if the options request it."""
    if plan.job.is_jobset:
        return plan
    plan = suspended(plan)
    if plan.delivery.argocd_replace:
        options = with_replace(plan.annotations.get(SYNC_OPTIONS, ""))
        plan = plan._replace(annotations=plan.annotations | {SYNC_OPTIONS: options})
    return plan


def suspended(plan: Plan) -> Plan:
    """Return the plan with spec.suspend if the options request it, and without it if the JobSet has a queue."""
    if plan.labels.get(QUEUE):
        if "suspend" in plan.spec:
            return plan._replace(spec={key: field for key, field in plan.spec.items() if key != "suspend"})
    elif plan.delivery.suspend:
        return plan._replace(spec=plan.spec | {"suspend": True})
    return plan


def with_replace(existing: str) -> str:
    """Return the sync options with those that replace an object. Existing settings of these options stay.

    >>> with_replace("Prune=false, Replace=false")
    'Prune=false,Replace=false,Force=true'
    """
    options = [option.strip() for option in existing.split(",") if option.strip()]
    keys = {option.partition("=")[0] for option in options}
    return ",".join([*options, *(option for option in REPLACE if option.partition("=")[0] not in keys)])
