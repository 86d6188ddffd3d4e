"""TODO scheduling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainc.kubernetes.validation.findings import At, Findings


def of_container(found: Findings, at: At, value: Any) -> None:
    """A container's scheduling."""


def affinity(found: Findings, at: At, value: Any) -> None:
    """A pod's affinity."""
