"""The options of a run and its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.budget import DEFAULT as DEFAULT_BUDGET
from trainc.budget import Budget, Meter, size_of
from trainc.diagnostics import Checked, Diagnostic, Document, failed, strictly
from trainc.records import NamedTuple
from trainc.settings import DEFAULT, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.delivery import Delivery
    from trainc.kubernetes.trees import Tree
    from trainc.kustomizations import Kustomizations
    from trainc.plan import Plan
    from trainc.reading import Others
    from trainc.tracing import Trace


class Options(NamedTuple):
    """The options of a run."""

    runtimes: Sequence[str] = ()
    """Paths to search for runtimes, after the given paths and before the built-in ones, instead of the settings'."""
    only: str | None = None
    """Compile only the TrainJobs with this name."""
    namespace: str | None = None
    """The namespace of TrainJobs and TrainingRuntimes that set none."""
    skip: Sequence[str] = ()
    """Output folders and files to leave out where they are below one of the paths."""
    settings: Settings = DEFAULT
    """The project's settings (`trainc.settings.of` reads `trainc.yaml`)."""
    delivery: Delivery | None = None
    """How the objects are applied to a cluster that may hold older ones; None for the settings' delivery."""
    root: str | None = None
    """The folder that no link may lead out of; by default each path's git root, or its folder outside of git."""
    others: Others = "read"
    """How to treat files in folders that contain no TrainJob and no runtime."""
    check_only: bool = False
    """Whether nothing is written, so that the TrainJobs of several kustomizations may have the same name."""
    queues: bool = True
    """Whether the paths contain all queues of the repository, so that admission by Kueue can be checked."""
    complete: bool = True
    """Whether the paths contain all TrainJobs of the project, so that a setting that affects none is reported."""


class Compiled(NamedTuple):
    """The result of one TrainJob."""

    namespace: str
    name: str
    objects: tuple[Tree, ...]
    """The JobSet, then the other objects by apiVersion, kind and name."""
    plan: Plan
    """The TrainJob, its runtime, and the results of the stages."""

    def trace(self) -> Trace:
        """Return the provenance of the objects' fields, which runs the TrainJob's stages again."""
        from trainc.tracing import Trace

        return Trace(self.plan)


class Compilation(NamedTuple):
    """The objects and diagnostics of a run. Do not apply the objects if a diagnostic is an error."""

    jobs: tuple[Compiled, ...] = ()
    """In the order of (namespace, name)."""
    others: tuple[Document, ...] = ()
    """Documents of other kinds, in file order."""
    runtimes: int = 0
    """The number of runtimes in the given paths."""
    files: int = 0
    """The number of files read."""
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
    budget: Budget = DEFAULT_BUDGET
    """The budget for the output."""
    stopped: bool = False
    """Whether the run stopped, beyond its budget or without valid settings; there are no objects then."""

    @property
    def objects(self) -> tuple[Tree, ...]:
        """All objects, in output order."""
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
    def failed(self) -> bool:
        """Whether any diagnostic is an error."""
        return failed(self.diagnostics)

    def reported(self, form: str) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of a report: all formats for programs include the note about built-in runtimes."""
        return self.diagnostics if self.built_in is None or form == "text" else (*self.diagnostics, self.built_in)

    def saying(self, more: Iterable[Diagnostic]) -> Compilation:
        """Return a copy with more diagnostics; with `strict`, their warnings become errors."""
        more = tuple(more)
        if not self.strict:
            return self._replace(diagnostics=self.diagnostics + more)
        raised = self.raised + sum(diagnostic.severity == "warning" for diagnostic in more)
        return self._replace(diagnostics=self.diagnostics + strictly(more), raised=raised)
