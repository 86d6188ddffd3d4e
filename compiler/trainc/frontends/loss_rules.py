"""Losses: the fields of a legacy job that its JobSet does not have, or has with another effect.

A kind declares the rules of its losses in `LOSSES`; docs/legacy.md has a row for each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path

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
