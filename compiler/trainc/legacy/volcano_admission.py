"""The rules of Volcano's admission for Jobs with the plugin tensorflow.

Reads    a Job that its schema has admitted.
Returns  the violations of the rules.
Source   volcano-sh/volcano v1.15.1: the validation of the webhook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import DUPLICATE_ITEM, ENUM, OUT_OF_RANGE, REQUIRED, Violation
from trainc.legacy import volcano_plugins, volcano_policies
from trainc.legacy.replica_specs import CONTAINERS, invalid_name, too_many_replicas
from trainc.legacy.volcano_tasks import TASKS, dependencies, order, task_name

if TYPE_CHECKING:
    from collections.abc import Iterator


def violations(_: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the webhook's rules, and of other frameworks beside TensorFlow."""
    yield from invalid_name(job)
    yield from volcano_plugins.violations(job)
    yield from volcano_policies.violations(job)
    tasks = list(enumerate(get(job, TASKS)))
    names = {task_name(index, task): index for index, task in reversed(tasks)}
    for index, task in tasks:
        name, at = task_name(index, task), (*TASKS, index)
        if names[name] != index:
            label = (("the first one", (*TASKS, names[name])),)
            message = f'two tasks are named "{name}"'
            yield Violation.at((*at, "name"), DUPLICATE_ITEM, message, "rename one of them", related=label)
        yield from _wrong_task(name, task, at, names)
    pods = sum(task.get("replicas", 0) for _, task in tasks)
    if not pods:
        help = "set the replicas of a task, which are 0 by default"
        yield Violation.at((*TASKS, 0, "replicas"), REQUIRED, "no task has a replica", help, field="spec.tasks")
    elif get(job, ("spec", "minAvailable"), 0) > pods:
        message = f"minAvailable is {job['spec']['minAvailable']}, but the tasks have {pods} replicas"
        yield Violation.at(("spec", "minAvailable"), OUT_OF_RANGE, message, f"use {pods} or fewer")
    if cycle := _cycle({name: get(job, (*TASKS, index)) for name, index in names.items()}):
        first = min(cycle, key=names.__getitem__)
        message = f'task "{first}" depends on itself through other tasks'
        yield Violation.at((*TASKS, names[first], "dependsOn"), ENUM, message, "remove one of the dependencies")
    for index, volume in enumerate(get(job, ("spec", "volumes"), [])):
        if not volume.get("volumeClaimName") and not volume.get("volumeClaim"):
            path = ("spec", "volumes", index, "volumeClaimName")
            yield Violation.at(path, REQUIRED, "the volume has no claim", "set volumeClaimName")


def _wrong_task(name: str, task: Tree, at: Path, names: dict[str, int]) -> Iterator[Violation]:
    if not get(task, CONTAINERS):
        yield Violation.at((*at, *CONTAINERS), REQUIRED, f'task "{name}" has no container', "add its template")
    replicas, fewest = task.get("replicas", 0), task.get("minAvailable", 0)
    yield from too_many_replicas(name, replicas, (*at, "replicas"))
    if replicas < fewest:
        message = f'minAvailable of task "{name}" is {fewest}, but it has {replicas} replicas'
        yield Violation.at((*at, "minAvailable"), OUT_OF_RANGE, message, f"use {replicas} or fewer")
    for index, other in enumerate(dependencies(task)):
        if other not in names:
            from trainc.base.fixes import replaced_name

            message = f'task "{name}" depends on "{other}", which the job does not have'
            there = (*at, "dependsOn", "name", index)
            yield Violation.at(there, ENUM, message, replaced_name(there, other, [*names]) or "remove it")


def _cycle(tasks: dict[str, Tree]) -> tuple[str, ...]:
    """Return the names of tasks that depend on one another in a circle; empty if there are none."""
    from graphlib import CycleError

    try:
        order(tasks)
    except CycleError as error:
        return tuple(error.args[1])
    return ()
