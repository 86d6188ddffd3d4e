"""Lowering: a job of another kind in the form that the stages read, a TrainJob with a runtime of its own.

Reads    a job that the schema of its kind has admitted.
Returns  the TrainJob and the runtime, as edits of the job's document: each of their fields leads back to the job's.

A kind names its front end, a module of this package, in its row of the table of kinds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

from trainc.base.records import NamedTuple
from trainc.frontends.moves import edited

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.base.kinds import Kind
    from trainc.diagnostics import Document
    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.moves import Move
    from trainc.kubernetes.trees import Path, Tree
    from trainc.kubernetes.violations import Violation


OLDER_SCHEMAS: Final = "training-operator-0"
"""The folder of the schemas of earlier apiVersions, in which fields of the run policy are also in the spec."""


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


class FrontEnd(Protocol):
    """The interface of a front end."""

    SCHEMA: str
    """The folder of the kind's schema. Those of the other apiVersions in its row are in `OLDER_SCHEMAS`."""
    OLDER: Mapping[str, str]
    """For earlier apiVersions that have other fields: a sentence with the fields of the current one."""
    LOSSES: tuple[LossRule, ...]
    """The rules of the losses that its jobs can have."""

    def violations(self, written: Tree, job: Tree) -> Iterable[Violation]:
        """Return the violations of the webhook's rules in a job that the schema has admitted.

        written   the job as its author wrote it, with nulls
        """
        ...

    def lower(self, job: Tree, gang: GangScheduler | None = None) -> Lowered:
        """Return a valid job in the form that the stages read.

        gang   the gang scheduler of the job's pods; None without one
        """
        ...


def schema_folder(kind: Kind, version: object) -> str:
    """Return the folder of the schema of a kind in one of its apiVersions."""
    return load(kind.front_end).SCHEMA if version == kind.versions[0] else OLDER_SCHEMAS


def load(name: str) -> FrontEnd:
    """Return a front end."""
    return cast("FrontEnd", import_module(f"trainc.frontends.{name}"))


def documents(written: Document, lowered: Lowered) -> tuple[Document, Document]:
    """Return the TrainJob and the runtime of a job, as edits of its document."""
    return edited(written, lowered.job, lowered.of_job), edited(written, lowered.runtime, lowered.of_runtime)


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
