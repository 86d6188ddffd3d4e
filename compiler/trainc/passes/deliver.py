"""Deliver: what the way into a cluster that may hold older objects asks of the JobSet.

Reads    the options of the command line; the JobSet's annotations so far.
Changes  spec.suspend; the annotation by which Argo CD deletes the JobSet and makes it anew. ConfigMaps and PodGroups
         need none: they may change in place.
Source   Argo CD's sync options: texts of the form Key=value, with commas between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from trainc.plan import Plan

SYNC_OPTIONS: Final = "argocd.argoproj.io/sync-options"
REPLACE: Final = ("Force=true", "Replace=true")


def deliver(plan: Plan) -> Plan:
    """Suspend the JobSet, and let Argo CD replace it, where that is asked for."""
    if plan.delivery.suspend:
        plan = plan._replace(spec=plan.spec | {"suspend": True})
    if plan.delivery.argocd_replace:
        options = with_replace(plan.annotations.get(SYNC_OPTIONS, ""))
        plan = plan._replace(annotations=plan.annotations | {SYNC_OPTIONS: options})
    return plan


def with_replace(said: str) -> str:
    """The sync options with those that replace an object; what they say of these already stands.

    >>> with_replace("Prune=false, Replace=false")
    'Prune=false,Replace=false,Force=true'
    """
    options = [option.strip() for option in said.split(",") if option.strip()]
    keys = {option.partition("=")[0] for option in options}
    return ",".join([*options, *(option for option in REPLACE if option.partition("=")[0] not in keys)])
