"""`trainc.compile` and `trainc.check`: the commands `build` and `validate` as functions.

Reads    paths or a text, contents that are not on the disk, and the trainc.yaml that the command line would read.
Returns  a `Result`. Errors in the input are diagnostics; a wrong argument is a TypeError or ValueError.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.api.public_results import Result
from trainc.base.records import NamedTuple
from trainc.base.releases import release_fault
from trainc.budget import BUDGETS
from trainc.compilation import checks_of_projects, compile_paths, environment_runs
from trainc.compilation.all_projects import merged
from trainc.compilation.projects import projects_of
from trainc.compilation.run import COMPILE, VALIDATE, Purpose, Run, start
from trainc.compilation.user_options import NO_OPTIONS, Options
from trainc.diagnostics import Diagnostic
from trainc.files import inputs
from trainc.files.unsaved import laid_over

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trainc.compilation import Compilation
    from trainc.files.selection import Selection
    from trainc.frontends.reading import Reader

    StrPath = str | os.PathLike[str]
    Contents = Mapping[str, bytes] | Mapping[str, str] | Mapping[str, bytes | str] | Mapping[StrPath, bytes | str]

TEXT: Final = "<text>"
"""The file name of the argument `text` in diagnostics."""
FIX: Final = environment_runs.SelectHelp("use {}", 'environment="{}"')


def compile(
    paths: StrPath | Iterable[StrPath] | None = None,
    *,
    text: str | None = None,
    environment: str | None = None,
    contents: Contents | None = None,
    legacy: bool = False,
    trainer_version: str | None = None,
    options: Options = NO_OPTIONS,
) -> Result:
    """Compile TrainJobs, as `trainc build` does.

    Args:
        paths: a file, a folder (read recursively) or `-` for standard input, or several of them; by default the project
            of the current folder.
        text: manifests to compile instead of files; trainc reads the trainc.yaml of the current folder.
        environment: an environment of trainc.yaml; required if there are several.
        contents: the contents of files that are not on the disk, or differ from it, by path.
        legacy: whether to compile also the jobs of legacy kinds, such as PyTorchJobs.
        trainer_version: the release of Trainer in the cluster, such as "2.2", instead of trainc.yaml's.
        options: the other options of the command line, or settings that replace trainc.yaml.

    Returns:
        The objects, and the diagnostics of all stages. Errors in the input are diagnostics, never exceptions.

    Raises:
        TypeError, ValueError: an argument has the wrong type or value; the message names it.
    """
    asked = request_of(
        COMPILE, paths, text, contents, checked_options(options, environment, trainer_version, legacy=legacy)
    )
    chosen = [in_one_environment(each) for each in asked.projects]
    if len(chosen) == 1:
        return Result(_compiled(chosen[0], asked.files_of))
    runs = environment_runs.runs([(each,) for each in chosen], lambda run: _compiled(run, asked.files_of))
    return Result(merged(chosen, runs))


def check(
    paths: StrPath | Iterable[StrPath] | None = None,
    *,
    text: str | None = None,
    environment: str | None = None,
    contents: Contents | None = None,
    legacy: bool = False,
    trainer_version: str | None = None,
    options: Options = NO_OPTIONS,
) -> Result:
    """Check TrainJobs and runtimes, as `trainc validate` does: in all environments, unless one is named.

    The arguments and exceptions are those of `compile`. A diagnostic that several environments have is one, with their
    names in `environments`.
    """
    asked = request_of(
        VALIDATE, paths, text, contents, checked_options(options, environment, trainer_version, legacy=legacy)
    )
    return Result(check_runs(asked.projects, asked.files_of))


class CheckRequest(NamedTuple):
    """What a caller asks for."""

    projects: tuple[Run, ...]
    files_of: Reader | None
    """The function that reads files; None for the disk."""


def request_of(
    purpose: Purpose,
    paths: StrPath | Iterable[StrPath] | None,
    text: str | None,
    contents: Contents | None,
    options: Options,
) -> CheckRequest:
    """Return the run of each project, and the function that reads files.

    Raise TypeError or ValueError for a wrong argument.
    """
    if paths is not None and text is not None:
        raise ValueError("paths and text cannot be combined")
    if text is not None and not isinstance(text, str):
        raise TypeError(f"text must be a str, not {_kind(text)}")
    given, found = checked_contents(contents), _checked_paths(paths)
    run = start(options, purpose)
    files_of: Reader | None = laid_over(given) if given else None
    if text is not None:
        found, files_of = (TEXT,), _reader(text, files_of or inputs.read)
    if options.settings is not None:
        return CheckRequest((run.with_settings(options.settings)._replace(paths=found),), files_of)
    if text is not None:
        return CheckRequest((run.with_project((), given)._replace(paths=found),), files_of)
    return CheckRequest(projects_of(run, found, given), files_of)


def _compiled(run: Run, files_of: Reader | None) -> Compilation:
    return compile_paths(run.inputs, run, files_of)


def check_runs(projects: tuple[Run, ...], files_of: Reader | None, files: tuple[str, ...] | None = None) -> Compilation:
    """Return the result of a check of some projects, or of a subset of their files, as `trainc validate` reports it.

    Raise ValueError for an unknown environment.
    """
    for each in projects if projects[0].options.environments else ():
        if isinstance(fault := environment_runs.selected(each), Diagnostic):
            raise ValueError(f"environment: {fault.message}; {fault.help}")
    return checks_of_projects.check(projects, files_of, files=files)[0]


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


def checked_contents(contents: Contents | None) -> dict[str, bytes]:
    """Return contents as bytes, by path. Raise TypeError or ValueError for wrong ones."""
    if not contents:
        return {}
    found: dict[str, bytes] = {}
    for path, data in contents.items():
        if not isinstance(data, bytes | str):
            raise TypeError(f"contents must have bytes or a str for each path, not {_kind(data)}")
        [name] = _checked_paths(path, "contents")
        found[name] = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return found


def checked_options(
    options: Options, environment: str | None, trainer_version: str | None = None, *, legacy: bool = False
) -> Options:
    """Return the options with other arguments. Raise TypeError or ValueError for a wrong one."""
    if not isinstance(options, Options):
        raise TypeError(f"options must be a trainc.Options, not {_kind(options)}")
    if environment is not None and not isinstance(environment, str):
        raise TypeError(f"environment must be a str, not {_kind(environment)}")
    if environment is not None and options.environments:
        raise ValueError("environment and options.environments cannot be combined")
    if options.config is not None and options.no_config:
        raise ValueError("options: config and no_config cannot be combined")
    version = options.trainer_version if trainer_version is None else trainer_version
    if version is not None and not isinstance(version, str):
        raise TypeError(f"trainer_version must be a str, not {_kind(version)}")
    if version is not None and (fault := release_fault(version)):
        raise ValueError(f"trainer_version: {fault[0]}; {fault[1]}")
    if options.budget not in BUDGETS:
        raise ValueError(f"budget must be one of {', '.join(BUDGETS)}, not {options.budget!r}")
    return options.with_values(
        runtimes=_checked_paths(options.runtimes, "runtimes") if options.runtimes else (),
        config=None if options.config is None else _checked_paths(options.config, "config")[0],
        environments=options.environments if environment is None else (environment,),
        trainer_version=version,
        legacy=legacy or options.legacy,
    )


def _kind(value: Any) -> str:
    return type(value).__name__


def in_one_environment(run: Run) -> Run:
    """Return the run with the settings of an environment. Raise ValueError if it is missing or unknown."""
    settings = run.settings
    if not run.options.environments and (settings.environment_name or not settings.environment_names):
        return run
    selected = environment_runs.select_environment(run, FIX)
    if isinstance(selected, Diagnostic):
        raise ValueError(f"environment: {selected.message}; {selected.help}")
    return selected


def _reader(text: str, files_of: Reader) -> Reader:
    """Return a reader that has a text as the file TEXT, and reads all other paths with another one."""

    def read(
        paths: Iterable[str], selection: Selection = inputs.ALL, **options: Any
    ) -> Iterator[inputs.File | Diagnostic]:
        paths = list(paths)
        if TEXT in paths:
            yield inputs.File(TEXT, text.encode("utf-8", "surrogatepass"))
        yield from files_of([path for path in paths if path != TEXT], selection, **options)

    return read
