"""Arguments of the functions that `trainc` exports: each wrong one is a TypeError or ValueError that names it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from trainc.base.option_rows import ROWS
from trainc.budget import BUDGETS
from trainc.compilation.run import Options
from trainc.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.base.option_rows import Form, OptionRow

    StrPath = str | os.PathLike[str]
    Contents = Mapping[str, bytes] | Mapping[str, str] | Mapping[str, bytes | str] | Mapping[StrPath, bytes | str]

CHOICES: Final[Mapping[Form, Sequence[str]]] = {
    "budget": (*BUDGETS,),
    "validation": ("strict", "warn", "ignore"),
}
"""The values of the options that have few."""


def checked(value: object, type_: type, name: str) -> None:
    """Raise a TypeError for an argument of another type."""
    if not isinstance(value, type_):
        own = type_.__name__ if type_.__module__ == "builtins" else f"trainc.{type_.__name__}"
        own = "mapping" if type_ is Mapping else own
        raise TypeError(f"{name} must be a {own}, not {type(value).__name__}")


def checked_options(
    options: Options, environment: str | None = None, trainer_version: str | None = None, *, legacy: bool = False
) -> Options:
    """Return the options with other arguments. Raise TypeError or ValueError for a wrong one."""
    checked(options, Options, "options")
    if environment is not None:
        checked(environment, str, "environment")
    if environment is not None and options.environments:
        raise ValueError("environment and options.environments cannot be combined")
    if options.config is not None and options.no_config:
        raise ValueError("options: config and no_config cannot be combined")
    if options.project is not None and (options.config is not None or options.no_config):
        raise ValueError("options: project cannot be combined with config or no_config")
    if options.settings is not None:
        checked(options.settings, Settings, "settings")
    if trainer_version is not None:
        options = options.with_values(trainer_version=trainer_version)
    values = {row.name: _checked_value(row, getattr(options, row.name)) for row in ROWS}
    if environment is not None:
        values["environments"] = (environment,)
    return options.with_values(**values | {"legacy": legacy or options.legacy})


def _checked_value(row: OptionRow, value: Any) -> Any:
    """Return the value of an option, with its paths as strings. Raise TypeError or ValueError for a wrong one."""
    name, form = row.name, row.form
    if value == row.default:
        return value
    if form == "paths":
        return checked_paths(value, name)
    if form == "file":
        return checked_paths(value, name)[0]
    if form in {"names", "patterns"}:
        return _checked_strings(value, name, form)
    checked(value, bool if form == "switch" else str, name)
    if form in CHOICES and value not in CHOICES[form]:
        raise ValueError(f"{name} must be one of {', '.join(CHOICES[form])}, not {value!r}")
    if row.release_fault is not None and (fault := row.release_fault(value)):
        raise ValueError(f"{name}: {fault[0]}; {fault[1]}")
    if form == "gang":
        from trainc.frontends.gangs import name_fault

        if fault := name_fault(value):
            raise ValueError(f"{name}: {fault[0]}; {fault[1]}")
    return value


def _checked_strings(value: Any, name: str, form: Form) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{name} must be a tuple of strings, not {value!r}")
    if form == "patterns":
        from trainc.files.exclude import reason

        for each in value:
            if why := reason(each):
                raise ValueError(f'{name}: the pattern "{each}" {why}')
    return tuple(value)


def checked_paths(paths: StrPath | Iterable[StrPath] | None, name: str = "paths") -> tuple[str, ...]:
    """Return paths as strings; none for the default."""
    if paths is None:
        return ()
    if isinstance(paths, str | os.PathLike):
        paths = (paths,)
    expected = f"{name} must be a path (str or os.PathLike) or a list of paths"
    try:
        found = [os.fspath(path) for path in paths]
    except TypeError:
        raise TypeError(f"{expected}, not {type(paths).__name__}") from None
    for path in found:
        if not isinstance(path, str):
            raise TypeError(f"{expected}, not {type(path).__name__}")
        if not path or "\0" in path:
            raise ValueError(f"{name} has an invalid path: {path!r}")
    if not found:
        raise ValueError(f"{name} is empty: use at least one path")
    return tuple(found)


def checked_contents(contents: Contents | None) -> dict[str, bytes]:
    """Return contents as bytes, by path. Raise TypeError or ValueError for wrong ones."""
    if contents is None:
        return {}
    checked(contents, Mapping, "contents")
    found: dict[str, bytes] = {}
    for path, data in contents.items():
        if not isinstance(data, bytes | str):
            raise TypeError(f"contents must have bytes or a str for each path, not {type(data).__name__}")
        [name] = checked_paths(path, "contents")
        found[name] = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return found
