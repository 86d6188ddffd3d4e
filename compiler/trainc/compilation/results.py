"""The result of a run, and the identities of its objects: no two in an output may be the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import TRAINJOB
from trainc.base.records import NamedTuple
from trainc.budget import DEFAULT as DEFAULT_BUDGET
from trainc.budget import Budget, Meter, size_of
from trainc.diagnostics import Checked, Diagnostic, Document, ObjectId, Place, Related, failed, warnings_as_errors
from trainc.kubernetes.trees import get
from trainc.pipeline.library import FLAGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

    from trainc.base.kinds import Role
    from trainc.edits.transforming.namespaces import Namespaces
    from trainc.frontends.kustomizations import Kustomizations
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan
    from trainc.provenance.tracing import Trace

DUPLICATE_OBJECT: Final = Declaration("duplicate-object", ("read",), trainc_only=True)
FIXED_NAME: Final = Declaration("fixed-name", ("build",), severity="note", trainc_only=True)
KUSTOMIZE: Final = "kustomize.config.k8s.io/"
LOCAL: Final = "config.kubernetes.io/local-config"
"""The annotation of a document that only tools read, such as the configuration of a KRM function."""


def counted_words(words: Sequence[str]) -> str:
    """Return the number of each word; without a word, that there is no TrainJob.

    >>> counted_words(["TrainJob", "PyTorchJob", "TrainJob"]), counted_words([])
    ('2 TrainJobs and 1 PyTorchJob', '0 TrainJobs')
    """
    from trainc.base.texts import plural

    counts = {word: words.count(word) for word in sorted(set(words) - {TRAINJOB.word})}
    number = words.count(TRAINJOB.word)
    parts = [plural(count, word) for word, count in counts.items()]
    if number or not parts:
        parts.insert(0, plural(number, TRAINJOB.word))
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


class Compiled(NamedTuple):
    """The result of one TrainJob."""

    namespace: str
    name: str
    objects: tuple[Tree, ...]
    """The JobSet, then the other objects by apiVersion, kind and name."""
    plan: Plan
    """The TrainJob, its runtime, and the results of the stages."""

    def __repr__(self) -> str:
        """Return the TrainJob's name and the number of its objects."""
        return f"Compiled({self.namespace!r}, {self.name!r}, objects={len(self.objects)})"

    def trace(self) -> Trace:
        """Return the provenance of the objects' fields, which runs the TrainJob's stages again."""
        from trainc.provenance.tracing import Trace

        return Trace(self.plan)


class Compilation(NamedTuple):
    """The objects and diagnostics of a run. Do not apply the objects if a diagnostic is an error."""

    jobs: tuple[Compiled, ...] = ()
    """The compiled TrainJobs, in the order of (namespace, name)."""
    jobsets: tuple[Compiled, ...] = ()
    """The JobSets of the paths, in the same order. They are checked and shown; a build only copies them."""
    documents: Mapping[Role, tuple[Document, ...]] = {}
    """The documents by role, as they are written."""
    runtimes: tuple[Document, ...] = ()
    """The runtimes of runtimes.paths and `--runtimes`."""
    others: tuple[Document, ...] = ()
    """Documents of other kinds, in file order."""
    copied: tuple[Document, ...] = ()
    """Those of them that are copied to the output."""
    stand_ins: int = 0
    """The number of runtimes in the given paths that are checked or shown with stand-in TrainJobs."""
    files: int = 0
    """The number of files read in the given paths."""
    checked_files: tuple[str, ...] = ()
    """Those that were not skipped, and the files with the settings, their patches and the runtimes in use."""
    kustomizations: Kustomizations | None = None
    """The kustomizations among the files; None if there are none."""
    skipped: tuple[str, ...] = ()
    """The files in folders that were skipped, because they contain no TrainJob and no runtime."""
    diagnostics: tuple[Diagnostic, ...] = ()
    checked: tuple[Checked, ...] = ()
    """The TrainJobs in the order of (namespace, name), then the runtimes of the given paths in file order."""
    strict: str = ""
    """The option or setting that turns warnings into errors, for messages; empty without one."""
    raised: int = 0
    """The number of errors that were warnings."""
    built_in: Diagnostic | None = None
    """The note about the built-in runtimes that the TrainJobs use; it is not one of the diagnostics."""
    unchecked: Mapping[str, Sequence[str]] = {}
    """The names of the TrainJobs whose Jobs and pods were not checked, by the id of the error that prevents it."""
    lint_of_built_in: Mapping[str, Set[str]] = {}
    """The ids of the lint findings in these runtimes, by name."""
    namespaces: Namespaces | None = None
    """The namespaces that the settings move; None without settings that change documents."""
    budget: Budget = DEFAULT_BUDGET
    """The budget for the output."""
    legacy_option: str = FLAGS.legacy
    """The option that compiles legacy jobs, for messages."""
    stopped: bool = False
    """Whether the run stopped, beyond its budget or without valid settings; there are no objects then."""
    environment: str = ""
    """The environment of a part; empty for a project without environments."""
    parts: tuple[Compilation, ...] = ()
    """The result of each environment of each project, if there are several."""

    def __repr__(self) -> str:
        """Return the numbers of TrainJobs, objects and diagnostics."""
        numbers = f"jobs={len(self.jobs)}, objects={len(self.objects)}, diagnostics={len(self.diagnostics)}"
        return f"Compilation({numbers}, failed={self.failed})"

    @property
    def shown(self) -> tuple[Compiled, ...]:
        """The TrainJobs and the JobSets of the paths, in the order of (namespace, name)."""
        if not self.jobsets:
            return self.jobs
        return tuple(sorted((*self.jobs, *self.jobsets), key=lambda job: (job.namespace, job.name)))

    @property
    def objects(self) -> tuple[Tree, ...]:
        """All compiled objects, in output order."""
        return tuple(obj for job in self.jobs for obj in job.objects)

    def manifests(self) -> list[tuple[str, str, str]]:
        """Return each TrainJob's namespace, name and YAML, in output order. Raise OverBudgetError beyond the budget."""
        from trainc.emit.yaml import Writer

        # One writer for all jobs: it caches the text that the jobs of one runtime share.
        write = Writer().document
        found: list[tuple[str, str, str]] = []
        meter = Meter(self.budget)
        for job in self.jobs:
            found.append((job.namespace, job.name, "---\n".join(map(write, job.objects))))
            meter.spend("output bytes", size_of(found[-1][-1]))
        return found

    @property
    def counted_jobs(self) -> str:
        """The numbers of TrainJobs and of jobs of each legacy kind, for messages."""
        return counted_words([job.plan.job.word for job in (*self.jobs, *self.jobsets)])

    @property
    def failed(self) -> bool:
        """Whether any diagnostic is an error."""
        return failed(self.diagnostics)

    def reported(self, form: str) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of a report: all formats for programs include the note about built-in runtimes."""
        return self.diagnostics if self.built_in is None or form == "text" else (*self.diagnostics, self.built_in)

    def with_diagnostics(self, more: Iterable[Diagnostic]) -> Compilation:
        """Return a copy with more diagnostics; with `strict`, their warnings become errors."""
        more = tuple(more)
        if not self.strict:
            return self._replace(diagnostics=self.diagnostics + more)
        raised = self.raised + sum(diagnostic.severity == "warning" for diagnostic in more)
        return self._replace(diagnostics=self.diagnostics + warnings_as_errors(more), raised=raised)

    def with_undecided_queues(self) -> Compilation:
        """Return a copy with a note on the JobSets whose admission by Kueue the manifests do not decide."""
        from trainc.kueue import findings

        return self.with_diagnostics(findings.undecided_notes((job.plan for job in self.shown), self.others))


def duplicates(result: Compilation, others: Iterable[Document]) -> Iterator[Diagnostic]:
    """Yield an error for each compiled object or other document that has the identity of an earlier one.

    An identity is the API group, kind, namespace and name. Versions of a group share it.
    """
    first: dict[tuple[str, str, str, str], Place] = {}
    for job in result.jobs:
        place = job.plan.job.at("metadata", "name")
        for tree in job.objects:
            key = _identity(tree)
            if key in first:
                yield duplicate_object(ObjectId.from_manifest(tree), place, first[key])
            first.setdefault(key, place)
    for document in others:
        key = _identity(document.value)
        if not (key[1] and key[3]):
            continue
        place = Place(document=document, path=("metadata", "name"))
        if key in first:
            yield duplicate_object(ObjectId.from_manifest(document.value), place, first[key])
        first.setdefault(key, place)


def fixed_names(result: Compilation) -> Iterator[Diagnostic]:
    """Yield a note for each TrainJob whose name is generated: the objects of an output have the same name each time."""
    for job in result.jobs:
        if job.plan.job.letters_at is not None:
            prefix = job.plan.job.source_name
            yield Diagnostic.declared(
                FIXED_NAME,
                f'generateName "{prefix}" becomes the name {job.name}: without a change, another apply starts no new '
                "run; with one, pruning deletes the old run",
                f"to start a run each time, create the {job.plan.job.word} itself with `kubectl create`",
                object=job.plan.job.id,
                field="metadata.generateName",
                place=job.plan.job.at("metadata", "name"),
            )


def wrong_namespace(result: Compilation, others: Iterable[Document]) -> Iterator[Diagnostic]:
    """Yield the faults of copied documents: a namespace that the settings do not set, or an invalid one."""
    moves = result.namespaces
    if moves is None:
        return
    from trainc.edits.transforming.setting_faults import invalid_moves, other_namespaces, unmoved

    others = list(others)
    yield from unmoved(others, moves)
    yield from invalid_moves(others, moves, {each.message for each in result.diagnostics})
    if moves.environment.namespace is not None:
        yield from other_namespaces(others, moves, moves.environment.namespace)


def _identity(tree: Tree) -> tuple[str, str, str, str]:
    id = ObjectId.from_manifest(tree)
    group, slash, _ = id.apiVersion.partition("/")
    return group if slash else "", id.kind, id.namespace, id.name


def duplicate_object(id: ObjectId, place: Place, first: Place) -> Diagnostic:
    """Return the error for an object with the identity of an earlier one."""
    return Diagnostic.declared(
        DUPLICATE_OBJECT,
        f'duplicate {id.kind} "{id.name}"' + (f' in namespace "{id.namespace}"' if id.namespace else ""),
        "remove one of them: the cluster would keep the one that is applied last",
        object=id,
        field="metadata.name",
        place=place,
        related=(Related(message="the first one", place=first),),
    )


def is_object(document: Document) -> bool:
    """Return whether a document can be applied to a cluster: it is not a values file or a kustomization."""
    tree = document.value
    version, kind = tree.get("apiVersion"), tree.get("kind")
    if not (isinstance(version, str) and isinstance(kind, str) and version and kind):
        return False
    local = get(tree, ("metadata", "annotations", LOCAL))
    return not version.startswith(KUSTOMIZE) and local not in ("true", True)
