"""The variables that Argo CD sets for a plugin, read exactly.

Reads    the process's environment and working directory.
Returns  the root of the repository, the destination's namespace, the cluster's version, and each parameter with the
         place that it comes from. The JSON of ARGOCD_APP_PARAMETERS comes first; the names of PARAM_* may stand for
         several parameters, so they are read only where there is no JSON at all. ARGOCD_ENV_TRAINC_* (names that begin
         with TRAINC_ in `spec.source.plugin.env`) fill in what is not among the parameters.
Source: Argo CD 3.2.1, the environment of its plugin server, as observed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ARGOCD_PARAMETER: Final = Declaration(
    "argocd-parameter", ("read",), "A parameter of an Argo CD Application cannot be followed", own=True
)

PARAMETERS: Final = "ARGOCD_APP_PARAMETERS"
SOURCE_PATH: Final = "ARGOCD_APP_SOURCE_PATH"
VARIABLE: Final = "PARAM_"
PLUGIN_ENV: Final = "ARGOCD_ENV_TRAINC_"
CHECKED: Final = (1, 36)
"""The minor version of Kubernetes whose rules trainc checks."""


class Given(NamedTuple):
    """A parameter as somebody has given it; one may have several of its values."""

    name: str
    place: str
    """Where it stands, in words."""
    text: str | None = None
    items: tuple[str, ...] | None = None
    is_map: bool = False


class Environment(NamedTuple):
    """What Argo CD tells a plugin."""

    root: str
    """The folder that nothing is read outside of, with all links resolved."""
    namespace: str | None
    """The destination's; None where the Application has none, or Argo CD does not say."""
    kubernetes: str
    """The cluster's version, as `1.36`; empty where Argo CD does not say."""
    named: bool
    """Whether the Application has a `plugin` section; without one, Argo CD looks for whoever can serve it."""
    given: tuple[Given, ...]
    diagnostics: tuple[Diagnostic, ...]
    """What is wrong with the parameters' form."""


def read(variables: Mapping[str, str], names: Iterable[str]) -> Environment:
    """The environment of a plugin that has parameters of these names."""
    given, found = _parameters(variables, tuple(names))
    return Environment(
        root=root(variables),
        namespace=variables.get("ARGOCD_APP_NAMESPACE") or None,
        kubernetes=variables.get("KUBE_VERSION", ""),
        named=PARAMETERS in variables,
        given=given,
        diagnostics=found,
    )


def root(variables: Mapping[str, str]) -> str:
    """The working directory less the application's path where that is its suffix, else the working directory."""
    folder = os.path.realpath(os.getcwd())
    path = os.path.normpath(variables.get(SOURCE_PATH) or ".")
    if path == os.curdir or os.path.isabs(path) or path.split(os.sep)[0] == os.pardir:
        return folder
    above = folder.removesuffix(os.sep + path)
    return above or folder


def variable_of(name: str) -> str:
    """A parameter's name as Argo CD spells it in a variable.

    >>> variable_of("name-suffix-hash")
    'NAME_SUFFIX_HASH'
    """
    return "".join(character if character.isascii() and character.isalnum() else "_" for character in name.upper())


def is_older(version: str) -> bool:
    """Whether a cluster is older than the rules that are checked; a version that nobody understands is not.

    >>> is_older("1.35"), is_older("1.36.2"), is_older("")
    (True, False, False)
    """
    major, _, rest = version.removeprefix("v").partition(".")
    minor = rest.partition(".")[0]
    return major.isdecimal() and minor.isdecimal() and (int(major), int(minor)) < CHECKED


def fault(message: str, help: str) -> Diagnostic:
    """A parameter that cannot be followed. It stands in the Application, which is no file that was read."""
    return Diagnostic.of(ARGOCD_PARAMETER, message, help)


def _parameters(
    variables: Mapping[str, str], names: tuple[str, ...]
) -> tuple[tuple[Given, ...], tuple[Diagnostic, ...]]:
    found: list[Diagnostic] = []
    if PARAMETERS in variables:
        given = list(_of_json(variables[PARAMETERS], found))
    else:
        given = list(_of_variables(variables, names))
    known = {parameter.name for parameter in given}
    given += [parameter for parameter in _of_plugin_env(variables, names) if parameter.name not in known]
    return tuple(given), tuple(found)


def _of_json(text: str, found: list[Diagnostic]) -> Iterator[Given]:
    """The parameters of the JSON list; no parameters are the word `null`."""
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        found.append(
            fault(f"{PARAMETERS} is no JSON", "leave it to Argo CD: it makes it of spec.source.plugin.parameters")
        )
        return
    if value is not None and not isinstance(value, list):
        found.append(
            fault(f"{PARAMETERS} is no list of parameters", 'it is as [{"name": "only", "string": "finetune"}]')
        )
        return
    for item in value or ():
        parameter = _of_item(item)
        if parameter is None:
            wrong = "a parameter has no name, or a value that is no string"
            found.append(fault(wrong, "a parameter has a name, and string or array, of strings"))
        else:
            yield parameter


def _of_item(item: Any) -> Given | None:
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


def _of_variables(variables: Mapping[str, str], names: tuple[str, ...]) -> Iterator[Given]:
    """What PARAM_* say of the parameters of these names; a list's items are numbered."""
    for name in names:
        variable = VARIABLE + variable_of(name)
        items: list[str] = []
        while (item := variables.get(f"{variable}_{len(items)}")) is not None:
            items.append(item)
        text = variables.get(variable)
        if text is not None or items:
            yield Given(name=name, place=variable, text=text, items=tuple(items) or None)


def _of_plugin_env(variables: Mapping[str, str], names: tuple[str, ...]) -> Iterator[Given]:
    """What ARGOCD_ENV_TRAINC_* say; a list is one text with `:` between its items, as PATH is."""
    by_variable = {variable_of(name): name for name in names}
    for variable in sorted(variables):
        if not variable.startswith(PLUGIN_ENV):
            continue
        key = variable.removeprefix(PLUGIN_ENV)
        name = by_variable.get(key, key.lower().replace("_", "-"))
        place = f"TRAINC_{key} in spec.source.plugin.env"
        items = tuple(filter(None, variables[variable].split(os.pathsep)))
        yield Given(name=name, place=place, text=variables[variable], items=items)
