"""Unknown fields that a later release has, or may have: a verdict with its evidence.

Reads    the diagnostic of an unknown field, by the schema of a release; for a release whose schema was not available
         when trainc was released, by that of the release before.
Returns  the later release that has the field; for such a release, a warning, which names a feature gate if the notes
         announce the field, and suggests another field only if that is certain. Imported only for an unknown field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.fixes import Renaming
from trainc.base.kinds import EACH, TRAINJOB, VERSION
from trainc.base.releases import RELEASES
from trainc.kubernetes.structural import load
from trainc.pipeline.checks.dialect import newer_form

if TYPE_CHECKING:
    from trainc.base.releases import AlphaField, TrainerRelease
    from trainc.diagnostics import Diagnostic
    from trainc.kubernetes.trees import Path, Tree
    from trainc.kubernetes.violations import Violation


def unsure(value: Tree, violation: Violation, diagnostic: Diagnostic, release: TrainerRelease) -> Diagnostic:
    """Return the warning for an unknown field of an object."""
    diagnostic = diagnostic._replace(severity="warning", message=f"{violation.message}; trainc drops it")
    if field := _announced(value, violation.path, release):
        gate = f"the feature gate of {field.feature}, which is alpha and off by default"
        help = f"{release.title} has it behind {gate}: a cluster without the gate rejects the {field.kind}"
        return diagnostic._replace(help=help, fix=None)
    fix = diagnostic.fix
    is_certain = fix is not None and fix.applicability == "safe" and all(isinstance(x, Renaming) for x in fix.changes)
    if is_certain or newer_form(value, violation.path, violation.rule, release):
        return diagnostic._replace(message=violation.dropped().message)
    known = next(each for each in RELEASES if each.crds == release.crds and each.source == "code")
    help = f"{release.title}'s schema was not available when trainc was released; v{known.name} has no such field"
    return diagnostic._replace(help=help, fix=None)


def newer_release_with(value: Tree, path: Path, release: TrainerRelease) -> TrainerRelease | None:
    """Return the first release after another one that has a field which is unknown to it; None without one."""
    for newer in RELEASES[[each.name for each in RELEASES].index(release.name) + 1 :]:
        is_new = newer.crds != release.crds and value.get("apiVersion") == VERSION
        if (is_new and load(str(value.get("kind")), newer.crds).has_field(path)) or _announced(value, path, newer):
            return newer
    return None


def _announced(value: Tree, path: Path, release: TrainerRelease) -> AlphaField | None:
    """Return the field that the notes of a release announce, if it is at a path of an object."""
    kind = "TrainJob" if value.get("kind") == TRAINJOB.kind else "runtime"
    pattern = tuple(EACH if isinstance(step, int) else step for step in path)
    return next((field for field in release.alpha if field.kind == kind and field.path == pattern), None)
