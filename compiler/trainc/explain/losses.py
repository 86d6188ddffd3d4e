"""Losses: the fields that legacy jobs set and their JobSets lack, or have with another effect, with what to do.

Reads    compiled jobs.
Returns  a text for people, or a list for programs: `{"job": {"apiVersion", "kind", "namespace", "name"}, "field",
         "pointer", "effect", "reason", "help", "file", "line", "column", "endLine", "endColumn"}`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.texts import escape, escape_json
from trainc.diagnostics import Place
from trainc.emit.json import items
from trainc.frontends.lowering import written_losses
from trainc.kubernetes.violations import field_of
from trainc.provenance.tracing.correspondence import pointer
from trainc.reports.json import position as json_position
from trainc.reports.text import BOLD, CYAN, painter, position

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation import Compiled
    from trainc.diagnostics import Location, ObjectId
    from trainc.frontends.lowering import Loss
    from trainc.pipeline.objects import TrainJob


RULE: Final = "legacy-losses"
"""The lint rule that refers to this list."""


class LocatedLoss(NamedTuple):
    """A loss with its line."""

    loss: Loss
    at: Location


class LossesOfJob(NamedTuple):
    """A legacy job with its losses."""

    job: TrainJob
    losses: tuple[LocatedLoss, ...]


def losses(jobs: Iterable[Compiled]) -> Iterator[LossesOfJob]:
    """Yield the legacy jobs with their losses."""
    for plan in (job.plan for job in jobs):
        if plan.job.own_runtime is not None:
            document = plan.job.document
            found = written_losses(document, plan.losses)
            yield LossesOfJob(plan.job, tuple(LocatedLoss(loss, Place(document, loss.path).locate()) for loss in found))


def render(jobs: Iterable[LossesOfJob], *, color: bool) -> Iterator[str]:
    """Yield the text, in parts."""
    paint = painter(color)
    for number, (job, found) in enumerate(jobs):
        where = f" in namespace {job.namespace}" if job.namespace else ""
        heading = paint(BOLD, escape(f"{job.word} {job.id.name}"))
        yield "\n" * bool(number) + f"{heading}{escape(f'{where} ({job.document.file}:{job.document.line})')}\n"
        yield "" if found else "  no losses\n"
        for loss, at in found:
            yield f"  {position(at)}: {paint(CYAN, escape(field_of(loss.path)))}: {loss.rule.effect}\n"
            yield f"    {escape(loss.reason)}\n    help: {escape(loss.rule.action)}\n"


def render_json(jobs: Iterable[LossesOfJob]) -> Iterator[str]:
    """Yield the list, in parts."""
    entries = (_entry(job.id, each) for job, found in jobs for each in found)
    return items(escape_json(json.dumps(entry, indent=2, ensure_ascii=False)) for entry in entries)


def _entry(job: ObjectId, located: LocatedLoss) -> dict[str, object]:
    loss = located.loss
    return {
        "job": job._asdict(),
        "field": field_of(loss.path),
        "pointer": pointer(loss.path),
        "effect": loss.rule.effect,
        "reason": loss.reason,
        "help": loss.rule.action,
        **json_position(located.at),
    }
