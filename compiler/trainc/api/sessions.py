"""A session: a project whose files are checked again and again while an editor changes them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc.api.checked_arguments import checked_contents, checked_options, checked_paths
from trainc.api.compiling import check_runs, request_of
from trainc.api.public_results import Result
from trainc.compilation.run import NO_OPTIONS, VALIDATE, Options
from trainc.files.confine import resolved
from trainc.files.selection import SETTINGS
from trainc.files.unsaved import laid_over
from trainc.frontends.reading import ParsedFiles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.api.checked_arguments import Contents, StrPath
    from trainc.compilation import Run
    from trainc.frontends.reading import Reader


class Session:
    """A project that is checked again and again. Files are parsed only if their content has changed.

    It keeps the settings until a trainc.yaml is among the contents, or `reload` is called.
    """

    def __init__(
        self,
        paths: StrPath | Iterable[StrPath] | None = None,
        *,
        environment: str | None = None,
        options: Options = NO_OPTIONS,
    ) -> None:
        """Read the settings of the project; the arguments and exceptions are those of `trainc.check`."""
        self._paths = paths if paths is None or isinstance(paths, str | os.PathLike) else tuple(paths)
        self._options = checked_options(options, environment)
        self._parsed: list[ParsedFiles] = []
        self._settings: dict[str, bytes] = {}
        """The contents of settings files that are not on the disk, with which the projects were read."""
        self._projects: tuple[Run, ...] = ()
        self.reload()

    def reload(self) -> None:
        """Read the settings and find the projects again: a trainc.yaml was added, changed or removed on the disk."""
        found = request_of(VALIDATE, self._paths, None, self._settings, self._options).projects
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
