"""A variable of a TrainJob with a value and a source.

Source: kubeflow/trainer v2.1 to v2.3, pkg/apply: the controller copies the variables of `trainer` and `initializer`,
and of one with `valueFrom` only that. In a runtime, the API server rejects both (`env-source`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import lint_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

HOLDERS: Final = (("trainer",), ("initializer", "dataset"), ("initializer", "model"))
"""The parts of a TrainJob with variables."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the variables with both, each with its place in the TrainJob."""
    for holder in HOLDERS if plan.job.own_runtime is None else ():
        for index, variable in enumerate(get(plan.job.spec, (*holder, "env"), ())):
            if variable.get("value") and variable.get("valueFrom"):
                yield LintFinding("value-beside-source", (), (*holder, str(index), variable["name"]))


@lint_rule("value-beside-source")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The controller keeps `valueFrom`, and drops the value."""
    *holder, index, name = finding.what
    return Finding(
        message=f"the variable {name} has value and valueFrom: Trainer drops the value",
        help="remove value or valueFrom",
        place=plan.job.at("spec", *holder, "env", int(index), "value"),
    )
