"""Gangs of legacy jobs: the PodGroup that an operator creates with the option --gang-scheduler-name.

Reads    the name of a gang scheduler, and the field schedulingPolicy of a job.
Returns  the podGroupPolicy of the job's runtime. In a runtime of a job, the policy can have the fields of a PodGroup's
         spec, which replace those that the scheduler's module computes.
Source   kubeflow/training-operator v1.9.3 and kubeflow/mpi-operator v0.8.0: volcano, and any other name for a scheduler
         with the plugin Coscheduling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree

VOLCANO: Final = "volcano"
COSCHEDULING: Final = "coscheduling"
SCHEDULER_PLUGINS: Final = "scheduler-plugins"
"""The name of the scheduler that `coscheduling` selects."""
KNOWN: Final = (VOLCANO, COSCHEDULING, SCHEDULER_PLUGINS)
_FIELDS: Final = {
    VOLCANO: {"queue": "queue", "priorityClass": "priorityClassName"},
    COSCHEDULING: {"scheduleTimeoutSeconds": "scheduleTimeoutSeconds"},
}
"""For each key of podGroupPolicy, the fields of schedulingPolicy and those of the PodGroup that they become."""


class GangScheduler(NamedTuple):
    """A gang scheduler."""

    name: str
    """The name of the setting."""

    @property
    def key(self) -> str:
        """Its key in podGroupPolicy."""
        return VOLCANO if self.name == VOLCANO else COSCHEDULING

    @property
    def scheduler(self) -> str:
        """The schedulerName of the pods."""
        return SCHEDULER_PLUGINS if self.name == COSCHEDULING else self.name

    @property
    def fields(self) -> dict[str, str]:
        """The fields of schedulingPolicy that have an effect, and those of the PodGroup that they become."""
        return {"minAvailable": "minMember", "minResources": "minResources"} | _FIELDS[self.key]

    def policy(self, scheduling: Tree, members: int) -> Tree:
        """Return the podGroupPolicy for a schedulingPolicy, and a job with `members` pods."""
        given = {to: scheduling[key] for key, to in self.fields.items() if scheduling.get(key) not in (None, "")}
        return {self.key: {"minMember": members} | given}


def name_fault(name: str) -> tuple[str, str] | None:
    """Return the message and the help for a misspelt or invalid name of a gang scheduler; None for a valid one.

    >>> name_fault("vulcano"), name_fault("kai-scheduler")
    (('"vulcano" is not a gang scheduler', 'did you mean volcano?'), None)
    """
    from trainc.base.suggestions import is_one_edit
    from trainc.kubernetes.names import dns1123_subdomain_errors

    if name in KNOWN:
        return None
    near = next((known for known in KNOWN if name.lower() == known or is_one_edit(name.lower(), known)), None)
    if near is not None:
        return f'"{name}" is not a gang scheduler', f"did you mean {near}?"
    if dns1123_subdomain_errors(name):
        from trainc.kubernetes import names

        why = names.fault(name, names.SUBDOMAIN, 253)
        return (
            f'"{name}" is not a valid name of a scheduler: it {why}',
            f"use {VOLCANO}, {COSCHEDULING} or a valid name",
        )
    return None
