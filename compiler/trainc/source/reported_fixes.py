"""The fixes of diagnostics in reports, with the edits that `trainc validate --fix` makes.

Reads    a diagnostic whose secrets are masked, so that a fix that writes one is gone.
Returns  its fix with the edits, if they can be made. Imported only for a diagnostic with a fix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.records import NamedTuple
from trainc.source.fix_edits import text_changes

if TYPE_CHECKING:
    from typing import Literal

    from trainc.diagnostics import Diagnostic
    from trainc.source.fix_edits import TextEdit


class ReportedFix(NamedTuple):
    """A fix with its edits."""

    title: str
    applicability: Literal["safe", "unsafe"]
    edits: tuple[TextEdit, ...]
    """In the order of the file."""

    def is_in_one_document_of(self, file: str) -> bool:
        """Return whether all edits are in the text of one document of a file."""
        documents = {(edit.at.file, edit.at.source and edit.at.source.line) for edit in self.edits}
        return len(documents) == 1 and all(name == file for name, _ in documents)


def reported_fix(diagnostic: Diagnostic) -> ReportedFix | None:
    """Return the fix of a diagnostic with its edits; None without one that can be applied."""
    fix, document = diagnostic.fix, diagnostic.fixed_in
    if fix is None or document is None:
        return None
    edits = [edit for change in text_changes(fix, document) for edit in change.edits]
    if not edits:
        return None
    is_safe = fix.applicability == "safe" and diagnostic.severity == "error"
    return ReportedFix(fix.title, "safe" if is_safe else "unsafe", tuple(sorted(edits, key=lambda edit: edit.at[:5])))
