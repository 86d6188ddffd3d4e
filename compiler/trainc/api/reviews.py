"""`trainc.diff`: the command `diff` as a function, with one entry for each job of the repository.

Reads    the arguments of the command, or two results of `trainc.compile`.
Returns  a `ReviewResult`. Errors in the input are diagnostics; a wrong argument is a TypeError or ValueError.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from trainc.api.checked_arguments import checked_contents, checked_options, checked_paths
from trainc.api.public_results import Result
from trainc.base.records import NamedTuple
from trainc.compilation.run import BUILD, NO_OPTIONS, Options, start
from trainc.provenance.tracing.correspondence import GONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.api.checked_arguments import Contents, StrPath
    from trainc.diagnostics import Diagnostic, Location, ObjectId, Path
    from trainc.review.consequences import Effect
    from trainc.review.job_entries import Variant
    from trainc.review.reviewed import Line, Review, Reviewed
    from trainc.review.sides.side_files import Status

ReviewFormat = Literal["text", "markdown", "json", "html"]


class ChangedField(NamedTuple):
    """A field of an object that changes. A value is None if the field is missing; secrets are `***`."""

    path: Path
    """The keys and indices of the field in the new object or, of a removed field, in the old one."""
    field: str
    """The path as text: `spec.replicatedJobs[name=node].replicas`."""
    old: Any
    new: Any
    effect: Effect
    """What the cluster does with the change, as docs/review.md lists it: `refused`, `new-object`, ..."""
    meaning: str
    """The effect as a sentence."""
    by: str
    """The part of the input that was edited: `the TrainJob`, `trainc.yaml`; empty if unknown."""
    at: Location | None
    """Its line: in the old side, if the edit removes it. None if unknown."""


class ChangedObject(NamedTuple):
    """An object of a job that is added, changed or removed."""

    id: ObjectId
    status: Status
    environments: tuple[str, ...]
    """The environments in which it is the same; empty for a project without environments."""
    effect: Effect | None
    """The most severe effect of its changes; None for an added or removed object."""
    changes: tuple[ChangedField, ...]
    """Empty for an added or removed object."""


class ChangedJob(NamedTuple):
    """A job of the repository, or another document that is deployed, with the objects that change."""

    kind: str
    """`job`, or the kind of a document that is not compiled."""
    name: str
    """The namespace and name that the file gives: `nlp/llama`."""
    file: str
    environments: tuple[str, ...]
    """The environments in which it changes."""
    status: Status
    """Whether the job as a whole is added or removed; else it is changed."""
    objects: tuple[ChangedObject, ...]
    """Environments with the same change have one object, that of the first one."""


class ReviewResult:
    """The differences between two versions of the input, as `trainc diff` shows them."""

    def __init__(self, review: Review) -> None:
        self._review = review

    def __repr__(self) -> str:
        """Return the numbers of the first line."""
        return f"ReviewResult({self.summary!r})"

    @property
    def summary(self) -> str:
        """The numbers of objects: `12 to add, 9 to change, 15 to remove`."""
        from trainc.review.formats import numbers_of

        return numbers_of(self._review)

    @property
    def losses(self) -> tuple[str, ...]:
        """What the change loses, stops or cannot apply: `1 JobSet must be recreated: ...`."""
        from trainc.review.formats import losses

        return tuple(each.text for each in losses(self._review))

    @cached_property
    def jobs(self) -> tuple[ChangedJob, ...]:
        """The jobs and other documents that change, each once."""
        from trainc.review.job_entries import entries

        return tuple(
            ChangedJob(
                each.source.kind or "job",
                each.source.name,
                each.source.file,
                each.environments,
                each.status,
                tuple(found for variant in each.variants for found in _objects(variant)),
            )
            for each in entries(self._review)
        )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The errors, warnings and notes of both sides; warnings only if the old side does not have them."""
        return self._review.diagnostics

    @property
    def failed(self) -> bool:
        """Whether any diagnostic is an error, which prevents the review."""
        return self._review.failed

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs: no object, no setting and no file that is not compared."""
        return self._review.is_empty

    def render(self, form: ReviewFormat = "text") -> str:
        """Return the review as `trainc diff --format` prints it. Raise ValueError for an unknown format."""
        from trainc.review.formats import load

        if form not in get_args(ReviewFormat):
            raise ValueError(f"form must be one of {', '.join(get_args(ReviewFormat))}, not {form!r}")
        return load(form)(self._review, color=False)


def diff(
    *sides: StrPath | Result,
    environment: str | None = None,
    contents: Contents | None = None,
    legacy: bool = False,
    trainer_version: str | None = None,
    options: Options = NO_OPTIONS,
) -> ReviewResult:
    """Compare two versions of the input, as `trainc diff` does.

    Args:
        sides: the arguments of the command: two files or folders, revisions (`main..HEAD`, `HEAD`), `--` and paths; by
            default the last commit and the working tree. Or the results of two compilations, whose jobs are compared.
        environment: an environment of trainc.yaml; by default all of them.
        contents: the contents of files of the working tree that differ from the disk, by path.
        legacy: whether to compile also the jobs of legacy kinds, such as PyTorchJobs.
        trainer_version: the release of Trainer in the cluster, such as "2.2", instead of trainc.yaml's.
        options: the other options of the command line, or settings that replace trainc.yaml.

    Raises:
        TypeError, ValueError: an argument has the wrong type or value, such as an unknown revision.
    """
    from trainc.review import compare, compare_compilations

    run = start(checked_options(options, environment, trainer_version, legacy=legacy), BUILD)
    results = [side for side in sides if isinstance(side, Result)]
    if results:
        if len(results) != len(sides) or len(results) != 2:
            raise TypeError("sides must be two results, or the arguments of `trainc diff`")
        old, new = (side._compilation for side in results)
        return ReviewResult(compare_compilations(old, new, run))
    from trainc.review.commits import AmbiguousWordError
    from trainc.review.commits.branch_merges import MergeConflictError
    from trainc.review.commits.git_objects import RevisionError
    from trainc.review.sides.side_arguments import parse_sides

    try:
        given = [name for side in sides if not isinstance(side, Result) for name in checked_paths(side, "sides")]
        laid_over = checked_contents(contents) or None
        specs = parse_sides(given)
        first, second = (spec if spec.commit else spec._replace(contents=laid_over) for spec in specs)
        return ReviewResult(compare(first, second, run))
    except (AmbiguousWordError, MergeConflictError, RevisionError) as error:
        raise ValueError(f"sides: {error}") from None


def _objects(variant: Variant) -> Iterator[ChangedObject]:
    for each in variant.objects:
        yield ChangedObject(
            each.id,
            each.status,
            variant.subject.environments,
            each.effect if each.status == "changed" else None,
            tuple(_field(each, line) for line in each.lines),
        )


def _field(reviewed: Reviewed, line: Line) -> ChangedField:
    change, consequence = line.change, line.consequence
    return ChangedField(
        change.path,
        change.field,
        None if change.old is GONE else change.old,
        None if change.new is GONE else change.new,
        consequence.effect,
        consequence.sentence(reviewed.id.kind, reviewed.new_name),
        "" if line.cause is None else line.cause.by,
        None if line.cause is None else line.cause.at,
    )
