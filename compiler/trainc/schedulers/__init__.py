"""The gang schedulers. A policy's key in `podGroupPolicy` is the name of its file; a runtime may have several.

A scheduler has `VERSION`, the apiVersion of its PodGroups; `MARK`, by which a pod says what gang it is in; `group`,
which returns the gang's PodGroup; and `CHECKS`, what its part of the webhook refuses.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.checks import Check
    from trainc.kubernetes.trees import Tree
    from trainc.plan import Plan

SCHEDULERS: Final = ("coscheduling", "volcano")


class Mark(NamedTuple):
    """A label or an annotation of pods whose value is the name of their PodGroup."""

    field: Literal["labels", "annotations"]
    key: str


class Gang(NamedTuple):
    """The pods that start together, or not at all."""

    members: int
    resources: Tree
    """What all of them ask for."""


class Scheduler(Protocol):
    """What a module in this folder offers."""

    VERSION: str
    """The apiVersion of its PodGroup."""
    MARK: Mark
    CHECKS: tuple[Check[[Plan]], ...]
    group: Callable[[Plan, Gang], Tree]


def of(policy: Tree | None) -> list[Scheduler]:
    """The schedulers of a podGroupPolicy."""
    return [cast("Scheduler", import_module(f"{__name__}.{key}")) for key in SCHEDULERS if key in (policy or {})]
