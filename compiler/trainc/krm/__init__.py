"""The KRM function for kustomize and kpt: reads a ResourceList and returns it with TrainJobs replaced by their objects.

Reads    the text of a ResourceList (`resourcelist`), its functionConfig (`request`), and the paths in it, below a root.
Returns  the text of the answer, which has the diagnostics in `results`, and the diagnostics for standard error.
Source   KRM Functions Specification v1 (kubernetes-sigs/kustomize); the input that kustomize 5.7 sends, as observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc import projects
from trainc import settings as settings_files
from trainc.budget import CI, Budget, OverBudgetError
from trainc.compilation import NO_TRAINJOB, Compilation, Options, compile_documents, duplicates, elsewhere, metered
from trainc.diagnostics import Diagnostic, failed
from trainc.inputs import File
from trainc.krm import items, results
from trainc.krm.annotations import without
from trainc.krm.request import of as request_of
from trainc.krm.resourcelist import EMPTY, ResourceList
from trainc.krm.resourcelist import read as read_list
from trainc.library import OptionNames
from trainc.reading import Reading
from trainc.records import NamedTuple
from trainc.settings import DEFAULT

if TYPE_CHECKING:
    from trainc.krm.request import Request
    from trainc.settings import Settings

OPTION_NAMES: Final = OptionNames(
    runtimes="runtimes: [{}] in the functionConfig",
    name_suffix_hash="nameSuffixHash in the functionConfig",
    suspend="suspend in the functionConfig",
    field_validation="fieldValidation: warn in the functionConfig",
)
"""The functionConfig fields that messages name instead of options."""


class Answer(NamedTuple):
    """The result of a function run."""

    text: str
    """The ResourceList for standard output."""
    compilation: Compilation
    """The compilation. Its diagnostics are for a terminal: they name the files that the items came from."""


def run(file: File | Diagnostic, *, root: str, budget: Budget = CI) -> Answer:
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
    settings = _settings(request, root, budget._replace(option="trainc krm --budget {}"))
    if isinstance(settings, Diagnostic):
        return _answer(given, Compilation(diagnostics=(settings,)), given.items)
    if failed(settings.diagnostics):
        return _answer(given, Compilation(diagnostics=settings.diagnostics), given.items)
    read = _read(given, request, settings, root)
    if isinstance(file, File):
        read.meter.charge("input bytes", len(file.data))
    compilation = _compiled(read, request, settings, root)
    compilation = compilation.saying(duplicates(compilation, items.beside(given, compilation)))
    compilation = compilation.saying(elsewhere(items.passed_through(given, compilation), settings))
    if not compilation.failed and (no_trainjob := _no_trainjob(given, request, compilation)):
        compilation = compilation.saying([no_trainjob])
    try:
        answer = given.items if compilation.failed else items.replaced(given, read, compilation)
        compilation.manifests()
    except OverBudgetError as error:
        compilation, answer = compilation.saying([error.diagnostic]), given.items
    return _answer(given, compilation, answer)


def _read(given: ResourceList, request: Request, settings: Settings, root: str) -> Reading:
    """Return the items, without the internal annotations of kustomize and kpt, and the documents of the paths."""
    read = Reading(namespace=request.namespace, others="require", meter=metered(settings))
    for item in given.documents:
        read.take(item._replace(value=without(item.value)))
    read.gather(request.paths, root=root, exclude=settings.exclude)
    return read


def _compiled(read: Reading, request: Request, settings: Settings, root: str) -> Compilation:
    options = Options(
        runtimes=request.runtimes,
        only=request.only,
        namespace=request.namespace,
        settings=settings,
        delivery=settings.delivery.with_more(request.delivery),
        root=root,
        others="require",
        complete=False,
    )
    return compile_documents(read, options)


def _settings(request: Request, root: str, limits: Budget) -> Settings | Diagnostic:
    found = settings_files.read(request.settings, root=root, limits=limits) if request.settings else DEFAULT
    chosen = projects.one(
        found, request.environment, projects.Fix("set environment in the functionConfig to {}"), always=True
    )
    if isinstance(chosen, Diagnostic):
        return chosen
    return chosen._replace(
        budget=limits,
        strict="strict in the functionConfig" if request.strict else chosen.strict,
        field_validation=request.field_validation or chosen.field_validation,
        option_names=OPTION_NAMES._replace(environment=chosen.option_names.environment),
    )


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
    return Diagnostic.of(NO_TRAINJOB, message, help)


def _answer(given: ResourceList, compilation: Compilation, answer: list[object]) -> Answer:
    reported = results.reported(compilation.diagnostics, given)
    text = given.written(answer, [result.entry for result in reported])
    return Answer(text, compilation._replace(diagnostics=tuple(result.shown for result in reported)))
