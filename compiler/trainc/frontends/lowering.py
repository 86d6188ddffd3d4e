"""Lowering: a job of another kind or dialect in the form that the stages read, and the moves of its fields.

Reads    a job that the schema of its kind has admitted.
Returns  the TrainJob and the runtime, as edits of the job's document: each of their fields leads back to the job's; and
         the losses: the fields that its JobSet does not have, or has with another effect. A move is a field that a
         dialect or a kind has elsewhere than the form; `trainc upgrade` uses moves, too. For any path in the form,
         `written_at` returns the path in the original.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.records import NamedTuple
from trainc.base.suggestions import shared_length
from trainc.diagnostics import Edit, Place
from trainc.kubernetes.trees import Path, Tree, get, removed_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.diagnostics import Document
    from trainc.frontends.gangs import GangScheduler
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


def without_effect(field: str, reason: str) -> LossRule:
    """Return the rule of a field that the author can remove."""
    return LossRule(field, "without effect", reason, "remove it")


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


def written_losses(document: Document, losses: Iterable[Loss]) -> list[Loss]:
    """Return the losses of fields that the author of a job wrote, each once, in the order of the file.

    Defaults of the operator, and the labels and Services that it adds, concern every job of the kind: docs/legacy.md
    lists them.
    """

    def position(loss: Loss) -> tuple[int, int]:
        at = Place(document, loss.path).locate()
        return at.line, at.column

    written = (loss for loss in losses if not loss.rule.is_added and get(document.value, loss.path) is not None)
    return sorted(dict.fromkeys(written), key=position)


def losses_with_effect(document: Document, losses: Iterable[Loss]) -> list[Loss]:
    """Return a loss for each written field that had an effect, in the order of the file."""
    written = written_losses(document, losses)
    found = {loss.path: loss for loss in reversed(written) if loss.rule.effect != "without effect"}
    return [*reversed(found.values())]


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


AS_IS: Final = object()


class Move(NamedTuple):
    """A field at `source` that is at `target` after the conversion, with the same value or another one."""

    source: Path
    target: Path
    """The new path; empty for a field that is removed."""
    value: Any = AS_IS

    def value_in(self, job: Tree) -> Any:
        """Return the new value of the field of a TrainJob."""
        return get(job, self.source) if self.value is AS_IS else self.value


def edited(document: Document, value: Tree, moves: Sequence[Move]) -> Document:
    """Return a document with another value, with the edit that leads back to the fields from which it was derived."""
    edit = Edit(before=document.value, source=partial(written_at, moves=moves))
    return document._replace(value=value, edits=(*document.edits, edit))


def moved(job: Tree, moves: Iterable[Move], gone: Iterable[Path]) -> Tree:
    """Return the TrainJob after the moves. `gone` are the fields that it does not keep."""
    result = job
    for path in gone:
        result = removed_at(result, path)
    for move in moves:
        if move.target:
            result = _with_value_at(result, move.target, move.value_in(job))
    return result


def composed(first: Iterable[Move], second: Iterable[Move]) -> Iterator[Move]:
    """Yield the moves of single fields that have the effect of two conversions, one after the other."""
    left = {move.target: move for move in first}
    for move in second:
        earlier = left.pop(move.source, None)
        if earlier is not None:
            value = earlier.value if move.value is AS_IS else move.value
            move = Move(earlier.source, move.target, value)  # noqa: PLW2901 (the same field)
        if move.source != move.target or move.value is not AS_IS:
            yield move
    yield from left.values()


def written_at(path: Path, moves: Iterable[Move]) -> Path:
    """Return the path in the original TrainJob of a path in the form."""
    best: tuple[int, Path] = (0, path)
    for move in moves:
        length = len(move.target)
        if length > best[0] and path[:length] == move.target:
            best = length, (*move.source, *path[length:])
    if not best[0] and path[:2] == ("spec", "initializer"):
        below = next((move for move in moves if move.target[: len(path)] == path), None)
        return below.source[: len(path) - len(below.target)] if below else path
    if best[0] or path[:2] != ("spec", "runtimePatches"):
        return best[1]
    # No move targets the path itself or a field above it: use the move that shares most of the path.
    nearest = max(moves, key=lambda move: shared_length(path, move.target), default=None)
    return nearest.source[:3] if nearest else path


def _with_value_at(node: Any, path: Path, value: Any) -> Any:
    """Return a copy of `node` with `value` at `path`, and with missing parents added."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(node or ())
        items += [None] * (step + 1 - len(items))
        items[step] = _with_value_at(items[step], rest, value)
        return items
    fields = dict(node or {})
    fields[step] = _with_value_at(fields.get(step), rest, value)
    return fields
