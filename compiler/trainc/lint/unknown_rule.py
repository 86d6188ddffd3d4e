"""An annotation that turns off a rule that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.lint.signs import IDS, IGNORE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan


def find(_: Plan) -> Iterator[Regret]:
    """None: `passes.lint` finds them as it reads the annotations."""
    yield from ()


@check(
    "unknown-rule", stage="lint", severity="warning", title="An annotation turns off a rule that is not there", own=True
)
def unknown_rule(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """What was to be silenced is said all the same."""
    from trainc.nearest import nearest

    (name,) = regret.what
    near = nearest(name, sorted(IDS))
    holder = plan.runtime if regret.shared else plan.job
    yield Finding(
        message=f'{IGNORE} names "{name}", and no rule is called that',
        help=f"did you mean {near}?" if near else f"there are {', '.join(sorted(IDS))}",
        field=f"metadata.annotations[{IGNORE}]",
        place=holder.at("metadata", "annotations", IGNORE),
    )


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (unknown_rule,)
