"""Checks: rules that the cluster enforces, and lint rules of trainc.

A check is a generator function that yields findings and changes nothing. The decorator adds the data that every report
needs: a stable id, and the admission phase of the cluster that would report the fault.

**A CRD rule (CEL)**. Copy from `pipeline/checks/cel.py`, function `trainjob_name`. Write a function that takes an
object and returns violations, link it to the expression by the expression's digest, and declare its id in the same
module. `tests/contracts/test_schemas.py` fails if a schema has a creation rule that no function implements. Then
follow steps 3 and 4 of a check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, ParamSpec

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Finding, ObjectId
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.base.declarations import Phase, Severity

P = ParamSpec("P")


class Check(NamedTuple, Generic[P]):
    """A rule and its declaration. A call returns the rule's findings as diagnostics about `subject`."""

    declared: Declaration
    find: Callable[P, Iterable[Finding]]

    def __call__(self, subject: ObjectId, *args: P.args, **kwargs: P.kwargs) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each finding."""
        for found in self.find(*args, **kwargs):
            field = found.field
            if field is None:
                field = field_of(found.place.path) if found.place else ""
            yield Diagnostic.declared(
                self.declared,
                found.message,
                found.help,
                object=subject,
                field=field,
                place=found.place,
                related=found.related,
            )


def check(
    id: str,
    *,
    phase: Phase,
    severity: Severity = "error",
    trainc_only: bool = False,
    fix: Literal["", "safe", "unsafe"] = "",
    can_be_disabled: bool = False,
) -> Callable[[Callable[P, Iterable[Finding]]], Check[P]]:
    """Declare an id, and turn the generator function that finds it into a check.

    The function's docstring states the rule in one sentence; the id's page has its title and the details. With
    `can_be_disabled`, settings and annotations can disable it as a lint rule.
    """
    phases: tuple[Phase, ...] = (phase, "lint") if can_be_disabled else (phase,)
    declared = Declaration(id, phases, severity, trainc_only, fix)

    def wrap(find: Callable[P, Iterable[Finding]]) -> Check[P]:
        return Check(declared, find)

    return wrap
