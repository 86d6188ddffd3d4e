"""Advice: what the cluster takes and its user would regret. A rule is one file, whose name is its id.

A rule has `find(plan)`, which yields regrets, and its check, which words one of them; it is loaded when `passes.lint`
has seen a sign of it. `warnings` makes diagnostics of the regrets of all TrainJobs: one for each cause, at the first
TrainJob that has it, with the number of the others.
Source: trainc's own, where a rule does not say otherwise.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from trainc.diagnostics import Path, Place, Related
from trainc.kubernetes.trees import Tree, get

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from trainc.checks import Check
    from trainc.diagnostics import Diagnostic
    from trainc.passes.lint import Regret
    from trainc.plan import Plan


class Rule(Protocol):
    """What a module in this folder offers."""

    find: Callable[[Plan], Iterator[Regret]]
    CHECKS: tuple[Check[[Plan, Regret]]]


def load(rule: str) -> Rule:
    """The rule of that id."""
    return cast("Rule", import_module(f"{__name__}.{rule.replace('-', '_')}"))


def warnings(plans: Iterable[Plan]) -> Iterator[Diagnostic]:
    """The regrets of the plans, one warning for each cause, and one for each place."""
    causes: dict[Hashable, list[tuple[Plan, Regret]]] = {}
    for plan in plans:
        of_plan = {cause(plan, regret): (plan, regret) for regret in reversed(plan.regrets)}
        for key, found in reversed(of_plan.items()):
            causes.setdefault(key, []).append(found)
    said = set()
    for (plan, regret), *others in causes.values():
        (check,) = load(regret.rule).CHECKS
        for warning in check(plan.job.id, plan, regret):
            place = warning.place
            assert isinstance(place, Place)
            key = (warning.id, warning.message, id(place.document), place.path)
            if key not in said:
                subject = plan.runtime.id if place.document is plan.runtime.document else warning.object
                yield warning._replace(message=warning.message + also(len(others)), object=subject)
            said.add(key)


def also(others: int) -> str:
    """How many more TrainJobs it is about."""
    return f" (and {others} more TrainJob{'s' if others > 1 else ''})" if others else ""


def cause(plan: Plan, regret: Regret) -> Hashable:
    """What two regrets have in common when mending one mends the other: they are of one document."""
    shared = regret.shared or of_runtime(plan, regret.path) is not None
    document = plan.runtime.document if shared else plan.job.document
    return regret.rule, id(document), document.within, regret.what or regret.path


def of_runtime(plan: Plan, path: Path) -> Path | None:
    """Where the runtime's template says what the JobSetSpec says at a path, or lacks what that lacks; else None."""
    from trainc.tracing.counterparts import GONE, at, counterpart

    made, template = stored(plan), plan.runtime.spec
    there = counterpart(made, path, template)
    if there is None and path and isinstance(path[-1], str):
        above = counterpart(made, path[:-1], template)
        there = None if above is None else (*above, path[-1])
    if there is None:
        return None
    ours, theirs = (None if found is GONE else found or None for found in (at(made, path), at(template, there)))
    return there if ours == theirs else None


def placed(plan: Plan, path: Path) -> tuple[Place, tuple[Related, ...]]:
    """Where a field of the JobSetSpec comes from, as `Trace.point` says it; that is asked where it is not plain."""
    from trainc.tracing import Trace, standing
    from trainc.tracing.counterparts import at

    there = of_runtime(plan, path)
    if there is not None:
        place = standing(plan.runtime.at("spec", "template", "spec", *there))
        return plan.job.at("spec", "runtimeRef"), (Related(message="the runtime", place=place),)
    trainer, value = plan.job.trainer, at(stored(plan), path)
    if path[-1:] == ("image",) and trainer.get("image") == value:
        return plan.job.at("spec", "trainer", "image"), ()
    if path[-2:-1] == ("env",) and value in (env := trainer.get("env") or []):
        return plan.job.at("spec", "trainer", "env", env.index(value)), ()
    return Trace(plan).point(0, ("spec", *path))


def stored(plan: Plan) -> Tree:
    """The JobSetSpec as it is stored."""
    spec: Tree = plan.objects[0]["spec"]
    return spec


def pod_at(plan: Plan, job: int) -> Tree:
    """The pod spec of a replicated job."""
    pod: Tree = get(stored(plan), ("replicatedJobs", job, "template", "spec", "template", "spec"), {})
    return pod


def containers(plan: Plan) -> Iterator[tuple[Path, Tree]]:
    """All containers and init containers that run, with their paths in the JobSetSpec."""
    from trainc.passes.lint import CONTAINERS
    from trainc.plan import pod_spec

    for job, count in enumerate(plan.counts):
        for key in CONTAINERS if count else ():
            for index, container in enumerate(pod_at(plan, job).get(key) or ()):
                yield (*pod_spec(job), key, index), container


def training(plan: Plan) -> list[int]:
    """The replicated jobs that train: the trainers, and for MPI the nodes that the launcher reaches."""
    from trainc.plan import NODE

    jobs = {*plan.trainers(), plan.named(NODE) if plan.runtime.framework == "mpi" else None}
    return [job for job, count in enumerate(plan.counts) if count and job in jobs]
