"""The fix of a diagnostic as edits of files, and the page of its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.api.checked_arguments import checked
from trainc.base.data import declared_in
from trainc.base.fixes import Addition, Relocation, Removal, Renaming, Replacement, flow
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic
from trainc.kubernetes.violations import field_of
from trainc.rewriting.fixing import fixable_problems

if TYPE_CHECKING:
    from trainc.base.fixes import Change
    from trainc.diagnostics import Location

LONGEST: Final = 60
"""The most characters of a value in a title."""


class FileEdit(NamedTuple):
    """A replacement of characters in a file."""

    file: str
    at: Location
    """The characters that are replaced; an empty range for an insertion."""
    text: str


class QuickFix(NamedTuple):
    """The fix of a diagnostic."""

    title: str
    """What it does: `Rename numNode to numNodes`."""
    edits: tuple[FileEdit, ...]
    is_safe: bool
    """Whether `trainc validate --fix` applies it without `--unsafe-fixes`."""


def fix_of(diagnostic: Diagnostic) -> QuickFix | None:
    """Return the fix of a diagnostic; None if it has none that can be applied to a file on its own."""
    checked(diagnostic, Diagnostic, "diagnostic")
    problem = next(fixable_problems([diagnostic], unsafe=True), None)
    if problem is None or diagnostic.fix is None:
        return None
    edits = tuple(FileEdit(change.file, edit.at, edit.text) for change in problem.changes for edit in change.edits)
    is_safe = diagnostic.fix.applicability == "safe" and diagnostic.severity == "error"
    return QuickFix(_title(diagnostic), edits, is_safe)


def page_of(id: str) -> str:
    """Return the page of a diagnostic's id as Markdown, as `trainc validate --explain` prints it.

    Raise ValueError for an unknown id.
    """
    if id not in declared_in():
        from trainc.base.suggestions import nearest_name

        near = nearest_name(id, declared_in())
        raise ValueError(f'unknown diagnostic "{id}"' + (f': did you mean "{near}"?' if near else ""))
    from trainc.reports.catalogue import page

    return page(id)


def address_of(id: str) -> str:
    """Return the address of the page of a diagnostic's id: a file of the package. Raise ValueError for another id."""
    page_of(id)
    from pathlib import Path

    from trainc.base.data import data_path

    return Path(data_path("diagnostics", f"{id}.md")).resolve().as_uri()


def _title(diagnostic: Diagnostic) -> str:
    fix = diagnostic.fix
    assert fix is not None
    if len(fix.changes) == 1:
        return _action(fix.changes[0])
    return fix.title[:1].upper() + fix.title[1:]


def _action(change: Change) -> str:
    if isinstance(change, Renaming):
        return f"Rename {change.path[-1]} to {change.name}"
    if isinstance(change, Relocation):
        return f"Move {field_of(change.path)} to {field_of(change.target)}"
    if isinstance(change, Removal):
        return f"Remove {field_of(change.path)}"
    value = flow(change.value)
    value = value if len(value) <= LONGEST else f"{value[:LONGEST]}..."
    if isinstance(change, Addition):
        return f"Add {field_of(change.path)}: {value}"
    assert isinstance(change, Replacement)
    return f"Replace with {value}"
