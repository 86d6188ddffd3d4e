"""Lint rules: settings that the cluster accepts but the user probably did not intend. Each rule is a file named by id.

A rule has `find(plan)`, which yields `LintFinding`s, and `warning(plan, finding)`, which returns the message for one of
them and which `lint_rule` turns into a check.
`passes.lint` imports the rule when its trigger (`triggers`) applies. `placing.lint_findings` turns the findings of all
TrainJobs into diagnostics: one per cause, at the first TrainJob that has it, with the number of the others.
Source: trainc's own, unless a rule names another.
"""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

from trainc.kubernetes.trees import Tree, get
from trainc.kubernetes.violations import field_of
from trainc.pipeline.checks import Check, check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.base.declarations import Severity
    from trainc.diagnostics import Finding, LintFinding, Path
    from trainc.kubernetes.container_environment import ContainerEnvironment
    from trainc.pipeline.plan import Plan


OF_JOB: Final = "JOB_COMPLETION_INDEX"
"""The variable that the Job controller adds."""


class LintRule(Protocol):
    """The interface of a module in this folder."""

    find: Callable[[Plan], Iterator[LintFinding]]
    warning: Check[[Plan, LintFinding]]


def lint_rule(
    id: str, severity: Severity = "warning", *, fix: Literal["", "unsafe"] = ""
) -> Callable[[Callable[[Plan, LintFinding], Finding]], Check[[Plan, LintFinding]]]:
    """Declare a lint rule, and turn the function that returns the message for a finding into a check.

    The findings of an error set `LintFinding.error`.

    A message without a field and a place is about the field of the finding. The function's docstring states the rule
    in one sentence.
    """

    def wrap(message: Callable[[Plan, LintFinding], Finding]) -> Check[[Plan, LintFinding]]:
        @wraps(message)
        def find(plan: Plan, finding: LintFinding) -> Iterator[Finding]:
            found = message(plan, finding)
            named = found.field is not None or found.place is not None
            yield found if named else found._replace(field=field_of(in_jobset(finding.path)))

        return check(id, phase="lint", severity=severity, trainc_only=True, fix=fix)(find)

    return wrap


def in_jobset(path: Path) -> Path:
    """Return the path in the JobSet of a finding's path, which is one in its spec or begins with `metadata`."""
    return path if path[:1] == ("metadata",) else ("spec", *path)


def load(rule: str) -> LintRule:
    """Return the rule with that id."""
    return cast("LintRule", import_module(f"{__name__}.{rule.replace('-', '_')}"))


def stored(plan: Plan) -> Tree:
    """Return the JobSetSpec as it is stored."""
    spec: Tree = plan.objects[0]["spec"]
    return spec


def pod_at(plan: Plan, job: int) -> Tree:
    """Return the pod spec of a replicated job."""
    from trainc.pipeline.plan import pod_spec

    pod: Tree = get(stored(plan), pod_spec(job), {})
    return pod


def containers(plan: Plan) -> Iterator[tuple[Path, Tree]]:
    """Yield all containers and init containers that run, with their paths in the JobSetSpec."""
    from trainc.pipeline.lint.triggers import CONTAINERS
    from trainc.pipeline.plan import pod_spec

    for job, count in enumerate(plan.counts):
        for key in CONTAINERS if count else ():
            for index, container in enumerate(pod_at(plan, job).get(key) or ()):
                yield (*pod_spec(job), key, index), container


def variables(plan: Plan, path: Path, container: Tree) -> ContainerEnvironment:
    """Return the variables of a container in the JobSet's spec; what only the cluster knows is `Unknown`.

    path   the container's path in the spec
    """
    from trainc.kubernetes.container_environment import Known, Unknown, environment

    later = Unknown("")
    template = get(stored(plan), path[:-3], {})
    labels, annotations = ({**(get(template, ("metadata", key)) or {})} for key in ("labels", "annotations"))
    labels["jobset.sigs.k8s.io/jobset-name"] = plan.name
    pod = Known(later, plan.job.namespace or later, labels, annotations, template["spec"], others=later)
    found = environment(container, pod, {})
    found.variables.setdefault(OF_JOB, later)
    return found
