"""The plugin's parameters: their names, their form in Argo CD's user interface, and an Application's values.

Reads    parameters from `environment`.
Returns  `Options`, with a diagnostic for each unknown or invalid parameter; and the announcement, a list that Argo CD
         reads from `trainc cmp parameters` and from plugin.yaml. Of two parameters with the same name its user
         interface shows the first, and those of the command come first, so they can add the names of TrainJobs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.argocd.plugin_environment import fault
from trainc.base.option_rows import ROWS
from trainc.base.texts import first_of
from trainc.compilation.run import Options, Purpose
from trainc.files.confine import is_hidden, is_within
from trainc.pipeline.library import OptionNames

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.argocd.plugin_environment import Given, PluginEnvironment
    from trainc.base.option_rows import OptionRow
    from trainc.diagnostics import Diagnostic
    from trainc.kubernetes.violations import FieldValidation

NAMED: Final = 20
"""The most TrainJobs or environments that a tooltip names."""
SWITCH: Final = {"true": True, "false": False, "": False}
VALIDATION: Final[dict[str, FieldValidation]] = {"strict": "strict", "warn": "warn", "ignore": "ignore"}


PARAMETERS: Final = {row.parameter_name: row for row in ROWS if row.parameter is not None}
"""The options that are parameters, by the parameter's name."""


OPTION_NAMES: Final = OptionNames(
    runtimes="the parameter runtimes: {}",
    name_suffix_hash="the parameter name-suffix-hash",
    suspend="the parameter suspend",
    legacy="the parameter legacy",
    gang="the parameter gang",
    trainer_version="the parameter trainer-version",
    field_validation="the parameter field-validation: warn",
    strict="the parameter strict",
    exclude="leave one out with `exclude` in trainc.yaml",
)
"""The names of an Application's parameters in diagnostics, instead of the option names."""
PURPOSE: Final = Purpose(copies=True, option_names=OPTION_NAMES)


def read_options(environment: PluginEnvironment) -> tuple[Options, tuple[Diagnostic, ...]]:
    """Return the parameters as options, and diagnostics; with diagnostics, the options must not be used."""
    found = list(environment.diagnostics)
    values: dict[str, Any] = {}
    for given in environment.given:
        row = PARAMETERS.get(given.name)
        if row is None:
            found.append(_unknown_parameter(given))
        elif row.name in values:
            found.append(fault(f"{given.place} is set twice", "remove one of them"))
        else:
            values[row.name] = _READERS[row.form](given, environment.root, found)
    return Options(namespace=environment.namespace, **values), tuple(found)


def announcement(jobs: Sequence[str] = (), environments: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the parameters as Argo CD's user interface shows them, with the names of TrainJobs and environments."""
    names = {"only": jobs, "environment": environments}
    return [_announced(name, row, names.get(name, ())) for name, row in PARAMETERS.items()]


def _announced(name: str, row: OptionRow, names: Sequence[str]) -> dict[str, Any]:
    assert row.parameter is not None
    tooltip = row.parameter.tooltip or row.help.removesuffix(".")
    entry: dict[str, Any] = {"name": name, "title": row.parameter.title, "tooltip": tooltip}
    if row.form == "paths":
        entry |= {"collectionType": "array", "array": []}
    elif row.form == "switch":
        entry |= {"itemType": "boolean", "string": "false"}
    elif names:
        entry["tooltip"] += f": {first_of(names, NAMED)}"
    return entry


def _unknown_parameter(given: Given) -> Diagnostic:
    from trainc.base.suggestions import nearest_name

    near = nearest_name(given.name, PARAMETERS)
    help = f"did you mean {near}?" if near else f"use one of {', '.join(PARAMETERS)}"
    return fault(f"{given.place} is unknown", help)


def _paths(given: Given, root: str, diagnostics: list[Diagnostic]) -> tuple[str, ...]:
    if given.is_map:
        diagnostics.append(fault(f"{given.place} must be an array, not a map", "set array to a list of paths"))
        return ()
    paths = given.items if given.items is not None else (given.text,) if given.text else ()
    return tuple(_paths_in_repository(paths, given, root, diagnostics))


def _paths_in_repository(paths: Sequence[str], given: Given, root: str, diagnostics: list[Diagnostic]) -> Iterator[str]:
    """Yield the paths that are lexically inside the repository; `inputs` rejects links that lead out of it."""
    for path in paths:
        if not path or "\0" in path:
            diagnostics.append(fault(f"{given.place} has an empty path", "remove it"))
        elif os.path.isabs(path) or not is_within(os.path.normpath(os.path.join(os.path.realpath("."), path)), root):
            message = f'{given.place}: "{path}" is outside the repository'
            diagnostics.append(
                fault(message, "use a path relative to the application's folder: trainc reads only the repository")
            )
        elif any(map(is_hidden, os.path.normpath(path).split(os.sep))):
            diagnostics.append(fault(f'{given.place}: "{path}" is hidden', "use a name without a dot at its start"))
        else:
            yield os.path.normpath(path) if path != "-" else os.path.join(os.curdir, path)


def _text(given: Given, root: str, diagnostics: list[Diagnostic]) -> str | None:
    if given.is_map or (given.text is None and given.items):
        diagnostics.append(fault(f"{given.place} must be a string", "set string to one name"))
    return given.text or None


def _names(given: Given, root: str, diagnostics: list[Diagnostic]) -> tuple[str, ...]:
    text = _text(given, root, diagnostics)
    return () if text is None else (text,)


def _gang(given: Given, root: str, diagnostics: list[Diagnostic]) -> str | None:
    from trainc.frontends.gangs import name_fault

    text = _text(given, root, diagnostics)
    if text is not None and (wrong := name_fault(text)):
        diagnostics.append(fault(f"{given.place}: {wrong[0]}", wrong[1]))
    return text


def _release(given: Given, root: str, diagnostics: list[Diagnostic]) -> str | None:
    text = _text(given, root, diagnostics)
    release_fault = PARAMETERS[given.name].release_fault
    if text is not None and release_fault is not None and (wrong := release_fault(text)):
        diagnostics.append(fault(f"{given.place}: {wrong[0]}", wrong[1]))
        return None
    return text


def _switch(given: Given, root: str, diagnostics: list[Diagnostic]) -> bool:
    text = (given.text or "").lower()
    if given.is_map or (given.text is None and given.items) or text not in SWITCH:
        shown = f', not "{given.text}"' if given.text is not None else ""
        diagnostics.append(fault(f'{given.place} must be "true" or "false"{shown}', 'set it to "true" or "false"'))
        return False
    return SWITCH[text]


def _validation(given: Given, root: str, diagnostics: list[Diagnostic]) -> FieldValidation | None:
    text = given.text or ""
    if given.is_map or (given.text is None and given.items) or (text and text not in VALIDATION):
        shown = f', not "{given.text}"' if given.text is not None else ""
        diagnostics.append(fault(f"{given.place} must be strict, warn or ignore{shown}", "set string to one of them"))
    return VALIDATION.get(text)


_READERS: Final = {
    "paths": _paths,
    "text": _text,
    "names": _names,
    "gang": _gang,
    "switch": _switch,
    "validation": _validation,
    "release": _release,
}
"""The function that reads a parameter of each form."""
