"""`trainc.compile` and `trainc.check`: the commands `build` and `validate` as functions; `trainc.Session`.

Reads    paths or a text, contents that are not on the disk, and the trainc.yaml that the command line would read.
Returns  a `Result`. Errors in the input are diagnostics; a wrong argument is a TypeError or ValueError.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.api.checked_arguments import checked, checked_contents, checked_options, checked_paths
from trainc.api.public_results import Result
from trainc.base.records import NamedTuple
from trainc.compilation import all_projects as checks_of_projects
from trainc.compilation import compile_paths, environment_runs
from trainc.compilation.all_projects import merged
from trainc.compilation.projects import project_required, projects_of
from trainc.compilation.run import COMPILE, EDIT, NO_OPTIONS, VALIDATE, Options, Purpose, Run, start
from trainc.diagnostics import Diagnostic
from trainc.files import inputs
from trainc.files.confine import resolved
from trainc.files.selection import SETTINGS
from trainc.files.unsaved import laid_over
from trainc.frontends.reading import ParsedFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.api.checked_arguments import Contents, StrPath
    from trainc.compilation import Compilation, Run
    from trainc.files.selection import Selection
    from trainc.frontends.reading import Reader


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
    if text is not None:
        checked(text, str, "text")
    given, found = checked_contents(contents), checked_paths(paths)
    run = start(options, purpose)
    files_of: Reader | None = laid_over(given) if given else None
    if text is not None:
        found, files_of = (TEXT,), _reader(text, files_of or inputs.read)
    if options.settings is not None:
        return CheckRequest((run.with_settings(options.settings)._replace(paths=found),), files_of)
    if text is not None:
        return CheckRequest((run.with_project((), given)._replace(paths=found),), files_of)
    projects = projects_of(run, found, given)
    if not projects:
        fault = project_required(projects, options.project)
        raise ValueError(f"project: {fault.message}; {fault.help}")
    return CheckRequest(projects, files_of)


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


class Session:
    """A project that is checked again and again. A document is parsed only if its text has changed.

    It keeps the settings until a trainc.yaml is among the contents, or `reload` is called.
    """

    def __init__(
        self,
        paths: StrPath | Iterable[StrPath] | None = None,
        *,
        environment: str | None = None,
        for_editor: bool = False,
        options: Options = NO_OPTIONS,
    ) -> None:
        """Read the settings of the project; the arguments and exceptions are those of `trainc.check`.

        With `for_editor`, a fault that several TrainJobs share is reported at each of them; and the documents of a
        result have the ConfigMaps, Secrets and claims of the files.
        """
        self._purpose = EDIT if for_editor else VALIDATE
        self._paths = paths if paths is None or isinstance(paths, str | os.PathLike) else tuple(paths)
        self._options = checked_options(options, environment)
        self._parsed: list[ParsedFiles] = []
        self._settings: dict[str, bytes] = {}
        """The contents of settings files that are not on the disk, with which the projects were read."""
        self._projects: tuple[Run, ...] = ()
        self.reload()

    def reload(self) -> None:
        """Read the settings and find the projects again: a trainc.yaml was added, changed or removed on the disk."""
        found = request_of(self._purpose, self._paths, None, self._settings, self._options).projects
        self._parsed += [ParsedFiles() for _ in found[len(self._parsed) :]]
        self._projects = tuple(run._replace(parsed=self._parsed[number]) for number, run in enumerate(found))

    def check(self, contents: Contents | None = None) -> Result:
        """Check all files of the project.

        Args:
            contents: the contents of files that are not on the disk, or differ from it, by path.
        """
        return Result(check_runs(*self._with(checked_contents(contents))))

    def check_file(self, path: StrPath, contents: Contents | None = None) -> Result:
        """Check one file among the others of the project: all diagnostics about it.

        For a file with TrainJobs, only these are compiled. A runtime, settings or a patch affects all TrainJobs.

        Args:
            path: the file.
            contents: the contents of files that are not on the disk, or differ from it, by path.
        """
        given, (file,) = checked_contents(contents), checked_paths(path, "path")
        if file not in given and not os.path.lexists(file):
            raise ValueError(f"{file} is neither on the disk nor among the contents")
        return Result(check_runs(*self._with(given), (file,)))

    def _with(self, contents: dict[str, bytes]) -> tuple[tuple[Run, ...], Reader | None]:
        """Return the projects and the reader for some contents."""
        names = {file for run in self._projects for file in run.settings.files}
        settings = {
            path: data
            for path, data in contents.items()
            if os.path.basename(path) == SETTINGS or resolved(path) in names
        }
        if settings != self._settings:
            self._settings = settings
            self.reload()
        return self._projects, laid_over(contents) if contents else None
