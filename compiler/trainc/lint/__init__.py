"""Lint rules: settings that the cluster accepts but the user probably did not intend. Each rule is a file named by id.

A rule has `find(plan)`, which yields `LintFinding`s, and a check, which writes the message for one finding.
`passes.lint` imports the rule when its trigger (`triggers`) applies. `placing.lint` turns the findings of all TrainJobs
into diagnostics: one per cause, at the first TrainJob that has it, with the number of the others.
Source: trainc's own, unless a rule names another.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from trainc.kubernetes.trees import Tree, get

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.checks import Check
    from trainc.diagnostics import LintFinding, Path
    from trainc.plan import Plan


class LintRule(Protocol):
    """The interface of a module in this folder."""

    find: Callable[[Plan], Iterator[LintFinding]]
    CHECKS: tuple[Check[[Plan, LintFinding]]]


def load(rule: str) -> LintRule:
    """Return the rule with that id."""
    return cast("LintRule", import_module(f"{__name__}.{rule.replace('-', '_')}"))


def stored(plan: Plan) -> Tree:
    """Return the JobSetSpec as it is stored."""
    spec: Tree = plan.objects[0]["spec"]
    return spec


def pod_at(plan: Plan, job: int) -> Tree:
    """Return the pod spec of a replicated job."""
    pod: Tree = get(stored(plan), ("replicatedJobs", job, "template", "spec", "template", "spec"), {})
    return pod


def containers(plan: Plan) -> Iterator[tuple[Path, Tree]]:
    """Yield all containers and init containers that run, with their paths in the JobSetSpec."""
    from trainc.lint.triggers import CONTAINERS
    from trainc.plan import pod_spec

    for job, count in enumerate(plan.counts):
        for key in CONTAINERS if count else ():
            for index, container in enumerate(pod_at(plan, job).get(key) or ()):
                yield (*pod_spec(job), key, index), container


def training(plan: Plan) -> list[int]:
    """Return the replicated jobs that train: the trainers, and for MPI the nodes that the launcher starts ranks on."""
    from trainc.plan import NODE

    jobs = {*plan.trainers(), plan.named(NODE) if plan.runtime.framework == "mpi" else None}
    return [job for job, count in enumerate(plan.counts) if count and job in jobs]
