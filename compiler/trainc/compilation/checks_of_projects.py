"""The check of some projects, as `trainc validate` reports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.compilation import compile_paths, wrong_namespace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.compilation import Compilation, Run
    from trainc.compilation.environment_runs import EnvironmentRun
    from trainc.frontends.reading import Reader


def check(
    projects: Sequence[Run], files_of: Reader | None = None, *, files: Sequence[str] | None = None
) -> tuple[Compilation, tuple[EnvironmentRun, ...]]:
    """Return the result of a check, and the run of each environment if there are several projects or environments.

    Args:
        projects: the run of each project.
        files_of: the function that reads files; None for the disk.
        files: the files to check among the others of the projects; None for all of them.
    """
    first, *others = projects
    if not (others or first.options.environments or first.settings.environment_names):
        return _checked(first, files_of, files), ()
    from trainc.compilation.all_projects import compile_all

    return compile_all(projects, lambda run, streams: _checked(run, files_of or streams, files))


def _checked(run: Run, files_of: Reader | None, files: Sequence[str] | None) -> Compilation:
    if files is None:
        result = compile_paths(run.inputs, run, files_of)
    else:
        from trainc.compilation.subset import compile_subset

        result = compile_subset(files, run.inputs[0], run, files_of)
    result = result.with_diagnostics(wrong_namespace(result, result.copied))
    return result.with_undecided_queues() if run.verbose else result
