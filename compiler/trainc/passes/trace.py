"""Trace: which line of the input a field of the compiled JobSet comes from.

Reads    a path in the JobSet, the TrainJob's patches, the runtime.
Returns  the place that has the most of that path: the last patch that says anything of it, else the runtime, with
         the TrainJob's runtimeRef beside it. List items are followed by their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from trainc.diagnostics import Path, Place, Related
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from trainc.plan import Plan


class Origin(TypedDict):
    """The two fields of a diagnostic that say where."""

    place: Place
    related: tuple[Related, ...]


def trace(plan: Plan, path: Path) -> Origin:
    """The place that caused a field of the JobSet."""
    steps = _by_name({"spec": plan.spec, "metadata": {"labels": plan.labels, "annotations": plan.annotations}}, path)
    template = ("trainingRuntimeSpec", "template")
    candidates = [
        (_follow(get(patch, template, {}), steps), ("spec", "runtimePatches", index, *template))
        for index, patch in enumerate(plan.job.patches)
    ]
    found, base = max(reversed(candidates), key=lambda pair: len(pair[0]), default=((), ()))
    inherited = _follow(get(plan.runtime.value, ("spec", "template"), {}), steps)
    if len(found) > len(inherited) or (len(found) == len(inherited) and found):
        return Origin(place=plan.job.at(*base, *found), related=())
    related = (Related(message="the runtime", place=plan.runtime.at("spec", "template", *inherited)),)
    if own := _follow(plan.job.value, path):
        return Origin(place=plan.job.at(*(own if path[0] == "metadata" else ("spec", "runtimeRef"))), related=related)
    return Origin(place=plan.job.at("spec", "runtimeRef"), related=related)


def _by_name(tree: Any, path: Path) -> tuple[str | int | tuple[int, str], ...]:
    """The path with each list index joined by the name of the item there."""
    steps: list[str | int | tuple[int, str]] = []
    for step in path:
        tree = get(tree, (step,))
        name = tree.get("name") if isinstance(step, int) and isinstance(tree, dict) else None
        steps.append((step, name) if isinstance(step, int) and isinstance(name, str) else step)
    return tuple(steps)


def _follow(tree: Any, steps: tuple[str | int | tuple[int, str], ...]) -> Path:
    """As much of the path as `tree` has, in its own indices."""
    path: list[str | int] = []
    for step in steps:
        if isinstance(step, tuple):
            names = [item.get("name") for item in tree] if isinstance(tree, list) else []
            if step[1] not in names:
                break
            step = names.index(step[1])  # noqa: PLW2901
        found = get(tree, (step,))
        if found is None:
            break
        path.append(step)
        tree = found
    return tuple(path)
