"""Notes about an upgrade of Trainer, besides the objects that it changes.

Reads    one tree, compiled for two releases.
Returns  a note with the behaviours that change no object, one for each TrainJob that will not resume, and one if the
         upgrade leads over another release.
Source   kubeflow/trainer: the controllers of v2.1.0, v2.2.1 and v2.3.0; the release notes of v2.4.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.behaviours import PAGE, changed_behaviours, releases_between
from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic
from trainc.pipeline import frameworks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.releases import TrainerRelease
    from trainc.review.sides import Side

TRAINER_UPGRADE: Final = Declaration(
    "trainer-upgrade", ("read",), "Upgrade of Trainer with effects beyond the objects", "note", trainc_only=True
)


def notes(before: Side, after: Side) -> Iterator[Diagnostic]:
    """Yield the notes about the upgrade from the release of one side to that of the other."""
    old, new = before.settings.release, after.settings.release
    path = releases_between(old, new)
    found = [changed for changed in changed_behaviours(old, new) if not changed.behaviour.objects]
    found.sort(key=lambda changed: path.index(changed.release))
    if found:
        yield _note(f"the upgrade also changes the cluster: {'; '.join(changed.words for changed in found)}")
    for index, release in enumerate(path):
        if release.upgraded_from and index > 1 and path[index - 1].name in release.upgraded_from:
            yield _note(f"the upgrade from {path[0].title} to {release.title} leads over {path[index - 1].title}")
    if new.mpi_resume != old.mpi_resume:
        yield from _suspended(before, new)


def _suspended(before: Side, new: TrainerRelease) -> Iterator[Diagnostic]:
    """Yield a note for each suspended MPI TrainJob."""
    for item in before.items:
        plan = item.job.plan if item.job and not item.position else None
        if plan is None or not plan.job.spec.get("suspend") or plan.job.own_runtime is not None:
            continue
        if frameworks.traits(plan.runtime).launcher:
            yield _note(
                f'TrainJob "{plan.job.source_name}" is suspended and uses MPI: it does not resume with {new.title}',
                "create it again after the upgrade",
            )._replace(object=plan.job.id, place=plan.job.at("spec", "suspend", key=True))


def _note(message: str, help: str = "") -> Diagnostic:
    return Diagnostic.declared(TRAINER_UPGRADE, message, help or f"read {PAGE}")
