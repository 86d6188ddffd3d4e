"""The regrets of all TrainJobs as warnings: one for each cause, at the line that caused it.

Reads    plans that have been through the pipeline.
Returns  diagnostics, each at the first TrainJob that has it, with the number of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Path, Place, Related
from trainc.lint import load, stored
from trainc.plural import also

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from trainc.diagnostics import Diagnostic, Regret
    from trainc.plan import Plan


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
            place, related = warning.place, warning.related
            if place is None:
                place, related = placed(plan, regret.path)
            assert isinstance(place, Place)
            for label, path in regret.related:
                other, more = placed(plan, path)
                related = (*related, *(more or (Related(message=label, place=other),)))
            key = (warning.id, warning.message, id(place.document), place.path)
            if key not in said:
                subject = plan.runtime.id if place.document is plan.runtime.document else warning.object
                yield warning._replace(
                    message=warning.message + also(len(others)), object=subject, place=place, related=related
                )
            said.add(key)


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
