"""Lowering: a job of another kind in the form that the stages read, a TrainJob with a runtime of its own.

Reads    a job that the schema of its kind has admitted.
Returns  the TrainJob and the runtime, as edits of the job's document: each of their fields leads back to the job's.

A kind names its front end, a module of this package, in its row of the table of kinds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from trainc.base.records import NamedTuple
from trainc.frontends.moves import edited

if TYPE_CHECKING:
    from trainc.diagnostics import Document
    from trainc.frontends.moves import Move
    from trainc.kubernetes.trees import Tree


class Lowered(NamedTuple):
    """A job as a TrainJob and its own runtime. The moves lead from their fields to the job's."""

    job: Tree
    runtime: Tree
    of_job: tuple[Move, ...] = ()
    of_runtime: tuple[Move, ...] = ()


class FrontEnd(Protocol):
    """The interface of a front end."""

    SCHEMA: str
    """The folder of the kind's schema."""

    def lower(self, job: Tree) -> Lowered:
        """Return a valid job in the form that the stages read."""
        ...


def load(name: str) -> FrontEnd:
    """Return a front end."""
    return cast("FrontEnd", import_module(f"trainc.frontends.{name}"))


def documents(written: Document, lowered: Lowered) -> tuple[Document, Document]:
    """Return the TrainJob and the runtime of a job, as edits of its document."""
    return edited(written, lowered.job, lowered.of_job), edited(written, lowered.runtime, lowered.of_runtime)
