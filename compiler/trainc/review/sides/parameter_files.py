"""The files with which Argo CD overrides the source of an Application: `.argocd-source.yaml`.

Reads    the value of such a file before and after.
Returns  the changed parameters, without secrets. Argo CD merges the file over `spec.source` of each Application with
         its folder, and `.argocd-source-<name>.yaml` over that of the Application with the name. The plugin then gets
         other parameters: with another `environment`, it compiles another environment.
Source   Argo CD 3.2, "Parameter Overrides", section "Store Overrides In Git".
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from trainc.masking.masked_values import CHANGED, MASK, masked
from trainc.provenance.tracing.correspondence import GONE

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME: Final = re.compile(r"\.argocd-source(-.+)?\.yaml")


class ChangedParameter(NamedTuple):
    """A parameter, a variable or another field of a source that differs, without secrets."""

    status: Literal["added", "removed", "changed"]
    field: str
    """Its name: `parameter environment`, `variable TOKEN`, `kustomize`."""
    old: Any = GONE
    new: Any = GONE


def is_parameter_file(path: str) -> bool:
    """Return whether Argo CD reads parameters from a file, by its name.

    >>> [is_parameter_file(name) for name in ("jobs/.argocd-source.yaml", ".argocd-source-prod.yaml", "source.yaml")]
    [True, True, False]
    """
    return _NAME.fullmatch(os.path.basename(path)) is not None


def changed_parameters(old: Any, new: Any) -> tuple[ChangedParameter, ...]:
    """Return the changed parameters, variables and other fields, by name; None is a side without the file.

    >>> before = {"plugin": {"parameters": [{"name": "environment", "string": "prod"}]}}
    >>> after = {"plugin": {"parameters": [{"name": "environment", "string": "dev"}]}}
    >>> [(change.field, change.old, change.new) for change in changed_parameters(before, after)]
    [('parameter environment', 'prod', 'dev')]
    """
    before, after = dict(_values(old)), dict(_values(new))
    return tuple(
        _change(field, before.get(field, GONE), after.get(field, GONE))
        for field in dict.fromkeys((*after, *before))
        if repr(before.get(field, GONE)) != repr(after.get(field, GONE))
    )


def _change(field: str, old: Any, new: Any) -> ChangedParameter:
    one, other = _masked(field, old), _masked(field, new)
    if one == other and isinstance(other, str):
        other = other.replace(MASK, CHANGED)
    if old is GONE:
        return ChangedParameter("added", field, new=other)
    if new is GONE:
        return ChangedParameter("removed", field, one)
    return ChangedParameter("changed", field, one, other)


def _masked(field: str, value: Any) -> Any:
    name = field.rpartition(" ")[2]
    return value if value is GONE else masked({name: value})[name]


def _values(tree: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields that override those of a source; the parameters and variables of a plugin one by one."""
    for key, value in tree.items() if isinstance(tree, dict) else ():
        if key != "plugin" or not isinstance(value, dict):
            yield str(key), value
            continue
        for name, part in value.items():
            word = {"parameters": "parameter", "env": "variable"}.get(name)
            if word is None or not isinstance(part, list):
                yield f"plugin.{name}", part
                continue
            for each in part:
                yield _item(word, each)


def _item(word: str, item: Any) -> tuple[str, Any]:
    """Return the name and the value of a parameter or variable."""
    if not isinstance(item, dict):
        return word, item
    values = {key: value for key, value in item.items() if key != "name"}
    return f"{word} {item.get('name')}", next(iter(values.values())) if len(values) == 1 else values
