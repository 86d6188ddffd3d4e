"""A function of kustomize and kpt: a ResourceList in, another one out, with objects where TrainJobs were.

Reads    the text of a ResourceList (`resourcelist`), what its functionConfig asks for (`request`), and the paths that
         are named there, below a root.
Returns  the text of the answer, and what there is to say: it stands in the answer (`results`), and is for people, too.
Source   KRM Functions Specification v1 (kubernetes-sigs/kustomize); what kustomize 5.7 sends, as observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc import settings as projects
from trainc.compilation import NO_TRAINJOB, Compilation, Options, compile_documents
from trainc.diagnostics import Diagnostic
from trainc.krm import items, request, results
from trainc.krm.annotations import without
from trainc.krm.resourcelist import EMPTY, ResourceList
from trainc.krm.resourcelist import read as read_list
from trainc.library import OptionNames
from trainc.reading import Reading
from trainc.records import NamedTuple
from trainc.settings import DEFAULT

if TYPE_CHECKING:
    from trainc.inputs import File
    from trainc.krm.request import Request
    from trainc.settings import Settings

OPTION_NAMES: Final = OptionNames(
    runtimes="runtimes: [{}] in the functionConfig",
    name_suffix_hash="nameSuffixHash in the functionConfig",
    field_validation="fieldValidation: warn in the functionConfig",
)
"""How a functionConfig says what else an option says."""


class Answer(NamedTuple):
    """What a function says."""

    text: str
    """The ResourceList for standard output."""
    compilation: Compilation
    """What was made, with diagnostics that a terminal can show: they name the files that the items came from."""


def run(file: File | Diagnostic, *, root: str) -> Answer:
    """Compile the TrainJobs among the items of a ResourceList. With an error, the items stay as they are.

    Args:
        file: what came on standard input.
        root: the folder out of which nothing is read: the paths of the functionConfig are relative to the working
            directory, and no link leads out of it.
    """
    given = read_list(file)
    if isinstance(given, list):
        return _answer(EMPTY, Compilation(diagnostics=tuple(given)), [])
    wanted = request.of(given.config)
    if isinstance(wanted, list):
        return _answer(given, Compilation(diagnostics=tuple(wanted)), given.items)
    read = _read(given, wanted, root)
    compilation = _compiled(read, wanted, root)
    if not compilation.failed and (nothing := _nothing(given, wanted, compilation)):
        compilation = compilation.saying([nothing])
    made = given.items if compilation.failed else items.replaced(given, read, compilation)
    return _answer(given, compilation, made)


def _read(given: ResourceList, wanted: Request, root: str) -> Reading:
    """The items, without what kustomize and kpt note on them for themselves, and the documents of the paths."""
    read = Reading(namespace=wanted.namespace)
    for item in given.documents:
        read.take(item._replace(value=without(item.value)))
    read.gather(wanted.paths, root=root)
    return read


def _compiled(read: Reading, wanted: Request, root: str) -> Compilation:
    options = Options(
        runtimes=wanted.runtimes,
        only=wanted.only,
        namespace=wanted.namespace,
        settings=_settings(wanted, root),
        delivery=wanted.delivery,
        root=root,
    )
    return compile_documents(read, options)


def _settings(wanted: Request, root: str) -> Settings:
    found = projects.read(wanted.settings, root=root) if wanted.settings else DEFAULT
    return found._replace(
        strict="strict in the functionConfig" if wanted.strict else found.strict,
        field_validation=wanted.field_validation or found.field_validation,
        option_names=OPTION_NAMES,
    )


def _nothing(given: ResourceList, wanted: Request, compilation: Compilation) -> Diagnostic | None:
    """A generator that makes nothing would let a GitOps tool remove all; a transformer may have nothing to do."""
    if compilation.jobs:
        return None
    if wanted.paths:
        message, help = "no TrainJob in the paths of the functionConfig", "name the files or folders that hold them"
    elif given.items and all(items.is_config(item, given) for item in given.items):
        message = "no TrainJob: a generator gets no items"
        help = "name the files or folders that hold them in paths, or use trainc as a transformer"
    else:
        return None
    return Diagnostic.of(NO_TRAINJOB, message, help)


def _answer(given: ResourceList, compilation: Compilation, made: list[object]) -> Answer:
    told = results.reported(compilation.diagnostics, given)
    text = given.written(made, [result.entry for result in told])
    return Answer(text, compilation._replace(diagnostics=tuple(result.shown for result in told)))
