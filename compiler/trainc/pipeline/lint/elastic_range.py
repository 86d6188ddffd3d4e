"""A minimum number of nodes above the maximum, in the variable of torchrun.

Source: PyTorch 2.9, torch.distributed.run: `PET_NNODES` is a number or `MIN:MAX`; torchrun asserts that MIN is at least
1 and at most MAX. The operator of PyTorchJobs v1.9 writes minReplicas and maxReplicas into it without a check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import containers, lint_rule
from trainc.pipeline.lint.triggers import NODES
from trainc.pipeline.training import node_range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the variables whose minimum is above the maximum."""
    for path, container in containers(plan):
        for index, variable in enumerate(container.get("env") or ()):
            found = node_range(variable.get("value") or "") if variable["name"] == NODES else None
            if found and found[0] > found[1]:
                yield LintFinding("elastic-range", (*path, "env", index, "value"), (str(found[0]), str(found[1])))


@lint_rule("elastic-range")
def warning(_: Plan, finding: LintFinding) -> Finding:
    """Torchrun ends with an AssertionError as soon as it starts."""
    least, most = finding.what
    return Finding(
        message=f"the minimum of {least} nodes is above the maximum of {most}: torchrun ends at once",
        help="lower the minimum, or raise the maximum",
    )
