"""Explanations as JSON, for programs: fields with their sources, or the changes of each stage as JSON Patch.

Reads    accounts, or compiled TrainJobs.
Returns  a list with an entry for each field: `{"job": {"apiVersion", "kind", "namespace", "name"}, "object":
         {"apiVersion", "kind", "namespace", "name"}, "field", "pointer", "value", "stage", "by", "file", "line",
         "column", "endLine", "endColumn", "before"}`. `pointer` is the field's RFC 6901 JSON Pointer in the object;
         `before` lists the earlier writings, latest first, each with the fields from `value` to `endColumn`. Secrets
         are masked.
         For `--patches`, a list with an entry for each TrainJob: `{"job": {"apiVersion", "kind", "namespace", "name"},
         "steps": [{"stage", "by", "file", "line", "patch"}]}`. Applied in order to an empty list, the patches produce
         the TrainJob's objects as `build --format json` prints them, so nothing is masked. `file` and `line` are the
         start of the step's source (a runtime patch, the runtime's template or the TrainJob), and null for a computed
         stage.
Source   RFC 6902 (JSON Patch). `tracing.correspondence` computes the operations and tracks list items by their merge
         keys: an inserted container is one operation, not a change of every item after it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trainc.base.texts import escape_json
from trainc.diagnostics import ObjectId
from trainc.emit import objects_of_a_job
from trainc.emit.json import items
from trainc.kubernetes.violations import field_of
from trainc.provenance.tracing import nearest_existing, runtime_of, stage_source
from trainc.provenance.tracing.correspondence import TracedOperation, patch, pointer
from trainc.provenance.tracing.history import replay
from trainc.reports.json import position

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation import Compiled
    from trainc.diagnostics import Place
    from trainc.explain import Account, Writing
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan
    from trainc.provenance.tracing.history import StageRecord


def render(accounts: Iterable[Account]) -> Iterator[str]:
    """Yield the fields as a list, in parts."""
    entries = (entry for account in accounts for entry in _entries(account))
    return items(escape_json(json.dumps(entry, indent=2, ensure_ascii=False)) for entry in entries)


def _entries(account: Account) -> Iterator[Tree]:
    for path, (last, *earlier), release in account.fields:
        yield {
            "job": account.job.id._asdict(),
            "object": ObjectId.from_manifest(account.tree)._asdict(),
            "field": field_of(path),
            "pointer": pointer(path),
            **_writing(last),
            **({"release": release} if release else {}),
            "before": [_writing(writing) for writing in earlier],
        }


def _writing(writing: Writing) -> Tree:
    return {"value": writing.value, "stage": writing.stage, "by": writing.by, **position(writing.at)}


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
