"""Patches: what each stage did to a TrainJob's objects, as RFC 6902 has it, for programs.

Reads    compiled TrainJobs.
Returns  a list, an entry for each: `{"trainJob": {"namespace", "name"}, "steps": [{"stage", "by", "file", "line",
         "patch"}]}`. Carried out in order on an empty list, the patches give the list of the TrainJob's objects as
         `build --format json` prints them; so nothing is hidden in them. `file` and `line` say where the document of
         the step stands, a patch, the runtime's template, the TrainJob, and are null for what only computes.
Source   RFC 6902 (JSON Patch). The operations are `tracing.patches`', which follows the items of lists by their merge
         keys: an inserted container is one operation, not a change of all behind it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trainc.emit.order import objects_of_a_job
from trainc.tracing import maker, standing
from trainc.tracing.history import replay
from trainc.tracing.patches import Operation, patch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation import Compiled
    from trainc.diagnostics import Place
    from trainc.kubernetes.trees import Tree
    from trainc.plan import Plan
    from trainc.tracing.history import StageRecord


def render(jobs: Iterable[Compiled]) -> str:
    """The patches of every TrainJob."""
    entries = [
        {"trainJob": {"namespace": job.namespace, "name": job.name}, "steps": list(steps(job.plan))} for job in jobs
    ]
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


def steps(plan: Plan) -> Iterator[Tree]:
    """What each stage that did anything did."""
    for step in replay(plan):
        operations = [operation.json for operation in _of_objects(step.before, step.after)]
        if operations:
            by, place = _document(plan, step)
            at = place.locate() if place else None
            yield {
                "stage": step.stage,
                "by": by,
                "file": at.file if at else None,
                "line": at.line if at else None,
                "patch": operations,
            }


def _of_objects(before: list[Tree], after: list[Tree]) -> Iterator[Operation]:
    """What makes the objects after a step of those before it, both in the order in which they are written."""
    there, wanted = objects_of_a_job(before), objects_of_a_job(after)
    names = [_name(tree) for tree in wanted]
    for index in reversed(range(len(there))):
        if _name(there[index]) not in names:
            yield Operation("remove", (index,))
            del there[index]
    for index, tree in enumerate(wanted):
        if index < len(there) and _name(there[index]) == names[index]:
            yield from patch(there[index], tree, (index,))
        else:
            yield Operation("add", (index,), tree)
            there.insert(index, tree)


def _name(tree: Tree) -> tuple[Any, ...]:
    return tree["apiVersion"], tree["kind"], tree["metadata"]["name"]


def _document(plan: Plan, step: StageRecord) -> tuple[str, Place | None]:
    """Whose step it is, in words, and where the document of it begins."""
    if step.stage == "conform":
        return "the TrainJob", plan.job.at()
    if step.stage != "override":
        return maker(plan, step.stage), None
    if step.patch is None:
        return f'runtime "{plan.runtime.id.name}"', standing(plan.runtime.at("spec", "template"))
    place = plan.job.at("spec", "runtimePatches", step.patch)
    return f'patch "{plan.job.patches[step.patch].get("manager")}"', standing(place)
