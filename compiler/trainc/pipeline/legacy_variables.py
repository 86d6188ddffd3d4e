"""Variables that the framework of a legacy kind adds to the containers of a job.

Reads    a container, and the variables that the operator appended to its list.
Returns  the plan with unique variables, of which the last one of a name applies, as in a pod; and the losses: the
         variables of the job that have no effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.kinds import JOBS_OF_RUNTIME
from trainc.frontends.legacy.common_losses import SHADOWED
from trainc.frontends.loss_rules import Loss
from trainc.kubernetes.container_environment import without_shadowed
from trainc.kubernetes.trees import edit, get

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Path
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan, Slot

_SPEC: Path = JOBS_OF_RUNTIME[:-1]
"""The path of the JobSetSpec in a runtime."""


def with_variables(plan: Plan, slot: Slot, env: Iterable[Tree] = ()) -> Plan:
    """Return the plan with variables after those of a container."""
    path = (*slot.path, "env")
    written = get(plan.spec, path, None) or []
    variables = [*written, *env]
    if not variables:
        return plan
    losses = (Loss(written_path(plan, (*path, *step)), SHADOWED) for step in _without_effect(variables, len(written)))
    return plan._replace(
        spec=edit(plan.spec, path, lambda _: without_shadowed(variables)), losses=(*plan.losses, *losses)
    )


def with_operator_variables(plan: Plan, env: list[Tree], job: int | None = None, *, container: str = "") -> Plan:
    """Return the plan with variables in the containers of a replicated job, or of all; init containers get none.

    container   the name of the containers that get the variables; empty for all of them
    """
    for each in range(len(plan.jobs)) if job is None else (job,):
        for slot in plan.containers(each):
            has_variables = not container or get(plan.spec, (*slot.path, "name")) == container
            plan = with_variables(plan, slot, env if has_variables else ())
        for slot in plan.init_containers(each):
            plan = with_variables(plan, slot)
    return plan


def _without_effect(variables: list[Tree], count: int) -> Iterator[Path]:
    """Yield the values of the first `count` variables that a later one shadows, and that no other one refers to."""
    last = {variable.get("name"): index for index, variable in enumerate(variables)}
    for index, variable in enumerate(variables[:count]):
        name = variable.get("name")
        if last[name] == index or any(f"$({name})" in str(each.get("value")) for each in variables):
            continue
        for key in ("value", "valueFrom"):
            if key in variable:
                yield index, key


def written_path(plan: Plan, path: Path) -> Path:
    """Return the path in the job's document of a field of the JobSetSpec that the job gives."""
    return plan.runtime.at(*_SPEC, *path).written_path
