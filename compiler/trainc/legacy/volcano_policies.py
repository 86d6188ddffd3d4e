"""The policies of a Volcano Job and of its tasks: actions that events of pods and tasks cause.

Reads    spec.policies and spec.tasks[*].policies.
Returns  the success policy and the failure policy of the JobSet, and the losses: it has only a few of the policies.
         Violations of the rules of admission.
Source   volcano-sh/volcano v1.15.1: the actions and events of policies, the webhook, and the job controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends.lowering import Loss, LossRule, without_effect
from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import DUPLICATE_ITEM, ENUM, OUT_OF_RANGE, REQUIRED, Violation
from trainc.legacy.volcano_tasks import TASKS, task_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.legacy.replica_specs import ReplicaSpec

RETRIES: Final = 3
COMPLETE: Final = "CompleteJob"
RESTART: Final = "RestartJob"
EVENTS: Final = {COMPLETE: frozenset({"TaskCompleted"}), RESTART: frozenset({"PodFailed", "PodEvicted", "*"})}
"""The actions of policies that a JobSet has, with their events."""
ANY: Final = "*"
"""The event that means all others."""

RESTARTS: Final = LossRule(
    "*.policies[*]: RestartJob",
    "approximated",
    "the JobSet restarts if a pod with restartPolicy Never fails; with OnFailure, an evicted pod is created again",
    "use restartPolicy Never in all tasks",
)
OTHER_POLICY: Final = LossRule(
    "*.policies[*], other than TaskCompleted: CompleteJob and PodFailed or PodEvicted: RestartJob",
    "not carried",
    "a JobSet has no such policy",
    "set successPolicy or failurePolicy with a patch of the JobSet in trainc.yaml",
)
NO_TASK: Final = without_effect("*.policies[*]: CompleteJob, of a task without replicas", "the task has no pods")
NO_RETRY: Final = without_effect("spec.maxRetry, without a policy RestartJob", "no policy restarts the job")
LOSSES: Final = (RESTARTS, OTHER_POLICY, NO_TASK, NO_RETRY)


def policies(job: Tree, roles: list[ReplicaSpec]) -> Iterator[tuple[str, Tree, Path]]:
    """Yield the success policy and the failure policy of the JobSet, each with the path of its policy."""
    names = [role.name for role in roles]
    completing = [(path, task) for path, task, policy in all_policies(job) if action(policy) == COMPLETE]
    targets = {each for _, task in completing for each in ((task,) if task else names)}
    if found := [name for name in names if name in targets]:
        path = next(path for path, task in completing if not task or task in targets)
        operator = "Any" if len(found) > 1 else "All"
        yield "successPolicy", {"operator": operator, "targetReplicatedJobs": found}, path
    for path, _, policy in all_policies(job):
        if action(policy) == RESTART:
            yield "failurePolicy", {"maxRestarts": get(job, ("spec", "maxRetry"), RETRIES)}, path
            return


def violations(job: Tree) -> Iterator[Violation]:
    """Yield the violations of the rules for policies."""
    for at, _, owner in _owners(job):
        first: dict[str | int, Path] = {}
        for index, policy in enumerate(owner.get("policies") or ()):
            path = (*at, "policies", index)
            causes = {cause: where for where, cause in reversed([*_causes(policy, path)])}
            if not causes:
                yield Violation.at(path, REQUIRED, "the policy has no event and no exitCode", "add one of them")
            elif "exitCode" in policy and len(causes) > 1:
                message = "the policy has an event and an exitCode"
                yield Violation.at((*path, "exitCode"), ENUM, message, "remove one of them, or split the policy")
            for cause, where in causes.items():
                if cause == 0:
                    message = "exitCode 0 is that of success"
                    yield Violation.at(where, OUT_OF_RANGE, message, "use another exitCode, or the event TaskCompleted")
                if cause in first:
                    label = (("the first one", first[cause]),)
                    message = f"two policies are for {cause}"
                    yield Violation.at(where, DUPLICATE_ITEM, message, "remove one of them", related=label)
                first.setdefault(cause, where)
        if ANY in first and len([cause for cause in first if isinstance(cause, str)]) > 1:
            message = f'the event "{ANY}" includes all others'
            yield Violation.at(first[ANY], ENUM, message, "remove the other policies, or list their events")


def _causes(policy: Tree, at: Path) -> Iterator[tuple[Path, str | int]]:
    """Yield the events and the exit code of a policy with their paths."""
    for index, event in enumerate(policy.get("events") or ()):
        yield (*at, "events", index), event
    for key in ("event", "exitCode"):
        if policy.get(key) not in (None, ""):
            yield (*at, key), policy[key]


def _owners(job: Tree) -> Iterator[tuple[Path, str, Tree]]:
    """Yield the job and its tasks: the path, the name of the task or an empty string, the value."""
    yield ("spec",), "", job["spec"]
    for index, task in enumerate(get(job, TASKS)):
        yield (*TASKS, index), task_name(index, task), task


def all_policies(job: Tree) -> Iterator[tuple[Path, str, Tree]]:
    """Yield the policies of a job and of its tasks: the path, the name of the task or an empty string, the policy."""
    for at, name, owner in _owners(job):
        for index, policy in enumerate(owner.get("policies") or ()):
            yield (*at, "policies", index), name, policy


def action(policy: Tree) -> str:
    """Return the action of a policy that a JobSet has; empty for any other one."""
    found = policy.get("action", "")
    events = {*(policy.get("events") or ()), *filter(None, [policy.get("event")])}
    is_exact = events and events <= EVENTS.get(found, frozenset()) and not {"exitCode", "timeout"} & policy.keys()
    return found if is_exact else ""


def restarts(job: Tree) -> bool:
    """Return whether a policy restarts the job."""
    return any(action(policy) == RESTART for _, _, policy in all_policies(job))


def losses(job: Tree, names: set[str]) -> Iterator[Loss]:
    """Yield the losses of the policies.

    names   the tasks that have a replica
    """
    if "maxRetry" in job["spec"] and not restarts(job):
        yield Loss(("spec", "maxRetry"), NO_RETRY)
    for path, task, policy in all_policies(job):
        if action(policy) == RESTART:
            yield Loss(path, RESTARTS)
        elif action(policy) != COMPLETE:
            yield Loss(path, OTHER_POLICY)
        elif task and task not in names:
            yield Loss(path, NO_TASK)
