"""Lowering: a job of another kind in the form that the stages read, a TrainJob with a runtime of its own.

Reads    a job that the schema of its kind has admitted.
Returns  the TrainJob and the runtime, as edits of the job's document: each of their fields leads back to the job's; and
         the losses: the fields that its JobSet does not have, or has with another effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trainc.base.records import NamedTuple
from trainc.frontends.moves import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.diagnostics import Document
    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.moves import Move
    from trainc.kubernetes.trees import Path, Tree
    from trainc.kubernetes.violations import Violation

LossEffect = Literal["approximated", "not carried", "without effect"]
"""Whether the JobSet has a field with a similar effect; without effect is a field that the operator ignores, too."""


class LossRule(NamedTuple):
    """A reason for which a field is lost, or has another effect."""

    field: str
    """The field, in the notation of messages; `*` is the path of a role, or any text."""
    effect: LossEffect
    reason: str
    """How the difference shows, or why the field is not carried."""
    action: str
    """What the author can do."""
    is_added: bool = False
    """Whether the operator adds it, whatever the author writes in the field."""


class Loss(NamedTuple):
    """A loss of a job."""

    path: Path
    """The field in the job with all defaults; the job need not have it."""
    rule: LossRule
    detail: str = ""
    """The part of the value that is concerned, such as a host name; empty for the whole value."""

    @property
    def reason(self) -> str:
        """The reason, with the part of the value that is concerned."""
        return f"{self.rule.reason}: {self.detail}" if self.detail else self.rule.reason


class Lowered(NamedTuple):
    """A job as a TrainJob and its own runtime. The moves lead from their fields to the job's."""

    job: Tree
    runtime: Tree
    of_job: tuple[Move, ...] = ()
    of_runtime: tuple[Move, ...] = ()
    losses: tuple[Loss, ...] = ()
    """The fields of the job that the two do not represent exactly."""
    repeated: tuple[tuple[Path, Path], ...] = ()
    """The parts of the job that its author wrote twice, and that the two have once, from the first place."""


class FrontEnd(NamedTuple):
    """The front end of a kind."""

    violations: Callable[[Tree, Tree], Iterable[Violation]]
    """The violations of the webhook's rules in a job as its author wrote it, with nulls, and as the schema left it."""
    lower: Callable[[Tree, GangScheduler | None], Lowered]
    """A valid job in the form that the stages read, and the gang scheduler of its pods; None without one."""
    losses: tuple[LossRule, ...] = ()
    """The rules of the losses that its jobs can have; docs/legacy.md has a row for each of them."""
    defaulted: Callable[[Tree], Tree] = lambda job: job
    """A job as its author wrote it, with what a webhook adds before the schema is applied."""


def documents(written: Document, lowered: Lowered) -> tuple[Document, Document]:
    """Return the TrainJob and the runtime of a job, as edits of its document."""
    return edited(written, lowered.job, lowered.of_job), edited(written, lowered.runtime, lowered.of_runtime)
