"""The compiler as a function: paths in, objects and diagnostics out. The command line is a thin layer over it."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeVar

from trainc import inputs
from trainc.declarations import Declaration
from trainc.delivery import PLAIN, Delivery
from trainc.diagnostics import Checked, Diagnostic, Document, ObjectId, Place, Related, failed, strictly
from trainc.emit.order import objects_of_a_job
from trainc.frontends import Role, sort
from trainc.kubernetes.trees import Tree, forget, get, put
from trainc.library import FLAGS, Level, Library, Spelled, Stock
from trainc.objects import TrainJob
from trainc.plan import Plan
from trainc.records import NamedTuple
from trainc.settings import DEFAULT, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.kubernetes.documents import Chunk
    from trainc.moulds import Blank, Manifest, Moulds
    from trainc.tracing import Trace

    Reader = Callable[..., Iterable[inputs.File | Diagnostic]]
    """What finds the files of some paths: `inputs.read` on the disk, a commit of git in its objects."""

T = TypeVar("T")

YAML: Final = Declaration("yaml", ("read",), "The text is not the YAML that Kubernetes reads")
DUPLICATE_TRAINJOB: Final = Declaration("duplicate-trainjob", ("read",), "Two TrainJobs have the same name", own=True)
ONLY_NOT_FOUND: Final = Declaration(
    "only-not-found", ("read",), "The TrainJob asked for by name is not there", own=True
)
NO_TRAINJOB: Final = Declaration("no-trainjob", ("read",), "There is nothing to compile", own=True)

MANY: Final = 100
"""With fewer diagnostics there is no crowd among them."""
FEW: Final = 16
"""With so few TrainJobs it does not pay to look for those that are alike."""


class Compiled(NamedTuple):
    """What one TrainJob became."""

    namespace: str
    name: str
    objects: tuple[Tree, ...]
    """The JobSet first, then the rest by apiVersion, kind and name."""
    plan: Plan
    """The TrainJob, its runtime, and what the stages made of them."""

    def trace(self) -> Trace:
        """Where the fields of the objects come from: the TrainJob's stages run again, read backwards."""
        from trainc.tracing import Trace

        return Trace(self.plan)


class Compilation(NamedTuple):
    """What a run made, and what it has to say. With an error among the diagnostics, nothing is meant to be applied."""

    jobs: tuple[Compiled, ...] = ()
    """In the order of (namespace, name)."""
    others: tuple[Document, ...] = ()
    """Documents of other kinds, in file order."""
    runtimes: int = 0
    """How many runtimes the given paths hold."""
    files: int = 0
    """How many files were read."""
    diagnostics: tuple[Diagnostic, ...] = ()
    checked: tuple[Checked, ...] = ()
    """The TrainJobs in the order of (namespace, name), then the runtimes of the given paths in file order."""
    strict: str = ""
    """Who makes warnings errors, in words; empty where nobody does."""
    raised: int = 0
    """How many of the errors were warnings."""
    texts: tuple[Manifest, ...] = ()
    """TrainJobs of which no more than the text was asked for; the others are `jobs`."""

    @property
    def objects(self) -> tuple[Tree, ...]:
        """All objects, in the order in which they are written; of `texts` there are none."""
        return tuple(obj for job in self.jobs for obj in job.objects)

    def manifests(self) -> list[tuple[str, str, str]]:
        """Namespace, name and YAML of each TrainJob, in the order of the output."""
        from trainc.emit.yaml import Writer

        # One writer for all: it remembers what the jobs of one runtime share.
        write = Writer().document
        found = [(job.namespace, job.name, "---\n".join(map(write, job.objects))) for job in self.jobs]
        if not self.texts:
            return found
        return sorted([*found, *((job.namespace, job.name, job.text) for job in self.texts)], key=itemgetter(0, 1))

    @property
    def failed(self) -> bool:
        """Whether any diagnostic is an error."""
        return failed(self.diagnostics)

    def saying(self, more: Iterable[Diagnostic]) -> Compilation:
        """The same with more diagnostics, warnings as errors where somebody has asked for that."""
        more = tuple(more)
        if not self.strict:
            return self._replace(diagnostics=self.diagnostics + more)
        raised = self.raised + sum(diagnostic.severity == "warning" for diagnostic in more)
        return self._replace(diagnostics=self.diagnostics + strictly(more), raised=raised)


class Read:
    """The documents of some paths, by role."""

    def __init__(self, files_of: Reader = inputs.read, *, as_text: bool = False) -> None:
        """`files_of` finds the files of some paths. What earlier runs remember is forgotten.

        With `as_text`, TrainJobs that are alike become blanks, of which a compilation makes the manifests' text alone.
        """
        forget()
        self.files_of = files_of
        self.as_text = as_text
        self.moulds: Moulds | None = None
        self.namespace: str | None = None
        self.chunks = 0
        self.blanks: list[tuple[int, Blank]] = []
        """Each with the number of TrainJobs in `documents` that were read before it."""
        self.documents: dict[Role, list[Document]] = {"job": [], "runtime": [], "other": []}
        self.diagnostics: list[Diagnostic] = []
        self.files = 0

    def add(self, file: inputs.File, *, namespace: str | None = None) -> None:
        """Read and sort the documents of one more file."""
        self.files += 1
        if self.moulds is not None and (blank := self.moulds.whole(file)) is not None:
            self.blanks.append((len(self.documents["job"]), blank))
            return
        known = partial(self._blank, file.path, namespace) if self.as_text else None
        for document in parsed(file, known):
            if isinstance(document, Diagnostic):
                self.diagnostics.append(document)
            elif isinstance(document, Document):
                self.take(document, namespace=namespace)
            else:
                self.blanks.append((len(self.documents["job"]), document))

    def _blank(self, file: str, namespace: str | None, chunk: Chunk) -> Blank | None:
        """A document as a blank, where there have been enough that are alike."""
        if self.moulds is None:
            self.chunks += 1
            if self.chunks <= FEW:
                return None
            from trainc.moulds import Moulds

            self.namespace = namespace
            self.moulds = Moulds(namespace)
        return self.moulds.fit(file, chunk)

    def jobs(self) -> Iterator[Document | Blank]:
        """The TrainJobs in the order in which they were read."""
        at = 0
        for before, blank in self.blanks:
            yield from self.documents["job"][at:before]
            yield blank
            at = before
        yield from self.documents["job"][at:]

    def document(self, job: Document | Blank) -> Document:
        """The document of a TrainJob, read now where it has been a blank."""
        return job if isinstance(job, Document) else _placed(job.document(), "job", self.namespace)

    def take(self, document: Document, *, namespace: str | None = None) -> None:
        """Sort one more document, which somebody has read."""
        for found in sort(document):
            if isinstance(found, Diagnostic):
                self.diagnostics.append(found)
            else:
                role, of_a_kind = found
                self.documents[role].append(_placed(of_a_kind, role, namespace))

    def gather(
        self,
        paths: Iterable[str],
        *,
        namespace: str | None = None,
        skip: Sequence[str] = (),
        settings: Settings = DEFAULT,
        root: str | None = None,
    ) -> None:
        """Read and sort the documents of some paths."""
        for file in self.files_of(paths, skip=skip, settings=settings.file, root=root):
            if isinstance(file, Diagnostic):
                self.diagnostics.append(file)
            else:
                self.add(file, namespace=namespace)


def compile(  # noqa: PLR0913 (options, by their names)
    paths: Sequence[str] = (".",),
    *,
    runtimes: Sequence[str] = (),
    only: str | None = None,
    namespace: str | None = None,
    skip: Sequence[str] = (),
    settings: Settings = DEFAULT,
    delivery: Delivery = PLAIN,
    root: str | None = None,
    as_text: bool = False,
) -> Compilation:
    """Compile every TrainJob found in `paths`.

    Args:
        paths: files, folders (read recursively), or `-` for standard input.
        runtimes: further paths to look for runtimes in, after `paths` and before the stock ones.
        only: compile only the TrainJobs of this name.
        namespace: the namespace of TrainJobs and TrainingRuntimes that name none.
        skip: folders and files left out where they lie below one of the paths: what is written.
        settings: what `trainc.yaml` and the command line say of the advice (`trainc.settings.of` reads the file).
        delivery: how the objects reach a cluster that may hold older ones.
        root: the folder that no link may lead out of; by default the git root of each path, else its folder.
        as_text: whether of TrainJobs that are alike the text of their manifests will do (`Compilation.texts`). Where
            names have a suffix, they depend on all that is in them, and there are objects of all.

    Returns:
        The objects, and the diagnostics of all stages. User faults are diagnostics, never exceptions.
    """
    read = _read(
        paths,
        namespace=namespace,
        skip=skip,
        settings=settings,
        root=root,
        as_text=as_text and not delivery.name_suffix_hash,
    )
    return compile_documents(
        read,
        runtimes=runtimes,
        only=only,
        namespace=namespace,
        skip=skip,
        settings=settings,
        delivery=delivery,
        root=root,
    )


def compile_documents(
    read: Read,
    *,
    runtimes: Sequence[str] = (),
    only: str | None = None,
    namespace: str | None = None,
    skip: Sequence[str] = (),
    settings: Settings = DEFAULT,
    delivery: Delivery = PLAIN,
    root: str | None = None,
) -> Compilation:
    """Compile every TrainJob among documents that have been read; those of `runtimes` are read in the same way."""
    given = read.documents["runtime"]
    searched, of_runtimes = library(
        runtimes,
        given=given,
        namespace=namespace,
        skip=skip,
        root=root,
        spelled=settings.spelled,
        files_of=read.files_of,
    )
    found = [*settings.diagnostics, *read.diagnostics, *of_runtimes]
    for entry in searched.levels[0].entries.values():
        found += entry.conform()[1]

    made = _made(read, searched, only=only, namespace=namespace, settings=settings, delivery=delivery, found=found)
    plans = [plan for plan in made if isinstance(plan, Plan)]
    jobs = tuple(
        Compiled(
            namespace=plan.job.namespace,
            name=plan.job.name,
            objects=tuple(objects_of_a_job(plan.objects)),
            plan=plan,
        )
        for plan in plans
        if plan.objects and not plan.failed
    )
    used = (entry for level in searched.levels[1:] for entry in level.entries.values() if entry.asked)
    found += [diagnostic for entry in used for diagnostic in entry.conform()[1]]
    if regretted := [plan for plan in plans if plan.regrets]:
        from trainc.lint.warnings import warnings

        found += warnings(regretted)
    return Compilation(
        jobs=jobs,
        others=tuple(read.documents["other"]),
        runtimes=len(read.documents["runtime"]),
        files=read.files,
        checked=tuple(_checked(made, read.documents["runtime"])),
        strict=settings.strict,
        texts=tuple(job for job in made if not isinstance(job, Plan)),
    ).saying(_thinned(found))


def _thinned(found: list[Diagnostic]) -> list[Diagnostic]:
    """What a run has to say, without the mass of what is said over and over."""
    if len(found) < MANY:
        return found
    from trainc.crowds import thinned

    return thinned(found)


def _checked(made: Iterable[Plan | Manifest], runtimes: Iterable[Document]) -> Iterator[Checked]:
    for job in made:
        if isinstance(job, Plan):
            yield Checked(job.job.id, job.job.document.file, skipped=not job.objects)
        else:
            yield Checked(job.id, job.file, skipped=False)
    for document in runtimes:
        yield Checked(ObjectId.of(document.value), document.file)


def library(
    runtimes: Sequence[str],
    *,
    given: Sequence[Document] | None = None,
    namespace: str | None = None,
    skip: Sequence[str] = (),
    root: str | None = None,
    spelled: Spelled = FLAGS,
    files_of: Reader = inputs.read,
) -> tuple[Library, list[Diagnostic]]:
    """The runtimes by level, in the order in which they are searched: the given ones, each path, the stock ones."""
    from trainc.passes.conform import conform_runtime

    levels: list[Level] = []
    found: list[Diagnostic] = []
    if given is not None:
        level, twice = Level.of("the given paths", given, conform_runtime)
        found += twice
        levels.append(level)
    for path in runtimes:
        more = _read([path], namespace=namespace, skip=skip, root=root, files_of=files_of)
        level, twice = Level.of(spelled.runtimes.format(path), more.documents["runtime"], conform_runtime)
        found += [*more.diagnostics, *twice]
        levels.append(level)
    return Library((*levels, Stock(conform_runtime)), spelled), found


def _made(
    read: Read,
    library: Library,
    *,
    only: str | None,
    namespace: str | None,
    settings: Settings,
    delivery: Delivery,
    found: list[Diagnostic],
) -> list[Plan | Manifest]:
    """Every TrainJob through the pipeline, or out of a mould, in the order of the output."""
    if delivery.name_suffix_hash:
        from trainc.suffix import run
    else:
        from trainc.pipeline import run

    def compiled(document: Document) -> Plan:
        document = _placed(document, "job", namespace)
        job = TrainJob(document=document, value=document.value)
        project, quiet = settings.project, settings.quiet
        return run(Plan(job=job, library=library, project=project, quiet=quiet, delivery=delivery))

    made: list[Plan | Manifest] = []
    chosen = _chosen(read, only, found)[::-1]
    if read.moulds is not None:
        read.moulds.expect(len(chosen))
    read.blanks.clear()  # each takes as much memory as its manifest, and is let go when that is made
    while chosen:
        job = chosen.pop()
        if read.moulds is not None:
            made.append(read.moulds.made(job, compiled))
        elif isinstance(job, Document):
            made.append(compiled(job))
    for one in made:
        if isinstance(one, Plan):
            found += one.diagnostics
            if one.refused:
                from trainc.tracing.diagnoses import diagnose

                found += diagnose(one)
    return made


def _chosen(read: Read, only: str | None, found: list[Diagnostic]) -> list[Document | Blank]:
    """The TrainJobs that are compiled, in the order of the output: of two with one name the first."""
    first: dict[tuple[str, str], Document | Blank] = {}
    for job in read.jobs():
        namespace, name = key_of(job)
        key = namespace, name or f"\0{len(first)}"
        if key in first:
            found.append(_twice(read.document(job), read.document(first[key])))
        else:
            first[key] = job
    chosen = [job for _, job in sorted(first.items()) if only is None or key_of(job)[1] == only]
    if only is not None and not chosen:
        found.append(_none_of_that_name(only, [name for _, name in map(key_of, first.values())]))
    return chosen


def key_of(job: Document | Blank) -> tuple[str, str]:
    """Namespace and name of a TrainJob; empty strings where it does not say."""
    named = TrainJob(document=job, value=job.value) if isinstance(job, Document) else job
    return named.namespace, named.name


def _read(
    paths: Iterable[str],
    *,
    namespace: str | None,
    skip: Sequence[str] = (),
    settings: Settings = DEFAULT,
    root: str | None = None,
    files_of: Reader = inputs.read,
    as_text: bool = False,
) -> Read:
    """The documents of the paths."""
    result = Read(files_of, as_text=as_text)
    result.gather(paths, namespace=namespace, skip=skip, settings=settings, root=root)
    return result


def parsed(file: inputs.File, known: Callable[[Chunk], T | None] | None = None) -> Iterator[Document | Diagnostic | T]:
    """The documents of one file, with what cannot be read among them; `known` knows some by their texts."""
    from trainc.kubernetes.documents import Document as Parsed
    from trainc.kubernetes.documents import read_stream

    documents, errors = read_stream(file.data, known)
    if errors:
        from trainc.source.broken import BrokenFile

        broken = BrokenFile(file)
    for error in errors:
        place = broken.at(error.line, error.column)
        yield Diagnostic.of(YAML, error.message, error.help, place=place, related=broken.since(error))
    for read in documents:
        if isinstance(read, Parsed):
            yield Document(
                file=file.path, line=read.chunk.line, column=read.chunk.column, text=read.chunk.text, value=read.value
            )
        else:
            yield read


def _placed(document: Document, role: Role, namespace: str | None) -> Document:
    """The document in the namespace of the command line, when it names none and has one."""
    if namespace is None or role == "other":
        return document
    id = ObjectId.of(document.value)
    if id.namespace or id.kind == "ClusterTrainingRuntime":
        return document
    if not isinstance(get(document.value, ("metadata",), {}), dict):
        return document
    return document._replace(value=put(document.value, ("metadata", "namespace"), namespace))


def _twice(document: Document, first: Document) -> Diagnostic:
    job = TrainJob(document=document, value=document.value)
    return Diagnostic.of(
        DUPLICATE_TRAINJOB,
        f'a second TrainJob "{job.name}"' + (f' in namespace "{job.namespace}"' if job.namespace else ""),
        "keep one of them, or give it another name",
        object=job.id,
        field="metadata.name",
        place=job.at("metadata", "name"),
        related=(Related(message="the first one", place=Place(document=first, path=("metadata", "name"))),),
    )


def _none_of_that_name(only: str, names: list[str]) -> Diagnostic:
    from trainc.nearest import nearest

    near = nearest(only, names)
    return Diagnostic.of(
        ONLY_NOT_FOUND,
        f'no TrainJob "{only}" in the given paths',
        f"did you mean {near}?" if near else f"there are {', '.join(sorted(names)) or 'none'}",
    )
