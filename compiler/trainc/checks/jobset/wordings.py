"""The words for what JobSet's webhook refuses: values and names in a sentence, and names that JobSet makes.

Reads    values; the names of which JobSet makes another.
Returns  half sentences; the violation of a name that would be too long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.declarations import Declaration
from trainc.kubernetes.names import LONGEST_LABEL
from trainc.kubernetes.violations import Violation
from trainc.plural import plural

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path

GENERATED_NAME_TOO_LONG: Final = Declaration(
    "generated-name-too-long", ("jobset",), "A name that JobSet makes would be too long"
)


def too_long(
    owner: str, subject: str, made: str, field: str, *, part: tuple[str, Path, str], twice: bool = False
) -> Violation:
    """A name made of the TrainJob's (maybe twice) and another (what it is, where, its text) that does not fit.

    To change the TrainJob's is easiest, so long as some of it is left.
    """
    what, there, text = part
    mine: Path = ("metadata", "name")
    over = len(made) - LONGEST_LABEL
    enough = -(-over // 2) if twice else over
    path, related = mine, (what, there)
    if enough < len(owner):
        way_out = f"shorten the TrainJob's name by {plural(enough, 'character')}"
    elif over < len(text):
        path, related = there, ("the name of the TrainJob", mine)
        way_out = f"shorten {what} by {plural(over, 'character')}"
    else:
        way_out = f"shorten the TrainJob's name and {what}"
    return Violation.at(
        path,
        GENERATED_NAME_TOO_LONG,
        f"{subject} {made}: {plural(len(made), 'character')}, and {LONGEST_LABEL} fit",
        way_out,
        field=field,
        related=(related,),
    )


def shown(value: Any) -> str:
    """A value on one short line."""
    from trainc.kubernetes.structural import remedies

    return remedies.shown(value)


def shortened(name: str) -> str:
    """A name in a sentence, however long."""
    from trainc.kubernetes.structural import remedies

    return remedies.shortened(name)
