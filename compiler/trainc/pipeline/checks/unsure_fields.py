"""Unknown fields of a release whose schema was not available when trainc was released: a verdict with its evidence.

Reads    the diagnostic of an unknown field, by the schema of the release before.
Returns  a warning. It names a feature gate if the release's notes announce the field; it suggests another field only if
         that is certain. Imported only for an unknown field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.fixes import Renaming
from trainc.base.kinds import EACH, TRAINJOB
from trainc.base.releases import RELEASES
from trainc.pipeline.checks.dialect import newer_form

if TYPE_CHECKING:
    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Diagnostic
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation


def unsure(value: Tree, violation: Violation, diagnostic: Diagnostic, release: TrainerRelease) -> Diagnostic:
    """Return the warning for an unknown field of an object."""
    diagnostic = diagnostic._replace(severity="warning", message=f"{violation.message}; trainc drops it")
    kind = "TrainJob" if value.get("kind") == TRAINJOB.kind else "runtime"
    path = tuple(EACH if isinstance(step, int) else step for step in violation.path)
    for field in release.alpha:
        if field.kind == kind and field.path == path:
            gate = f"the feature gate of {field.feature}, which is alpha and off by default"
            help = f"{release.title} has it behind {gate}: a cluster without the gate rejects the {kind}"
            return diagnostic._replace(help=help, fix=None)
    fix = diagnostic.fix
    is_certain = fix is not None and fix.applicability == "safe" and all(isinstance(x, Renaming) for x in fix.changes)
    if is_certain or newer_form(value, violation.path, violation.rule, release):
        return diagnostic._replace(message=violation.dropped().message)
    known = next(each for each in RELEASES if each.crds == release.crds and each.source == "code")
    help = f"{release.title}'s schema was not available when trainc was released; v{known.name} has no such field"
    return diagnostic._replace(help=help, fix=None)
