"""`trainc.compile`: the compiler as the users of the Python package call it.

Reads    paths or a text, and the trainc.yaml that the command line would read.
Returns  a `Compilation`. Errors in the input are diagnostics; a wrong argument is a TypeError or ValueError.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trainc.base.releases import release_fault
from trainc.compilation import NO_OPTIONS, compile_paths, environment_runs
from trainc.compilation.projects import projects_of
from trainc.compilation.results import Compilation, Options
from trainc.compilation.shared_objects import shared_objects, written_objects
from trainc.diagnostics import Diagnostic
from trainc.files import inputs
from trainc.settings import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.files.selection import Selection
    from trainc.frontends.reading import Reader

    StrPath = str | os.PathLike[str]

TEXT: Final = "<text>"
"""The file name of the argument `text` in diagnostics."""
FIX: Final = environment_runs.SelectHelp("use {}", 'environment="{}"')


def compile(
    paths: StrPath | Iterable[StrPath] | None = None,
    *,
    text: str | None = None,
    environment: str | None = None,
    legacy: bool = False,
    trainer_version: str | None = None,
    options: Options = NO_OPTIONS,
) -> Compilation:
    """Compile TrainJobs, as `trainc build` does.

    Args:
        paths: a file, a folder (read recursively) or `-` for standard input, or several of them; by default the project
            of the current folder.
        text: manifests to compile instead of files; trainc reads the trainc.yaml of the current folder.
        environment: an environment of trainc.yaml; required if there are several.
        legacy: whether to compile also the jobs of legacy kinds, such as PyTorchJobs.
        trainer_version: the release of Trainer in the cluster, such as "2.2", instead of trainc.yaml's.
        options: the other options of the command line, or settings that replace trainc.yaml.

    Returns:
        The objects, and the diagnostics of all stages. Errors in the input are diagnostics, never exceptions.

    Raises:
        TypeError, ValueError: an argument has the wrong type or value; the message names it.
    """
    if paths is not None and text is not None:
        raise ValueError("paths and text cannot be combined")
    if text is not None and not isinstance(text, str):
        raise TypeError(f"text must be a str, not {_kind(text)}")
    given = _checked_paths(paths) if text is None else (TEXT,)
    if trainer_version is not None:
        options = options._replace(trainer_version=trainer_version)
    options = _checked_options(options)._replace(legacy=legacy or options.legacy)
    if environment is not None and not isinstance(environment, str):
        raise TypeError(f"environment must be a str, not {_kind(environment)}")
    if environment is not None and options.environments:
        raise ValueError("environment and options.environments cannot be combined")
    if environment is not None:
        options = options._replace(environments=(environment,))
    if options.settings != DEFAULT:
        projects: tuple[Options, ...] = (options.with_settings(options.settings)._replace(paths=given),)
    elif text is not None:
        projects = (options.with_project(())._replace(paths=given),)
    else:
        projects = projects_of(options, given)
    chosen = [_in_environment(each) for each in projects]
    compiled = partial(_compiled, files_of=None if text is None else _reader(text))
    if len(chosen) == 1:
        return compiled(chosen[0])
    runs = environment_runs.runs([(each,) for each in chosen], compiled)
    return environment_runs.merge_runs(runs).with_diagnostics(
        shared_objects(each for run in runs for each in written_objects(run))
    )


def _compiled(options: Options, *, files_of: Reader | None) -> Compilation:
    return compile_paths(options.inputs, options, files_of)


def _checked_paths(paths: StrPath | Iterable[StrPath] | None, name: str = "paths") -> tuple[str, ...]:
    """Return paths as strings; none for the default."""
    if paths is None:
        return ()
    if isinstance(paths, str | os.PathLike):
        paths = (paths,)
    expected = f"{name} must be a path (str or os.PathLike) or a list of paths"
    try:
        found = [os.fspath(path) for path in paths]
    except TypeError:
        raise TypeError(f"{expected}, not {_kind(paths)}") from None
    for path in found:
        if not isinstance(path, str):
            raise TypeError(f"{expected}, not {_kind(path)}")
        if not path or "\0" in path:
            raise ValueError(f"{name} has an invalid path: {path!r}")
    if not found:
        raise ValueError(f"{name} is empty: use at least one path")
    return tuple(found)


def _checked_options(options: Options) -> Options:
    """Return the options with their paths as strings."""
    if not isinstance(options, Options):
        raise TypeError(f"options must be a trainc.Options, not {_kind(options)}")
    if options.config is not None and options.no_config:
        raise ValueError("options: config and no_config cannot be combined")
    version = options.trainer_version
    if version is not None and not isinstance(version, str):
        raise TypeError(f"trainer_version must be a str, not {_kind(version)}")
    if version is not None and (fault := release_fault(version)):
        raise ValueError(f"trainer_version: {fault[0]}; {fault[1]}")
    return options._replace(
        runtimes=_checked_paths(options.runtimes, "runtimes") if options.runtimes else (),
        config=None if options.config is None else _checked_paths(options.config, "config")[0],
    )


def _kind(value: Any) -> str:
    return type(value).__name__


def _in_environment(options: Options) -> Options:
    """Return the options with the settings of an environment. Raise ValueError if it is missing or unknown."""
    settings = options.settings
    if not options.environments and (settings.environment_name or not settings.environment_names):
        return options
    selected = environment_runs.select_environment(options, FIX)
    if isinstance(selected, Diagnostic):
        raise ValueError(f"environment: {selected.message}; {selected.help}")
    return selected


def _reader(text: str) -> Reader:
    """Return a reader that has a text as the file TEXT, and reads all other paths from the disk."""

    def read(
        paths: Iterable[str], selection: Selection = inputs.ALL, **options: Any
    ) -> Iterator[inputs.File | Diagnostic]:
        paths = list(paths)
        if TEXT in paths:
            yield inputs.File(TEXT, text.encode("utf-8", "surrogatepass"))
        yield from inputs.read([path for path in paths if path != TEXT], selection, **options)

    return read
