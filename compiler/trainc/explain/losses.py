"""Losses: the fields of legacy jobs that their JobSets lack, or have with another effect, with what to do.

Reads    compiled jobs.
Returns  a text for people, or a list for programs: `{"job": {"apiVersion", "kind", "namespace", "name"}, "field",
         "pointer", "written", "effect", "reason", "help", "file", "line", "column", "endLine", "endColumn"}`. `written`
         is whether the file has the field; the others concern every job of the kind, and follow.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.emit.json import items
from trainc.kubernetes.violations import field_of
from trainc.pipeline import job_losses
from trainc.provenance.tracing.correspondence import pointer
from trainc.reports.json import position as json_position
from trainc.reports.text import BOLD, CYAN, painter, position
from trainc.source.printable import escape, escape_json

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
    is_written: bool


class LossesOfJob(NamedTuple):
    """A legacy job with its losses, first those of written fields."""

    job: TrainJob
    losses: tuple[LocatedLoss, ...]


def losses(jobs: Iterable[Compiled]) -> Iterator[LossesOfJob]:
    """Yield the legacy jobs with their losses."""
    for plan in (job.plan for job in jobs):
        if plan.job.own_runtime is not None:
            located = (
                LocatedLoss(loss, job_losses.place(plan, loss).locate(), job_losses.is_written(plan, loss))
                for loss in job_losses.ordered(plan)
            )
            yield LossesOfJob(plan.job, tuple(located))


def render(jobs: Iterable[LossesOfJob], *, color: bool) -> Iterator[str]:
    """Yield the text, in parts."""
    paint = painter(color)
    for number, (job, found) in enumerate(jobs):
        where = f" in namespace {job.namespace}" if job.namespace else ""
        heading = paint(BOLD, escape(f"{job.word} {job.id.name}"))
        yield "\n" * bool(number) + f"{heading}{escape(f'{where} ({job.document.file}:{job.document.line})')}\n"
        for is_written, title in ((True, "fields of the file"), (False, f"every {job.word}")):
            part = [each for each in found if each.is_written == is_written]
            if part:
                yield f"\n{paint(BOLD, title)}\n"
            for loss, at, _ in part:
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
        "written": located.is_written,
        "effect": loss.rule.effect,
        "reason": loss.reason,
        "help": loss.rule.action,
        **json_position(located.at),
    }
