"""The environment variables that Argo CD sets for a plugin.

Reads    the process's environment and working directory.
Returns  the repository root, the destination's namespace, the cluster's version, and each parameter with its origin.
         Parameters come from the JSON in ARGOCD_APP_PARAMETERS. One name PARAM_* can represent several parameters, so
         these variables are read only without that JSON. ARGOCD_ENV_TRAINC_* (names that begin with TRAINC_ in
         `spec.source.plugin.env`) set the parameters that are still missing.
Source   Argo CD 3.2.1, the environment of its plugin server, as observed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ARGOCD_PARAMETER: Final = Declaration("argocd-parameter", ("read",), trainc_only=True)

PARAMETERS: Final = "ARGOCD_APP_PARAMETERS"
SOURCE_PATH: Final = "ARGOCD_APP_SOURCE_PATH"
VARIABLE: Final = "PARAM_"
PLUGIN_ENV: Final = "ARGOCD_ENV_TRAINC_"
CHECKED: Final = (1, 36)
"""The minor version of Kubernetes whose rules trainc checks."""


class Given(NamedTuple):
    """A parameter as given, which may have several kinds of values."""

    name: str
    place: str
    """Its origin, for messages."""
    text: str | None = None
    items: tuple[str, ...] | None = None
    is_map: bool = False


class PluginEnvironment(NamedTuple):
    """The variables that Argo CD sets for a plugin, parsed."""

    root: str
    """The folder outside of which nothing is read, with all links resolved."""
    namespace: str | None
    """The destination's namespace; None if the Application or Argo CD sets none."""
    kubernetes: str
    """The cluster's version, such as `1.36`; empty if Argo CD does not set it."""
    named: bool
    """Whether the Application has a `plugin` section; without one, Argo CD queries all plugins."""
    given: tuple[Given, ...]
    diagnostics: tuple[Diagnostic, ...]
    """The faults of the parameters' form."""


def read(variables: Mapping[str, str], names: Iterable[str]) -> PluginEnvironment:
    """Return the environment of a plugin that has parameters with these names."""
    given, found = _parameters(variables, tuple(names))
    return PluginEnvironment(
        root=root(variables),
        namespace=variables.get("ARGOCD_APP_NAMESPACE") or None,
        kubernetes=variables.get("KUBE_VERSION", ""),
        named=PARAMETERS in variables,
        given=given,
        diagnostics=found,
    )


def root(variables: Mapping[str, str]) -> str:
    """Return the working directory, without the application's path if it ends with that."""
    folder = os.path.realpath(os.getcwd())
    path = os.path.normpath(variables.get(SOURCE_PATH) or ".")
    if path == os.curdir or os.path.isabs(path) or path.split(os.sep)[0] == os.pardir:
        return folder
    above = folder.removesuffix(os.sep + path)
    return above or folder


def variable_of(name: str) -> str:
    """Return a parameter's name as Argo CD writes it in a variable.

    >>> variable_of("name-suffix-hash")
    'NAME_SUFFIX_HASH'
    """
    return "".join(character if character.isascii() and character.isalnum() else "_" for character in name.upper())


def is_older(version: str) -> bool:
    """Return whether a cluster is older than the rules that trainc checks; False for an unknown version format.

    >>> is_older("1.35"), is_older("1.36.2"), is_older("")
    (True, False, False)
    """
    major, _, rest = version.removeprefix("v").partition(".")
    minor = rest.partition(".")[0]
    return major.isdecimal() and minor.isdecimal() and (int(major), int(minor)) < CHECKED


def fault(message: str, help: str) -> Diagnostic:
    """Return the diagnostic of an invalid parameter; it has no place, as trainc does not read the Application."""
    return Diagnostic.declared(ARGOCD_PARAMETER, message, help)


def _parameters(
    variables: Mapping[str, str], names: tuple[str, ...]
) -> tuple[tuple[Given, ...], tuple[Diagnostic, ...]]:
    found: list[Diagnostic] = []
    if PARAMETERS in variables:
        given = list(_from_json(variables[PARAMETERS], found))
    else:
        given = list(_from_variables(variables, names))
    known = {parameter.name for parameter in given}
    given += [parameter for parameter in _from_plugin_env(variables, names) if parameter.name not in known]
    return tuple(given), tuple(found)


def _from_json(text: str, diagnostics: list[Diagnostic]) -> Iterator[Given]:
    """Yield the parameters of the JSON list, which is `null` if there are none."""
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        diagnostics.append(
            fault(f"{PARAMETERS} is not valid JSON", "set spec.source.plugin.parameters: Argo CD derives it from them")
        )
        return
    if value is not None and not isinstance(value, list):
        diagnostics.append(
            fault(f"{PARAMETERS} must be a list of parameters", 'use a list: [{"name": "only", "string": "finetune"}]')
        )
        return
    for item in value or ():
        parameter = _from_item(item)
        if parameter is None:
            message = "a parameter has no name, or a value that is not a string"
            diagnostics.append(fault(message, "set name, and string or an array of strings"))
        else:
            yield parameter


def _from_item(item: Any) -> Given | None:
    if not isinstance(item, dict):
        return None
    name, text, items = item.get("name"), item.get("string"), item.get("array")
    if not isinstance(name, str) or not isinstance(text, str | None) or not isinstance(items, list | None):
        return None
    if not all(isinstance(each, str) for each in items or ()):
        return None
    return Given(
        name=name,
        place=f'the parameter "{name}"',
        text=text,
        items=None if items is None else tuple(items),
        is_map=item.get("map") is not None,
    )


def _from_variables(variables: Mapping[str, str], names: tuple[str, ...]) -> Iterator[Given]:
    """Yield the parameters with these names from PARAM_*; the items of a list are numbered."""
    for name in names:
        variable = VARIABLE + variable_of(name)
        items: list[str] = []
        while (item := variables.get(f"{variable}_{len(items)}")) is not None:
            items.append(item)
        text = variables.get(variable)
        if text is not None or items:
            yield Given(name=name, place=variable, text=text, items=tuple(items) or None)


def _from_plugin_env(variables: Mapping[str, str], names: tuple[str, ...]) -> Iterator[Given]:
    """Yield the parameters from ARGOCD_ENV_TRAINC_*; a list is one text with `:` between its items, as in PATH."""
    by_variable = {variable_of(name): name for name in names}
    for variable in sorted(variables):
        if not variable.startswith(PLUGIN_ENV):
            continue
        key = variable.removeprefix(PLUGIN_ENV)
        name = by_variable.get(key, key.lower().replace("_", "-"))
        place = f"TRAINC_{key} in spec.source.plugin.env"
        items = tuple(filter(None, variables[variable].split(os.pathsep)))
        yield Given(name=name, place=place, text=variables[variable], items=items)
