"""The results of a migration, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from trainc.base.kinds import find
from trainc.base.records import NamedTuple
from trainc.diagnostics import ObjectId
from trainc.settings import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.compilation import Compiled
    from trainc.diagnostics import Diagnostic, Document
    from trainc.files.inputs import File
    from trainc.frontends.lowering import Loss
    from trainc.kubernetes.trees import Path, Tree
    from trainc.pipeline.plan import Slot
    from trainc.rewriting.migration.accepted_differences import Row
    from trainc.settings import Settings

Key = tuple[str, int, int, tuple[str | int, ...]]
"""The position of a document: file, line, column, and the path in its text."""


Form = Literal["policy", "variables", "exact"]
FORMS: Final[tuple[Form, ...]] = ("policy", "variables", "exact")


class Candidate(NamedTuple):
    """A TrainJob and its runtime that may replace a legacy job."""

    form: Form
    job: Tree
    runtime: Tree
    extensions: tuple[str, ...] = ()
    """The fields and values of the runtime that only trainc reads."""
    trainer: Slot | None = None
    """The container of the legacy job that spec.trainer applies to; None if it applies to none."""
    files: tuple[Tree, ...] = ()
    """The ConfigMaps beside the TrainJob: no controller creates them."""
    named: str = ""
    """The parts with names of their own, which do not follow those of the JobSet, in words."""
    counts: frozenset[str] = frozenset()
    """The variables that hold numbers of pods."""
    is_built_in: bool = False
    """Whether the runtime is one of those that every installation of Trainer has."""
    is_one_job: bool = False
    """Whether equal roles are one Job, which are several in the compiled legacy job."""

    @property
    def runtime_name(self) -> str:
        """The name of the runtime."""
        return str(self.runtime["metadata"]["name"])


class DroppedComment(NamedTuple):
    """A comment of a legacy job that its new documents do not have."""

    line: int
    """The 1-based line of its file."""
    column: int
    text: str


class RejectedForm(NamedTuple):
    """A form that does not keep the behaviour of a job, or that a job cannot have."""

    form: Form
    reasons: tuple[str, ...]
    fields: tuple[tuple[Compiled, Path], ...] = ()
    """The fields of the legacy job's JobSet that the reasons are about."""
    help: str = ""


class Pair(NamedTuple):
    """A job in one environment, before and after."""

    environment: str
    """Empty for a project without environments."""
    before: Compiled
    after: Compiled


class Migrated(NamedTuple):
    """A legacy job, and the TrainJob that replaces it."""

    document: Document
    candidate: Candidate
    rejected: tuple[RejectedForm, ...]
    """The better forms."""
    runs: tuple[Pair, ...]
    rows: tuple[Row, ...]
    """The accepted differences."""
    details: tuple[tuple[str, str], ...]
    """The accepted differences one by one: the row's id, and the difference in words."""
    losses: tuple[Loss, ...]
    """The losses of the legacy job that its author wrote."""

    @property
    def id(self) -> ObjectId:
        """The identity of the legacy job in its file."""
        return ObjectId.from_source(self.document.value)

    @property
    def word(self) -> str:
        """The word for its kind in messages."""
        return kind_in_words(self.document)


def kind_in_words(document: Document) -> str:
    """Return the word for the kind of a legacy job in messages."""
    kind = find(document.value.get("apiVersion"), document.value.get("kind"))
    return kind.word if kind is not None else str(document.value.get("kind"))


class Migration(NamedTuple):
    """The result of a migration."""

    jobs: tuple[Migrated, ...] = ()
    """In the order of their files."""
    legacy: tuple[Document, ...] = ()
    """All legacy jobs of the paths, also those that stay."""
    known: Mapping[str, Tree] = {}
    """The runtimes that the paths already have, by name."""
    files: Mapping[str, File] = {}
    """The files that were read, by path."""
    settings: Settings = DEFAULT
    """The settings of the project."""
    strict: bool = False
    """Whether warnings are errors, with which nothing is written."""
    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: tuple[str, ...] = ()
    """The files without jobs and runtimes, which were skipped."""

    @property
    def runtimes(self) -> dict[str, Tree]:
        """The new runtimes by name, in the order of the jobs that use them first."""
        candidates = [job.candidate for job in self.jobs if not job.candidate.is_built_in]
        found = {each.runtime_name: each.runtime for each in candidates}
        return {name: runtime for name, runtime in found.items() if self.known.get(name) != runtime["spec"]}
