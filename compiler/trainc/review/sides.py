"""Sides: what is compared. The arguments of the command line are two of them, an old one and a new one.

Reads    files, folders and revisions of git.
Returns  the objects of each side: one with JobSets is taken as it is rendered, one with TrainJobs is compiled.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from trainc import compilation, inputs, settings
from trainc.compilation import DUPLICATE_OBJECT, Compilation, Compiled, compile_documents
from trainc.declarations import Declaration
from trainc.delivery import PLAIN, Delivery
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, Related
from trainc.inputs import STDIN
from trainc.outputs import PASSED
from trainc.reading import Reading
from trainc.review import revisions, walks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.kubernetes.trees import Tree
    from trainc.settings import Settings

Made = Literal["compiled", "rendered", "nothing"]

MIXED_SIDE: Final = Declaration("mixed-side", ("read",), "One side of a review holds TrainJobs and JobSets", own=True)
NOTHING_TO_COMPARE: Final = Declaration(
    "nothing-to-compare", ("read",), "Neither side of a review holds anything to compare", own=True
)

MADE: Final = frozenset({"JobSet", "ConfigMap", "PodGroup"})
"""The kinds that trainc makes."""
WORKING_TREE: Final = "the working tree"


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


class Options(NamedTuple):
    """What the command line says of how TrainJobs are compiled: as for `compilation.compile`."""

    runtimes: tuple[str, ...] = ()
    only: str | None = None
    namespace: str | None = None
    config: str | None = None
    no_config: bool = False
    delivery: Delivery = PLAIN
    passthrough: bool = False
    follow_links: bool = False


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

    def file(self, name: str) -> str:
        """A file of this side, without the revision before its name."""
        commit = self.where.commit
        return name if commit is None else name.removeprefix(f"{commit.revision}:")

    @property
    def one_jobset(self) -> bool:
        """Whether it is one file with one JobSet."""
        jobsets = [item for item in self.items if item.id.kind == "JobSet"]
        return len(jobsets) == 1 and len(self.where.paths) == 1 and self.where.is_file(self.where.paths[0])


def of_arguments(arguments: Sequence[str]) -> tuple[Where, Where]:
    """The old and the new side that the arguments mean. Raises RevisionError, or ValueError with what is unclear.

    OLD NEW         two paths, where both are there
    A..B [PATH]...  two revisions; A...B takes for the old one the commit from which they have gone separate ways
    REV [PATH]...   a revision, and the working tree
    OLD NEW         where one is a revision, or the path of one (`main:jobs`)
    """
    first, *rest = arguments
    there = [argument == STDIN or os.path.lexists(argument) for argument in arguments]
    if arguments.count(STDIN) > 1:
        raise ValueError("standard input can be one of the two sides only")
    if len(arguments) == 2 and all(there):
        return Where(first, (first,)), Where(rest[0], (rest[0],))
    if not there[0] and ".." in first and ":" not in first and "../" not in first:
        return _range(first, tuple(rest) or (".",))
    if len(arguments) == 2 and (there[0] or ":" in first or _is_revision(rest[0])):
        return _side(first), _side(rest[0])
    if there[0]:
        raise ValueError(f"there is nothing to compare {first} with: give a second path, or a revision before it")
    if missing := [path for path, found in zip(rest, there[1:], strict=True) if not found and _absent(first, path)]:
        raise ValueError(f"{missing[0]} is no path, neither in {first} nor in the working tree")
    paths = tuple(rest) or (".",)
    return _at(first, paths, revisions.commit(first)), Where(WORKING_TREE, paths)


def _range(text: str, paths: tuple[str, ...]) -> tuple[Where, Where]:
    dots = "..." if "..." in text else ".."
    old, _, new = (end or "HEAD" for end in text.partition(dots))
    base = revisions.common(old, new) if dots == "..." else old
    commit = revisions.commit(base)
    commit.revision = old
    return _at(old, paths, commit), _at(new, paths, revisions.commit(new))


def _at(name: str, paths: tuple[str, ...], commit: revisions.Commit) -> Where:
    """Paths of the working tree at a commit of its repository."""
    if outside := [path for path in paths if commit.inside(path) is None]:
        what = "standard input" if outside[0] == STDIN else outside[0]
        raise ValueError(f"{what} is not in the repository, so it is in no revision")
    return Where(name, paths, commit)


def _side(argument: str) -> Where:
    """A path, a revision, or a path in a revision, which is below the repository unless it begins with `./`."""
    if argument == STDIN or os.path.lexists(argument):
        return Where(argument, (argument,))
    revision, colon, path = argument.partition(":")
    if not revision:
        raise ValueError(f"{argument} is of the index, and no revision: give a commit, as in HEAD{argument}")
    commit = revisions.commit(revision)
    if not colon:
        return Where(argument, (".",), commit)
    here = path.startswith(("./", "../"))
    where = _at(argument, (path if here else os.path.join(commit.top, path),), commit)
    if commit.entry(commit.inside(where.paths[0]) or "") is None:
        raise ValueError(f"{revision} has no path {path}")
    return where


def _is_revision(argument: str) -> bool:
    return not os.path.lexists(argument) and (":" in argument or revisions.known(argument))


def _absent(revision: str, path: str) -> bool:
    """Whether a revision has nothing at a path, either."""
    commit = revisions.commit(revision)
    inside = commit.inside(path)
    return inside is None or commit.entry(inside) is None


def read(where: Where, options: Options) -> Side:
    """Read one side, and compile it where it holds TrainJobs."""
    wanted = _settings(where, options)._replace(follow_links=options.follow_links)
    files_of = inputs.read if where.commit is None else partial(walks.read, where.commit)
    found = Reading(files_of, namespace=options.namespace)
    found.gather(where.paths, settings=wanted.file, follow_links=options.follow_links)
    jobsets = [document for document in found.documents["other"] if document.value.get("kind") == "JobSet"]
    jobs = found.documents["job"]
    if jobs and jobsets:
        return Side(where, "nothing", (), (_mixed(jobs[0], jobsets[0]),))
    if jobs:
        return _compiled(where, found, wanted, options)
    items, twice = _rendered(found.documents["other"])
    return Side(where, "rendered" if jobsets else "nothing", items, (*found.diagnostics, *twice))


def _settings(where: Where, options: Options) -> Settings:
    """The settings of a side: each its own, as they decide what becomes of an accelerator."""
    if options.no_config:
        return settings.DEFAULT
    if where.commit is None or options.config is not None:
        return settings.of(where.paths, file=options.config, follow_links=options.follow_links)
    file = where.commit.settings(where.paths[0])
    return settings.DEFAULT if file is None else settings.of_file(file)


def _compiled(where: Where, found: Reading, wanted: Settings, options: Options) -> Side:
    run = compilation.Options(
        runtimes=options.runtimes,
        only=options.only,
        namespace=options.namespace,
        settings=wanted,
        delivery=options.delivery._replace(name_suffix_hash=False),
    )
    result = compile_documents(found, run)
    items = tuple(_items(result, passthrough=options.passthrough))
    return Side(where, "compiled", items, result.diagnostics)


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
