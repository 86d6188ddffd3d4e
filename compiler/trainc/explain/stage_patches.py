"""Patches: the changes of each stage to a TrainJob's objects as JSON Patch (RFC 6902), for programs.

Reads    compiled TrainJobs.
Returns  a list with an entry for each: `{"job": {"apiVersion", "kind", "namespace", "name"}, "steps":
         [{"stage", "by", "file", "line", "patch"}]}`. Applied in order to an empty list, the patches produce the
         TrainJob's objects as `build --format json` prints them, so nothing is masked. `file` and `line` are the start
         of the step's source (a runtime patch, the runtime's template or the TrainJob), and null for a computed stage.
Source   RFC 6902 (JSON Patch). `tracing.patches` computes the operations and tracks list items by their merge keys:
         an inserted container is one operation, not a change of every item after it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trainc.emit.json import items
from trainc.emit.order import objects_of_a_job
from trainc.provenance.tracing import nearest_existing, runtime_of, stage_source
from trainc.provenance.tracing.correspondence import TracedOperation, patch
from trainc.provenance.tracing.history import replay
from trainc.source.printable import escape_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation import Compiled
    from trainc.diagnostics import Place
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan
    from trainc.provenance.tracing.history import StageRecord


def render_steps(jobs: Iterable[Compiled]) -> Iterator[str]:
    """Yield the patches of every TrainJob as a list, in parts."""
    entries = (
        {"job": id._asdict(), "steps": list(steps(plan))} for id, plan in ((job.plan.job.id, job.plan) for job in jobs)
    )
    return items(escape_json(json.dumps(entry, indent=2, ensure_ascii=False)) for entry in entries)


def steps(plan: Plan) -> Iterator[Tree]:
    """Yield the changes of each stage that changed anything."""
    for step in replay(plan):
        operations = [operation.json for operation in _object_operations(step.before, step.after)]
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


def _object_operations(before: list[Tree], after: list[Tree]) -> Iterator[TracedOperation]:
    """Yield the operations that turn the objects before a step into those after it, both in output order."""
    old, new = objects_of_a_job(before), objects_of_a_job(after)
    names = [_name(tree) for tree in new]
    for index in reversed(range(len(old))):
        if _name(old[index]) not in names:
            yield TracedOperation("remove", (index,))
            del old[index]
    for index, tree in enumerate(new):
        if index < len(old) and _name(old[index]) == names[index]:
            yield from patch(old[index], tree, (index,))
        else:
            yield TracedOperation("add", (index,), tree)
            old.insert(index, tree)


def _name(tree: Tree) -> tuple[Any, ...]:
    return tree["apiVersion"], tree["kind"], tree["metadata"]["name"]


def _document(plan: Plan, step: StageRecord) -> tuple[str, Place | None]:
    """Return the author of a step, in words, and the start of its source, if it has one."""
    if step.stage == "conform":
        return f"the {plan.job.word}", plan.job.at()
    if step.stage != "override":
        return stage_source(plan, step.stage), None
    if step.patch is None:
        return runtime_of(plan), nearest_existing(plan.runtime.at("spec", "template"))
    place = plan.job.at("spec", "runtimePatches", step.patch)
    return f'patch "{plan.job.patches[step.patch].get("manager")}"', nearest_existing(place)
