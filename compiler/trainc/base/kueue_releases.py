"""The releases of Kueue: what each one serves, starts and manages, and the releases of Trainer that it works with.

Reads    nothing.
Returns  the releases by the value of `kueueVersion`. docs/kueue.md has this table.
Source   kubernetes-sigs/kueue, the newest tag of each minor release up to v0.19.2 and the main branch of 2026-08-22:
         its CRDs, go.mod, the TrainJob integration (RunWithPodSetsInfo), and the frameworks in the default
         configuration. v0.20: the release notes of v0.20.5.
"""

from __future__ import annotations

from typing import Final, Literal

from trainc.base.records import NamedTuple
from trainc.base.releases import RELEASES, TrainerRelease

LEGACY_INTEGRATIONS: Final = frozenset({"PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob", "JAXJob"})
"""The kinds of Training Operator v1, in the version kubeflow.org/v1, that have an integration."""


class KueueRelease(NamedTuple):
    """A minor release of Kueue."""

    name: str
    """The value of `kueueVersion`."""
    served: tuple[str, ...]
    """The versions of its API, the newest first."""
    patches: Literal["podTemplateOverrides", "runtimePatches"]
    """The field of a TrainJob into which it writes the placement of the pods when it starts the job."""
    trainers: frozenset[str]
    """The releases of Trainer with which it starts TrainJobs."""
    legacy: frozenset[str]
    """The kinds of Training Operator v1 that it manages by default."""

    @property
    def title(self) -> str:
        """The name in messages: `Kueue v0.19`."""
        return f"Kueue v{self.name}"

    def starts_jobs_of(self, trainer: TrainerRelease) -> bool:
        """Return whether it starts the TrainJobs of a release of Trainer, once it admits them."""
        return trainer.name in self.trainers


V0_14: Final = KueueRelease("0.14", ("v1beta1",), "podTemplateOverrides", frozenset({"2.1"}), LEGACY_INTEGRATIONS)
V0_15: Final = V0_14._replace(name="0.15", served=("v1beta2", "v1beta1"))
V0_17: Final = V0_15._replace(name="0.17", patches="runtimePatches", trainers=frozenset({"2.2", "2.3", "2.4"}))
V0_19: Final = V0_17._replace(name="0.19", legacy=frozenset())
KUEUE_RELEASES: Final = (
    V0_14,
    V0_15,
    V0_15._replace(name="0.16"),
    V0_17,
    V0_17._replace(name="0.18"),
    V0_19,
    V0_19._replace(name="0.20", served=("v1beta2",), trainers=frozenset({"2.3", "2.4"})),
)
"""All releases, the oldest first."""
NEWEST_KUEUE: Final = KUEUE_RELEASES[-1]


def find_kueue(name: str | None) -> KueueRelease | None:
    """Return the release of that name; None without a name."""
    return next((release for release in KUEUE_RELEASES if release.name == name), None)


def kueue_fault(name: str) -> tuple[str, str] | None:
    """Return the message and the help for a name that no release has; None for a valid one.

    >>> kueue_fault("0.13")
    ('"0.13" is not a release of Kueue that trainc knows', 'use 0.14, 0.15, 0.16, 0.17, 0.18, 0.19 or 0.20')
    >>> kueue_fault("0.20")
    """
    if find_kueue(name) is not None:
        return None
    *others, last = (release.name for release in KUEUE_RELEASES)
    help = f"use {', '.join(others)} or {last}"
    if name[:1] == "v" or name.count(".") > 1:
        help += ", without v and without a patch release"
    return f'"{name}" is not a release of Kueue that trainc knows', help


def ranges(names: frozenset[str]) -> str:
    """Return names of releases of Trainer in words.

    >>> ranges(frozenset({"2.1"})), ranges(frozenset({"2.3", "2.4"})), ranges(V0_17.trainers)
    ('v2.1', 'v2.3 and v2.4', 'v2.2 to v2.4')
    """
    first, *more = [f"v{release.name}" for release in RELEASES if release.name in names]
    return first if not more else f"{first} {'and' if len(more) == 1 else 'to'} {more[-1]}"
