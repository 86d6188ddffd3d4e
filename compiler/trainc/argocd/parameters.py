"""The parameters of the plugin: their names, how Argo CD's forms show them, and what an Application says with them.

Reads    parameters as `environment` gives them.
Returns  `Wanted`, with a diagnostic for each that is unknown or cannot be followed; and the announcement, a list that
         Argo CD takes from `trainc cmp parameters` and from plugin.yaml alike. Its forms show the first of two of one
         name, and the dynamic ones come first: so theirs may say more.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.argocd.environment import fault
from trainc.inputs import within
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.argocd.environment import Environment, Given
    from trainc.diagnostics import Diagnostic
    from trainc.kubernetes.violations import FieldValidation

NAMED: Final = 20
"""So many TrainJobs are named in a form."""
SWITCH: Final = {"true": True, "false": False, "": False}
VALIDATION: Final[dict[str, FieldValidation]] = {"strict": "strict", "warn": "warn", "ignore": "ignore"}


class Parameter(NamedTuple):
    """One parameter."""

    name: str
    form: Literal["paths", "text", "switch", "validation"]
    title: str
    tooltip: str


PARAMETERS: Final = (
    Parameter(
        "runtimes",
        "paths",
        "Runtimes",
        "More files and folders with runtimes: relative to the application's folder, inside the repository",
    ),
    Parameter("only", "text", "Only this TrainJob", "Compile only the TrainJobs of this name"),
    Parameter("strict", "switch", "Strict", "Make every warning an error"),
    Parameter(
        "field-validation",
        "validation",
        "Field validation",
        "Unknown fields: strict (errors, the default), warn or ignore (both drop them)",
    ),
    Parameter("suspend", "switch", "Suspend", "Make every JobSet suspended, for Kueue or a person to start"),
    Parameter(
        "name-suffix-hash",
        "switch",
        "Hash in the names",
        "A change of what cannot change in place makes a new JobSet, under a new name",
    ),
    Parameter(
        "argocd-replace",
        "switch",
        "Replace on change",
        "Argo CD deletes and makes anew a JobSet that it cannot change in place",
    ),
)
NAMES: Final = tuple(parameter.name for parameter in PARAMETERS)


class Wanted(NamedTuple):
    """What an Application says."""

    runtimes: tuple[str, ...] = ()
    only: str | None = None
    strict: bool = False
    suspend: bool = False
    name_suffix_hash: bool = False
    argocd_replace: bool = False
    field_validation: FieldValidation | None = None


def wanted(environment: Environment) -> tuple[Wanted, tuple[Diagnostic, ...]]:
    """What the parameters say; with diagnostics, none of it is to be followed."""
    found = list(environment.diagnostics)
    values: dict[str, Any] = {}
    forms = {parameter.name: parameter.form for parameter in PARAMETERS}
    for given in environment.given:
        if given.name not in forms:
            found.append(_unknown(given))
        elif given.name in values:
            found.append(fault(f"{given.place} is given twice", "keep one of the two"))
        else:
            read = {"paths": _paths, "text": _text, "switch": _switch, "validation": _validation}[forms[given.name]]
            values[given.name] = read(given, environment.root, found)
    return Wanted(**{name.replace("-", "_"): value for name, value in values.items()}), tuple(found)


def announcement(jobs: Sequence[str] = ()) -> list[dict[str, Any]]:
    """What Argo CD shows of the parameters in its forms; `jobs` are the TrainJobs that there are."""
    return [_announced(parameter, jobs) for parameter in PARAMETERS]


def _announced(parameter: Parameter, jobs: Sequence[str]) -> dict[str, Any]:
    said: dict[str, Any] = {"name": parameter.name, "title": parameter.title, "tooltip": parameter.tooltip}
    if parameter.form == "paths":
        said |= {"collectionType": "array", "array": []}
    elif parameter.form == "switch":
        said |= {"itemType": "boolean", "string": "false"}
    elif parameter.name == "only" and jobs:
        more = f" and {len(jobs) - NAMED} more" if len(jobs) > NAMED else ""
        said["tooltip"] += f": {', '.join(jobs[:NAMED])}{more}"
    return said


def _unknown(given: Given) -> Diagnostic:
    from trainc.nearest import nearest

    near = nearest(given.name, NAMES)
    return fault(
        f"{given.place} is none of trainc's", f"did you mean {near}?" if near else f"there are {', '.join(NAMES)}"
    )


def _paths(given: Given, root: str, found: list[Diagnostic]) -> tuple[str, ...]:
    if given.is_map:
        found.append(fault(f"{given.place} is a map", "give a list of paths as its array"))
        return ()
    paths = given.items if given.items is not None else (given.text,) if given.text else ()
    return tuple(_inside(paths, given, root, found))


def _inside(paths: Sequence[str], given: Given, root: str, found: list[Diagnostic]) -> Iterator[str]:
    """The paths that stay in the repository by their spelling; links are followed, and refused, when they are read."""
    for path in paths:
        if not path or "\0" in path:
            found.append(fault(f"{given.place} holds an empty path", "leave it out"))
        elif os.path.isabs(path) or not within(os.path.normpath(os.path.join(os.path.realpath("."), path)), root):
            message = f'{given.place}: "{path}" is outside the repository'
            found.append(
                fault(message, "give a path relative to the application's folder; trainc reads the repository alone")
            )
        else:
            yield os.path.normpath(path) if path != "-" else os.path.join(os.curdir, path)


def _text(given: Given, root: str, found: list[Diagnostic]) -> str | None:
    if given.is_map or (given.text is None and given.items):
        found.append(fault(f"{given.place} is no string", "give one name as its string"))
    return given.text or None


def _switch(given: Given, root: str, found: list[Diagnostic]) -> bool:
    text = (given.text or "").lower()
    if given.is_map or (given.text is None and given.items) or text not in SWITCH:
        shown = f' is "{given.text}"' if given.text is not None else " is no string"
        found.append(fault(f"{given.place}{shown}", 'give it "true" or "false"'))
        return False
    return SWITCH[text]


def _validation(given: Given, root: str, found: list[Diagnostic]) -> FieldValidation | None:
    text = _text(given, root, found)
    if text and text not in VALIDATION:
        found.append(fault(f'{given.place} is "{text}"', f"give it {', '.join(VALIDATION)} as its string"))
    return VALIDATION.get(text or "")
