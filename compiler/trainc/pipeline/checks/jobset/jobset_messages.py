"""A name that JobSet generates and that is too long.

Reads    the names that JobSet combines into another name.
Returns  the violation, with the hint to shorten the one that is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.texts import plural
from trainc.kubernetes.names import LONGEST_LABEL
from trainc.kubernetes.violations import Violation

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path

GENERATED_NAME_TOO_LONG: Final = Declaration("generated-name-too-long", ("jobset",))


def too_long(
    owner: str, subject: str, made: str, field: str, *, part: tuple[str, Path, str], twice: bool = False
) -> Violation:
    """Return the violation for a name that JobSet makes from the TrainJob name and another name.

    The hint is to shorten the name of the TrainJob if that is enough, else the other name, else both.

    owner    the TrainJob name
    subject  the start of the message, up to the generated name
    part     the other name: its description, path and text
    twice    whether the TrainJob name occurs twice in the generated name
    """
    description, there, text = part
    mine: Path = ("metadata", "name")
    over = len(made) - LONGEST_LABEL
    enough = -(-over // 2) if twice else over
    path, related = mine, (description, there)
    if enough < len(owner):
        hint = f"shorten metadata.name by {plural(enough, 'character')}"
    elif over < len(text):
        path, related = there, ("metadata.name", mine)
        hint = f"shorten {description} by {plural(over, 'character')}"
    else:
        hint = f"shorten metadata.name and {description}"
    return Violation.at(
        path,
        GENERATED_NAME_TOO_LONG,
        f"{subject} {made}, which has {plural(len(made), 'character')}; the limit is {LONGEST_LABEL}",
        hint,
        field=field,
        related=(related,),
    )
