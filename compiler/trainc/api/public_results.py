"""The result of a compilation or a check: objects, TrainJobs, documents and diagnostics."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from trainc.base.records import NamedTuple
from trainc.diagnostics import Place
from trainc.pipeline.library import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.base.kinds import Role
    from trainc.compilation import Compilation, Compiled
    from trainc.diagnostics import Diagnostic, Document, Path
    from trainc.kubernetes.trees import Tree
    from trainc.provenance.tracing import Trace


class FieldOrigin(NamedTuple):
    """The origin of a field of a compiled object."""

    place: Place
    """The input field that caused it; without one, the nearest enclosing field."""
    by: str
    """The author in words: `the torch framework, from spec.trainer.numNodes`."""
    value: Any
    """The value of the field."""
    in_file: bool = True
    """Whether the place is the source of the value; if not, an option is."""


class SetField(NamedTuple):
    """A field of a compiled object of a TrainJob."""

    object: int
    """The index of the object in `CompiledJob.objects`."""
    path: Path
    value: Any
    by: str
    """The author in words."""


class JobRuntime(NamedTuple):
    """The runtime of a TrainJob."""

    kind: str
    name: str
    document: Document
    """The document that has it; its file starts with `<built-in>` for a runtime of trainc."""
    is_built_in: bool
    """Whether it is a runtime of trainc, and not of the files."""

    @property
    def place(self) -> Place:
        """The place of its name."""
        return Place(self.document, ("metadata", "name"))


class CompiledJob:
    """A compiled TrainJob, a legacy job, or a JobSet of the files."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled

    def __repr__(self) -> str:
        """Return the name and the number of the objects."""
        return f"CompiledJob({self.namespace!r}, {self.name!r}, objects={len(self.objects)})"

    @property
    def namespace(self) -> str:
        """The namespace; empty without one."""
        return self._compiled.namespace

    @property
    def name(self) -> str:
        """The name."""
        return self._compiled.name

    @property
    def objects(self) -> tuple[Tree, ...]:
        """The JobSet, then the other objects by apiVersion, kind and name."""
        return self._compiled.objects

    @property
    def document(self) -> Document:
        """The document of the TrainJob."""
        return self._compiled.plan.job.document

    @property
    def runtime(self) -> JobRuntime | None:
        """The runtime that the TrainJob refers to; None for any other kind."""
        job, runtime = self._compiled.plan.job, self._compiled.plan.runtime
        if job.own_runtime is not None:
            return None
        return JobRuntime(runtime.id.kind, runtime.id.name, runtime.document, runtime.level == BUILT_IN)

    @cached_property
    def _trace(self) -> Trace:
        return self._compiled.trace()

    def origin(self, object: int, path: Path) -> FieldOrigin:
        """Return the origin of a field of an object; of a missing field, that of its nearest parent.

        The first call runs the stages of the TrainJob again.

        Args:
            object: the index of the object in `objects`.
            path: the keys and indices of the field.
        """
        found = self._trace.origin(object, path)
        return FieldOrigin(found.place, found.by, found.value, found.in_file)

    def fields_set_by(self, path: Path, document: Document | None = None) -> Iterator[SetField]:
        """Yield the fields of the objects that a field of an input document sets, or the fields below it.

        Args:
            path: the path of the field, as it is written in the document.
            document: the TrainJob's document by default, or that of its runtime.
        """
        from trainc.explain import fields_set_by

        source = self.document if document is None else document
        for index, there, origin in fields_set_by(self._trace, self.objects, source, (path,)):
            yield SetField(index, there, origin.value, origin.by)


class Documents(NamedTuple):
    """The documents of a project by role."""

    jobs: tuple[Document, ...] = ()
    """TrainJobs, JobSets, and the legacy jobs that are compiled."""
    runtimes: tuple[Document, ...] = ()
    """The runtimes of the files, and those of `runtimes.paths`."""
    others: tuple[Document, ...] = ()
    """The documents of other kinds that were read."""


class Result:
    """The objects and the diagnostics of a compilation or a check. With an error, do not apply the objects."""

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation

    def __repr__(self) -> str:
        """Return the numbers of TrainJobs, objects and diagnostics."""
        numbers = f"jobs={len(self.jobs)}, objects={len(self.objects)}, diagnostics={len(self.diagnostics)}"
        return f"Result({numbers}, failed={self.failed})"

    @cached_property
    def jobs(self) -> tuple[CompiledJob, ...]:
        """The compiled TrainJobs, in the order of namespace and name."""
        return tuple(map(CompiledJob, self._compilation.jobs))

    @cached_property
    def jobsets(self) -> tuple[CompiledJob, ...]:
        """The JobSets of the files without errors, each with its stored form; a build only copies them."""
        return tuple(map(CompiledJob, self._compilation.jobsets))

    @property
    def objects(self) -> tuple[Tree, ...]:
        """All objects, in output order."""
        return self._compilation.objects

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All errors, warnings and notes."""
        return self._compilation.diagnostics

    @property
    def failed(self) -> bool:
        """Whether any diagnostic is an error."""
        return self._compilation.failed

    @property
    def environment(self) -> str:
        """The environment of a part; empty for a project without environments, and for several of them together."""
        return self._compilation.environment

    @cached_property
    def parts(self) -> tuple[Result, ...]:
        """The result of each environment of each project; the result itself if there is one."""
        return tuple(map(Result, self._compilation.parts)) or (self,)

    @property
    def documents(self) -> Documents:
        """The documents that were read, by role."""
        found: Mapping[Role, tuple[Document, ...]] = self._compilation.documents
        jobs, runtimes, others = (found.get(role, ()) for role in ("job", "runtime", "other"))
        return Documents(jobs, (*runtimes, *self._compilation.runtimes), others)

    def manifests(self) -> list[tuple[str, str, str]]:
        """Return each TrainJob's namespace, name and YAML. Raise OverBudgetError beyond the budget."""
        return self._compilation.manifests()
