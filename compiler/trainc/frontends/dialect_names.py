"""Messages, hints and fixes about a TrainJob with the names that its dialect has for the fields of the form.

Reads    diagnostics of stages and checks, which know the form only.
Returns  the same diagnostics in the names of a dialect without overrides. Texts in quotes are values and stay.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from trainc.base.fixes import Relocation, Removal, Renaming
from trainc.diagnostics import Diagnostic, Place
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from trainc.base.fixes import Change, Fix
    from trainc.base.trainjob_dialects import Dialect
    from trainc.diagnostics import Document


def in_names_of(dialect: Dialect, diagnostic: Diagnostic, form: Document) -> Diagnostic:
    """Return a diagnostic in the names of a dialect.

    form   the document in the form; its last edit leads to the dialect
    """
    diagnostic = diagnostic._replace(
        message=named(diagnostic.message, dialect),
        help=named(diagnostic.help, dialect),
        related=tuple(other._replace(message=named(other.message, dialect)) for other in diagnostic.related),
    )
    place = diagnostic.place
    if not isinstance(place, Place) or place.document.identity != form.identity:
        return diagnostic
    diagnostic = diagnostic._replace(field=named(diagnostic.field, dialect))
    if diagnostic.fix is None or diagnostic.fixed_in is not None:
        return diagnostic
    written = form._replace(value=form.edits[-1].before, edits=form.edits[:-1])
    return diagnostic._replace(fix=_fix(diagnostic.fix, dialect), fixed_in=written)


def named(text: str, dialect: Dialect) -> str:
    """Return a text with the dialect's names of fields."""
    names, pattern = _names(tuple((field.form, path) for path, field in dialect.fields.items()))
    return pattern.sub(lambda match: names[match[0]], text) if names else text


@cache  # one value for each pair of dialects
def _names(
    pairs: tuple[tuple[tuple[str | int, ...], tuple[str | int, ...]], ...],
) -> tuple[dict[str, str], re.Pattern[str]]:
    """Return the names of the form with those of a dialect, and the pattern that finds them in a text."""
    names: dict[str, str] = {}
    for form, path in pairs:
        if form == path:
            continue
        names[field_of(form)] = field_of(path)
        for start in range(1, len(form) - 1):
            names[field_of(form[start:])] = field_of(path[min(start, len(path) - 1) :])
        if form[-1] != path[-1]:
            names[str(form[-1])] = str(path[-1])
    longest = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return names, re.compile(rf"""(?<![\w.\-/"'])(?:{longest})(?![\w\-/"'])""")


def _fix(fix: Fix, dialect: Dialect) -> Fix:
    changes = tuple(_change(change, dialect) for change in fix.changes)
    shown = named(fix.shown, dialect) if fix.form == "name" else _value(fix.shown, dialect)
    return fix._replace(changes=changes, lead=named(fix.lead, dialect), note=named(fix.note, dialect), shown=shown)


def _change(change: Change, dialect: Dialect) -> Change:
    change = change._replace(path=dialect.written(change.path))
    if isinstance(change, Renaming):
        return change._replace(name=named(change.name, dialect))
    if isinstance(change, Relocation):
        change = change._replace(target=dialect.written(change.target))
    return change if isinstance(change, Removal) else change._replace(value=_value(change.value, dialect))


def _value(value: Any, dialect: Dialect) -> Any:
    """Return a value with the dialect's names as keys."""
    if isinstance(value, dict):
        return {named(str(key), dialect): _value(each, dialect) for key, each in value.items()}
    return [_value(each, dialect) for each in value] if isinstance(value, list) else value
