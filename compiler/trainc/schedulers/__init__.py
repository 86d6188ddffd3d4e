"""The gang schedulers. A policy's key in `podGroupPolicy` is the name of its file; a runtime can have several.

A scheduler has `VERSION`, the apiVersion of its PodGroups; `MARK`, the label or annotation by which a pod names its
gang; `group`, which returns the gang's PodGroup; and `CHECKS`, the rules of its part of the webhook.
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
    """The sum of their requests."""


class Scheduler(Protocol):
    """The interface of a module in this folder."""

    VERSION: str
    """The apiVersion of its PodGroup."""
    MARK: Mark
    CHECKS: tuple[Check[[Plan]], ...]
    group: Callable[[Plan, Gang], Tree]


def of(policy: Tree | None) -> list[Scheduler]:
    """Return the schedulers of a podGroupPolicy."""
    return [cast("Scheduler", import_module(f"{__name__}.{key}")) for key in SCHEDULERS if key in (policy or {})]
