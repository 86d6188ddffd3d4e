"""The KRM function for kustomize and kpt: reads a ResourceList and returns it with TrainJobs replaced by their objects.

Reads    the text of a ResourceList (`resourcelist`), its functionConfig (`request`), and the paths in it, below a root.
Returns  the text of the answer, which has the diagnostics in `results`, and the diagnostics for standard error.
Source   KRM Functions Specification v1 (kubernetes-sigs/kustomize); the input that kustomize 5.7 sends, as observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.budget import CI, Budget, OverBudgetError
from trainc.compilation import (
    NO_TRAINJOB,
    Compilation,
    compile_documents,
    duplicates,
    environment_runs,
    fixed_names,
    metered,
    wrong_namespace,
)
from trainc.compilation.projects import project_required, projects_of
from trainc.compilation.run import start
from trainc.diagnostics import Diagnostic, failed
from trainc.files.inputs import File
from trainc.frontends.reading import Reading
from trainc.krm import items
from trainc.krm.request import PURPOSE
from trainc.krm.request import parse as request_of
from trainc.krm.resourcelist import EMPTY, ResourceList, reported, without_internal
from trainc.krm.resourcelist import read as read_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.compilation import Run
    from trainc.krm.request import Request

FIX: Final = environment_runs.SelectHelp("set environment in the functionConfig to {}")


class FunctionResult(NamedTuple):
    """The result of a function run."""

    text: str
    """The ResourceList for standard output."""
    compilation: Compilation
    """The compilation. Its diagnostics are for a terminal: they name the files that the items came from."""


def run(file: File | Diagnostic, *, root: str, budget: Budget = CI) -> FunctionResult:
    """Compile the TrainJobs in the items of a ResourceList. On an error, the items stay unchanged.

    Args:
        file: standard input.
        root: the folder outside of which nothing is read. The functionConfig's paths are relative to the working
            directory, and links must not lead out of it.
        budget: the most work.
    """
    given = read_list(file)
    if isinstance(given, list):
        return _answer(EMPTY, Compilation(diagnostics=tuple(given)), [])
    request = request_of(given.config)
    if isinstance(request, list):
        return _answer(given, Compilation(diagnostics=tuple(request)), given.items)
    limits = budget._replace(option="trainc krm --budget {}")
    run = start(request.options, PURPOSE, root=root, budget=limits)._replace(complete=False).with_project(())
    if request.paths and (foreign := _other_projects(request.paths, run)):
        return _answer(given, Compilation(diagnostics=(foreign,)), given.items)
    selected = environment_runs.select_environment(run, FIX, always=True)
    if isinstance(selected, Diagnostic):
        return _answer(given, Compilation(diagnostics=(selected,)), given.items)
    run = selected
    if failed(run.settings.diagnostics):
        return _answer(given, Compilation(diagnostics=run.settings.diagnostics), given.items)
    read = _read(given, request.paths, run)
    if isinstance(file, File):
        read.meter.charge("input bytes", len(file.data))
    compilation = compile_documents(read, run)
    compilation = compilation.with_diagnostics(
        (*duplicates(compilation, items.items_of_compiled_objects(given, compilation)), *fixed_names(compilation))
    )
    compilation = compilation.with_diagnostics(wrong_namespace(compilation, items.passed_through(given, compilation)))
    if not compilation.failed and (no_trainjob := _no_trainjob(given, request, compilation)):
        compilation = compilation.with_diagnostics([no_trainjob])
    try:
        answer = given.items if compilation.failed else items.replaced(given, read, compilation, run.copied_files)
        compilation.manifests()
    except OverBudgetError as error:
        compilation, answer = compilation.with_diagnostics([error.diagnostic]), given.items
    return _answer(given, compilation, answer)


def _other_projects(paths: Sequence[str], run: Run) -> Diagnostic | None:
    """Return the error for paths with files of another project: a function has the settings of one."""
    runs = projects_of(run, paths)
    own = run.settings
    if all(run.settings.file == own.file for run in runs):
        return None
    return project_required(runs, None)._replace(help="list only paths of the project of the working directory")


def _read(given: ResourceList, paths: Sequence[str], run: Run) -> Reading:
    """Return the items, without the internal annotations of kustomize and kpt, and the documents of the paths."""
    read = Reading(
        kinds=run.settings.kinds,
        namespace=run.options.namespace,
        others=run.purpose.others,
        copied_files=run.copied_files,
        meter=metered(run),
    )
    for item in given.documents:
        read.take(item._replace(value=without_internal(item.value)))
    read.gather(paths, run.selection, root=run.root)
    return read


def _no_trainjob(given: ResourceList, request: Request, compilation: Compilation) -> Diagnostic | None:
    """Return the error for a generator without output, with which a GitOps tool would remove everything.

    A transformer may have nothing to do.
    """
    if compilation.jobs:
        return None
    if request.paths:
        message, help = "no TrainJob in the functionConfig's paths", "list the files or folders that contain TrainJobs"
    elif given.items and all(items.is_config(item, given) for item in given.items):
        message = "no TrainJob: a generator receives no items"
        help = "list the files or folders that contain TrainJobs in paths, or use trainc as a transformer"
    else:
        return None
    return Diagnostic.declared(NO_TRAINJOB, message, help)


def _answer(given: ResourceList, compilation: Compilation, answer: list[object]) -> FunctionResult:
    results = reported(compilation.diagnostics, given)
    text = given.written(answer, [result.entry for result in results])
    return FunctionResult(text, compilation._replace(diagnostics=tuple(result.shown for result in results)))
