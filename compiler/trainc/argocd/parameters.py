"""The plugin's parameters: their names, their form in Argo CD's user interface, and an Application's values.

Reads    parameters from `environment`.
Returns  `Options`, with a diagnostic for each unknown or invalid parameter; and the announcement, a list that Argo CD
         reads from `trainc cmp parameters` and from plugin.yaml. Of two parameters with the same name its user
         interface shows the first, and those of the command come first, so they can add the names of TrainJobs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.argocd.plugin_environment import fault
from trainc.base.records import NamedTuple
from trainc.base.releases import RELEASES, release_fault
from trainc.compilation import Options
from trainc.files.confine import is_hidden, is_within
from trainc.pipeline.delivery import Delivery
from trainc.pipeline.library import OptionNames

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.argocd.plugin_environment import Given, PluginEnvironment
    from trainc.diagnostics import Diagnostic
    from trainc.kubernetes.violations import FieldValidation

NAMED: Final = 20
"""The most TrainJobs or environments that a tooltip names."""
SWITCH: Final = {"true": True, "false": False, "": False}
VALIDATION: Final[dict[str, FieldValidation]] = {"strict": "strict", "warn": "warn", "ignore": "ignore"}


class Parameter(NamedTuple):
    """One parameter."""

    name: str
    form: Literal["paths", "text", "gang", "switch", "validation", "release"]
    title: str
    tooltip: str


PARAMETERS: Final = (
    Parameter(
        "runtimes",
        "paths",
        "Runtimes",
        "Additional files and folders with runtimes, relative to the application's folder and inside the repository",
    ),
    Parameter("only", "text", "Only this TrainJob", "Compile only the TrainJobs with this name"),
    Parameter("strict", "switch", "Strict", "Treat warnings as errors"),
    Parameter(
        "field-validation",
        "validation",
        "Field validation",
        "Unknown fields: strict (errors, the default), warn or ignore (both drop them)",
    ),
    Parameter(
        "trainer-version",
        "release",
        "Trainer version",
        f"The release of Trainer in the cluster: {', '.join(release.described for release in RELEASES)}",
    ),
    Parameter("legacy", "switch", "Legacy", "Also compile jobs of the legacy kinds, such as PyTorchJob"),
    Parameter(
        "gang", "gang", "Gang", "The gang scheduler of legacy jobs: volcano, coscheduling, or a scheduler's name"
    ),
    Parameter("suspend", "switch", "Suspend", "Create JobSets without a Kueue queue suspended; a user resumes them"),
    Parameter(
        "name-suffix-hash",
        "switch",
        "Name suffix hash",
        "A change to an immutable field creates a new JobSet with a new name",
    ),
    Parameter(
        "argocd-replace",
        "switch",
        "Replace on change",
        "Argo CD deletes and recreates a JobSet when an immutable field changes",
    ),
    Parameter("environment", "text", "Environment", "The environment in trainc.yaml; required if there is one"),
)
NAMES: Final = tuple(parameter.name for parameter in PARAMETERS)


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


def read_options(environment: PluginEnvironment) -> tuple[Options, tuple[Diagnostic, ...]]:
    """Return the parameters as options, and diagnostics; with diagnostics, the options must not be used."""
    found = list(environment.diagnostics)
    values: dict[str, Any] = {}
    forms = {parameter.name: parameter.form for parameter in PARAMETERS}
    for given in environment.given:
        if given.name not in forms:
            found.append(_unknown_parameter(given))
        elif given.name in values:
            found.append(fault(f"{given.place} is set twice", "remove one of them"))
        else:
            values[given.name] = _READERS[forms[given.name]](given, environment.root, found)
    return _options(values), tuple(found)


def _options(values: dict[str, Any]) -> Options:
    """Return the values of parameters, by name, as options."""
    environment = values.get("environment")
    return Options(
        runtimes=values.get("runtimes", ()),
        only=values.get("only"),
        environments=() if environment is None else (environment,),
        strict=values.get("strict", False),
        field_validation=values.get("field-validation"),
        trainer_version=values.get("trainer-version"),
        legacy=values.get("legacy", False),
        gang=values.get("gang"),
        delivery=Delivery(
            name_suffix_hash=values.get("name-suffix-hash", False),
            argocd_replace=values.get("argocd-replace", False),
            suspend=values.get("suspend", False),
        ),
        others="skip",
        copies=True,
        option_names=OPTION_NAMES,
    )


def announcement(jobs: Sequence[str] = (), environments: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the parameters as Argo CD's user interface shows them, with the names of TrainJobs and environments."""
    names = {"only": jobs, "environment": environments}
    return [_announced(parameter, names.get(parameter.name, ())) for parameter in PARAMETERS]


def _announced(parameter: Parameter, names: Sequence[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": parameter.name, "title": parameter.title, "tooltip": parameter.tooltip}
    if parameter.form == "paths":
        entry |= {"collectionType": "array", "array": []}
    elif parameter.form == "switch":
        entry |= {"itemType": "boolean", "string": "false"}
    elif names:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        entry["tooltip"] += f": {', '.join(names[:NAMED])}{more}"
    return entry


def _unknown_parameter(given: Given) -> Diagnostic:
    from trainc.base.suggestions import nearest_name

    near = nearest_name(given.name, NAMES)
    return fault(f"{given.place} is unknown", f"did you mean {near}?" if near else f"use one of {', '.join(NAMES)}")


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


def _gang(given: Given, root: str, diagnostics: list[Diagnostic]) -> str | None:
    from trainc.frontends.gangs import name_fault

    text = _text(given, root, diagnostics)
    if text is not None and (wrong := name_fault(text)):
        diagnostics.append(fault(f"{given.place}: {wrong[0]}", wrong[1]))
    return text


def _release(given: Given, root: str, diagnostics: list[Diagnostic]) -> str | None:
    text = _text(given, root, diagnostics)
    if text is not None and (wrong := release_fault(text)):
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
    "gang": _gang,
    "switch": _switch,
    "validation": _validation,
    "release": _release,
}
"""The function that reads a parameter of each form."""
