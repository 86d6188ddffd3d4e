"""The reports: diagnostics as text or data. A format's key is the name of its file.

A format has `render(diagnostics, *, summary, color, checked) -> str`; it escapes what comes from the input for its own
medium.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from trainc.declarations import PHASES
from trainc.diagnostics import Location, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.diagnostics import Checked, Diagnostic, Related

FORMATS: Final = ("text", "json", "junit", "sarif", "github", "gitlab")


OF_MADE: Final = ("jobset-schema", "jobset", "job")
"""The stages whose diagnostics speak of objects that were made of a TrainJob, and point to that."""


class Report(Protocol):
    """What a module in this folder offers."""

    def render(
        self, diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()
    ) -> str:
        """The whole report.

        Args:
            diagnostics: in any order.
            summary: a line for people.
            color: whether they see colours.
            checked: the TrainJobs and runtimes that were looked at, for a format that tells of those without faults.
        """
        ...


def load(format: str) -> Report:
    """The report of that name."""
    return cast("Report", import_module(f"{__name__}.{format}"))


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By place: file, then line and column; ready to be shown: located, and without the values of secrets."""
    located = [d._replace(place=d.locate(), related=tuple(_located(r) for r in d.related)) for d in diagnostics]
    if not located:
        return []
    from trainc.source.messages import without_secrets

    return sorted(map(without_secrets, located), key=sort_key)


def _located(related: Related) -> Related:
    place = related.place
    return related._replace(place=place.locate()) if isinstance(place, Place) else related


def sort_key(diagnostic: Diagnostic) -> tuple[Any, ...]:
    """By what a located diagnostic comes before another."""
    at = diagnostic.place
    location = at if isinstance(at, Location) else Location(file="")
    return (
        location.file,
        location.line,
        location.column,
        PHASES.index(diagnostic.stage),
        diagnostic.id,
        diagnostic.field,
        diagnostic.message,
    )
