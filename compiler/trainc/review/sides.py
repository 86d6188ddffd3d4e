"""Sides: the objects before and after a change.

Reads    files, folders and revisions of git, as `arguments` names them.
Returns  the objects of each side: one with JobSets is taken as it is rendered, one with TrainJobs is compiled.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from trainc import compilation, inputs, settings
from trainc.compilation import Compilation, Compiled, compile_documents
from trainc.declarations import Declaration
from trainc.delivery import PLAIN, Delivery
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, Related
from trainc.inputs import STDIN
from trainc.reading import Reading
from trainc.review import commit_files
from trainc.settings import DEFAULT, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import FieldValidation
    from trainc.review import revisions

Made = Literal["compiled", "rendered", "nothing"]

DUPLICATE_OBJECT: Final = Declaration(
    "duplicate-object", ("read",), "Rendered manifests hold an object twice", own=True
)
MIXED_SIDE: Final = Declaration("mixed-side", ("read",), "One side of a review holds TrainJobs and JobSets", own=True)
NOTHING_TO_COMPARE: Final = Declaration(
    "nothing-to-compare", ("read",), "Neither side of a review holds anything to compare", own=True
)

MADE: Final = frozenset({"JobSet", "ConfigMap", "PodGroup"})
"""The kinds that trainc makes."""
PASSED: Final = "_passthrough.yaml"
"""The file of an output folder with what trainc has not made."""


class Where(NamedTuple):
    """A side as the user names it."""

    name: str
    """What it is called in a report."""
    paths: tuple[str, ...]
    commit: revisions.Commit | None = None
    """Where the files are read; None for the disk."""

    def is_file(self, path: str) -> bool:
        """Whether one of its paths is a file, or standard input."""
        return path == STDIN or (os.path.isfile(path) if self.commit is None else self.commit.is_file(path))


class DiffOptions(NamedTuple):
    """What the command line says of how TrainJobs are compiled: as for `compilation.compile`."""

    runtimes: tuple[str, ...] = ()
    only: str | None = None
    namespace: str | None = None
    config: str | None = None
    no_config: bool = False
    delivery: Delivery = PLAIN
    passthrough: bool = False
    reporting: Settings | None = None
    """The settings that decide what is reported, instead of each side's own."""
    field_validation: FieldValidation | None = None
    """How unknown fields of the new side are reported; None for what its settings say."""


class Item(NamedTuple):
    """One object of a side."""

    id: ObjectId
    tree: Tree
    document: Document
    """Where it stands; of a compiled one, its TrainJob."""
    job: Compiled | None = None
    """What it was compiled with."""
    position: int = 0
    """Its place among the objects of its TrainJob."""


class Side(NamedTuple):
    """One side, read."""

    where: Where
    made: Made
    items: tuple[Item, ...]
    diagnostics: tuple[Diagnostic, ...]
    settings: Settings = DEFAULT
    """Its own."""

    def file(self, name: str) -> str:
        """A file of this side, without the revision before its name."""
        commit = self.where.commit
        return name if commit is None else name.removeprefix(f"{commit.revision}:")

    @property
    def one_jobset(self) -> bool:
        """Whether it is one file with one JobSet."""
        jobsets = [item for item in self.items if item.id.kind == "JobSet"]
        return len(jobsets) == 1 and len(self.where.paths) == 1 and self.where.is_file(self.where.paths[0])


def read(where: Where, options: DiffOptions) -> Side:
    """Read one side, and compile it where it holds TrainJobs."""
    wanted = _settings(where, options)
    files_of = inputs.read if where.commit is None else partial(commit_files.read, where.commit)
    found = Reading(files_of, namespace=options.namespace)
    found.gather(where.paths, settings=wanted.file if where.commit is None else options.config or "")
    jobsets = [document for document in found.documents["other"] if document.value.get("kind") == "JobSet"]
    jobs = found.documents["job"]
    if jobs and jobsets:
        return Side(where, "nothing", (), (_mixed(jobs[0], jobsets[0]),))
    if jobs:
        return _compiled(where, found, wanted, options)
    items, twice = _rendered(found.documents["other"])
    return Side(where, "rendered" if jobsets else "nothing", items, (*found.diagnostics, *twice), wanted)


def _settings(where: Where, options: DiffOptions) -> Settings:
    """The settings of a side: each its own, as they decide what becomes of an accelerator."""
    if options.no_config:
        return DEFAULT
    if where.commit is None or options.config is not None:
        return settings.of(where.paths, file=options.config)
    file = where.commit.settings(where.paths[0])
    if isinstance(file, Diagnostic):
        return Settings(diagnostics=(file,))
    return DEFAULT if file is None else settings.of_file(file)


def _compiled(where: Where, found: Reading, wanted: Settings, options: DiffOptions) -> Side:
    run = compilation.Options(
        runtimes=options.runtimes,
        only=options.only,
        namespace=options.namespace,
        settings=_as_reported(wanted, options),
        delivery=options.delivery._replace(name_suffix_hash=False),
    )
    result = compile_documents(found, run)
    items = tuple(_items(result, passthrough=options.passthrough))
    return Side(where, "compiled", items, result.diagnostics, wanted)


def _as_reported(wanted: Settings, options: DiffOptions) -> Settings:
    """Return the settings of a side with what others decide: which faults are reported, and as what."""
    if options.reporting is not None:
        reporting = options.reporting
        wanted = wanted._replace(
            disable=reporting.disable, strict=reporting.strict, field_validation=reporting.field_validation
        )
    if options.field_validation is not None:
        wanted = wanted._replace(field_validation=options.field_validation)
    return wanted


def _items(result: Compilation, *, passthrough: bool) -> Iterator[Item]:
    for job in result.jobs:
        for index, tree in enumerate(job.objects):
            yield Item(ObjectId.of(tree), tree, job.plan.job.document, job, index)
    if passthrough:
        yield from _rendered(result.others)[0]


def _rendered(documents: Iterable[Document]) -> tuple[tuple[Item, ...], list[Diagnostic]]:
    """The objects of a rendered side; what is no object is somebody else's."""
    first: dict[ObjectId, Item] = {}
    found = []
    for document in documents:
        id = ObjectId.of(document.value)
        if not (id.apiVersion and id.kind and id.name):
            continue
        if id in first:
            found.append(_twice(id, document, first[id].document))
        else:
            first[id] = Item(id, document.value, document)
    return tuple(first.values()), found


def comparable(old: Side, new: Side, *, passthrough: bool) -> tuple[Side, Side]:
    """The two without what only one of them could hold: who compiles one side has not made the other kinds."""
    if passthrough or old.made == new.made or "compiled" not in {old.made, new.made}:
        return old, new
    return _made_by_trainc(old), _made_by_trainc(new)


def _made_by_trainc(side: Side) -> Side:
    items = tuple(
        item
        for item in side.items
        if item.job is not None or (item.id.kind in MADE and not item.document.file.endswith(PASSED))
    )
    return side._replace(items=items)


def _mixed(job: Document, jobset: Document) -> Diagnostic:
    return Diagnostic.of(
        MIXED_SIDE,
        "one side holds TrainJobs and JobSets",
        "compare sources, or what was rendered of them: give the folder of the one kind",
        object=ObjectId.of(job.value),
        place=Place(document=job, path=("kind",)),
        related=(Related(message="a JobSet", place=Place(document=jobset, path=("kind",))),),
    )


def _twice(id: ObjectId, document: Document, first: Document) -> Diagnostic:
    return Diagnostic.of(
        DUPLICATE_OBJECT,
        f'a second {id.kind} "{id.name}"' + (f' in namespace "{id.namespace}"' if id.namespace else ""),
        "keep one of them: the cluster would hold the one that is applied last",
        object=id,
        field="metadata.name",
        place=Place(document=document, path=("metadata", "name")),
        related=(Related(message="the first one", place=Place(document=first, path=("metadata", "name"))),),
    )


def nothing(old: Side, new: Side) -> Diagnostic:
    """What to say where neither side holds anything."""
    return Diagnostic.of(
        NOTHING_TO_COMPARE,
        f"neither {old.where.name} nor {new.where.name} holds a TrainJob or a JobSet",
        "give the folder that holds them: `trainc diff main jobs/`",
    )
