"""Checks: what the cluster would refuse, and what it would regret.

A check is a generator function that yields findings and changes nothing. The decorator gives it what every report
and page needs: a stable id, the stage of the cluster's admission at which the fault would have surfaced, and a title.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, ParamSpec

from trainc.diagnostics import Diagnostic, Finding, ObjectId
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.declarations import Phase, Severity

P = ParamSpec("P")


class Check(NamedTuple, Generic[P]):
    """A rule with its identity; calling it gives the rule's findings as diagnostics about `subject`."""

    id: str
    stage: Phase
    severity: Severity
    title: str
    find: Callable[P, Iterable[Finding]]

    def __call__(self, subject: ObjectId, *args: P.args, **kwargs: P.kwargs) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each finding."""
        for found in self.find(*args, **kwargs):
            yield Diagnostic(
                id=self.id,
                severity=self.severity,
                stage=self.stage,
                message=found.message,
                help=found.help,
                object=subject,
                field=found.field,
                place=found.place,
                related=found.related,
            )


def check(
    id: str, *, stage: Phase, title: str, severity: Severity = "error"
) -> Callable[[Callable[P, Iterable[Finding]]], Check[P]]:
    """Make a check of a generator function. Its docstring is a sentence on what it is about; its page is the rest."""

    def wrap(find: Callable[P, Iterable[Finding]]) -> Check[P]:
        return Check(id=id, stage=stage, severity=severity, title=title, find=find)

    return wrap
