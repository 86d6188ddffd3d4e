"""The model of a review: what every format shows.

A Review has the objects that differ between the sides. Each has one line per change, with the change's consequence
and cause. `groups` sorts the lines by cause, so that all effects of one edit are together. `with_objects` finds the
objects with a cause that names a changed setting. A setting without any, such as `sources`, may have effects that no
cause shows: a change without a cause lists these settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from trainc.base.kinds import JOBSET
from trainc.compilation.important_objects import is_important
from trainc.edits.patching.patch_faults import numbered
from trainc.files.selection import SETTINGS
from trainc.masking.masked_messages import masked_violation
from trainc.masking.masked_values import masked
from trainc.review.changes import touches
from trainc.review.changes.changed_settings import OBJECT_RANK, environment_of
from trainc.review.consequences import RANK, Consequence, most_severe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.diagnostics import Diagnostic, Location, ObjectId, Path
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation
    from trainc.kueue.usage import QueueUse
    from trainc.pods.footprint import Footprint
    from trainc.review.changes import Change
    from trainc.review.consequences import Effect
    from trainc.review.field_managers import Manager
    from trainc.review.sides.moves import FolderMove
    from trainc.review.sides.side_files import NotCompared, Status

ReviewKind = Literal["change", "environments", "live"]
"""Whether a review compares two versions of the input, two environments of one, or a cluster with its input."""
TRAINER_VERSION: Final = "trainerVersion"


class Cause(NamedTuple):
    """The edit of the input that causes a change."""

    by: str
    """The edited part of the input: the TrainJob, runtime "torch-distributed", patch "acme.io/pools", trainc.yaml."""
    field: str
    """The edited field."""
    edit: Change
    at: Location
    """Its line in the new side; `file` is the path within the side, without a revision."""
    gone: bool = False
    """Whether the line is in the old side, because the edit removed the whole document or the setting."""
    setting: Path = ()
    """The path in trainc.yaml of the setting that wrote the value; empty for a field of a document."""
    release: bool = False
    """Whether it is a behaviour of a release of Trainer; the line is then a section of the documentation."""
    own: bool = False
    """Whether it is the change itself, of a document that is copied."""

    @property
    def key(self) -> object:
        """The identity of an edit, whichever objects it changes. All edits of a copied document are one."""
        if self.own:
            return (self.by, self.at.file, self.gone)
        return (self.by, self.field, self.at, self.gone, self.edit.kind)


class ObjectSource(NamedTuple):
    """What an object comes from: a job of the repository, or a document that is copied or rendered."""

    kind: str
    """The kind of the document; empty for a job."""
    name: str
    """The namespace and the name that the file gives, without those of an environment: `nlp/llama`."""
    file: str

    @property
    def title(self) -> str:
        """Its name, with the kind of a document that is no job."""
        return f"{self.kind} {self.name}" if self.kind else self.name


class Line(NamedTuple):
    """One change of an object, with its consequence and cause."""

    change: Change
    """Its values are without secrets."""
    consequence: Consequence
    cause: Cause | None = None
    """None if unknown: for rendered manifests, and if both inputs are the same."""
    managers: tuple[Manager, ...] = ()
    """The clients that wrote the field in a cluster, if the API server tells them."""


class Reviewed(NamedTuple):
    """An object that differs between the sides."""

    status: Status
    id: ObjectId
    """The identity of the new object, or of the old one if it was removed."""
    source: ObjectSource
    lines: tuple[Line, ...] = ()
    """Its changes; empty for an added or removed object."""
    refused: tuple[Violation, ...] = ()
    """The changes that the API server would reject, with secrets in messages: formats show `errors`."""
    known: bool = True
    """Whether trainc knows the server's rules for the object."""
    cause: Cause | None = None
    """The cause of an added or removed object, if its TrainJob is on both sides."""
    at: Location | None = None
    """Its location; for a compiled object, the location of its TrainJob."""
    before: Tree | None = None
    """The whole object before, with its secrets: formats show `old`."""
    after: Tree | None = None
    renamed: ObjectId | None = None
    """The identity of the old object, if it differs."""
    renamed_source: str = ""
    """The old name in the source file, if it differs."""
    new_name: str = ""
    """The name of the object that replaces this one, if names contain a hash of the immutable fields."""
    environments: tuple[str, ...] = ()
    """The environments in which it is the same; empty for a project without environments."""
    applied: str = ""
    """The kind of the document that a user applies if trainc does not render the object: TrainJob, PyTorchJob."""
    running: bool | None = None
    """Whether the status of a JobSet in a cluster shows that its pods run; None if it is not known."""
    loses_data: bool = False
    """Whether it is removed, and a tool that prunes deletes it with its data."""

    @property
    def causes(self) -> list[Cause]:
        """The known causes of its presence and of its changes."""
        return [cause for cause in (self.cause, *(line.cause for line in self.lines)) if cause is not None]

    @property
    def number(self) -> int:
        """The number of objects in the cluster: one for each environment."""
        return len(self.environments) or 1

    @property
    def is_important(self) -> bool:
        """Whether its kind gives rights, runs code or deletes data."""
        return is_important(self.id)

    @property
    def masked_before(self) -> Tree | None:
        """The whole object before, without secrets."""
        return self.before and masked(self.before)

    @property
    def masked_after(self) -> Tree | None:
        """The whole object after, without secrets."""
        return self.after and masked(self.after)

    @property
    def errors(self) -> tuple[Violation, ...]:
        """The changes that the API server would reject, without secrets in messages."""
        return tuple(masked_violation(violation, self.before, self.after) for violation in self.refused)

    @property
    def effect(self) -> Effect:
        """The most severe effect of its changes."""
        return most_severe([line.consequence for line in self.lines])

    @property
    def kind(self) -> str:
        """The kind of the object that a user applies: TrainJob, if the cluster has the TrainJob that makes it."""
        return self.applied if self.applied and self.id.kind == JOBSET.kind else self.id.kind


class CauseGroup(NamedTuple):
    """All changes with one cause, or with an unknown one."""

    cause: Cause | None
    """None if unknown; of a setting, the first one."""
    objects: tuple[Reviewed, ...]
    """The changed objects, in the order of the review."""
    lines: tuple[tuple[Line, tuple[Reviewed, ...]], ...]
    """Each change once, with the objects that have it. Changes that differ only in values are one, with the values of
    the first object."""
    settings: tuple[ChangedSetting, ...] = ()
    """Without a known cause, the changed settings, one of which may be the cause."""
    setting: ChangedSetting | None = None
    """The changed setting that is the cause."""
    is_live: bool = False
    """Whether the changes are those of a cluster, whose causes are unknown."""
    keys: frozenset[object] = frozenset()
    """The keys of its causes: several for a setting, none for an unknown cause."""

    @property
    def effect(self) -> Effect:
        """The most severe effect of its changes."""
        return most_severe([line.consequence for line, _ in self.lines])


class ChangedSetting(NamedTuple):
    """A setting that differs between the sides: a field of trainc.yaml, or a rule in a lint annotation."""

    change: Change
    """Its values are without secrets."""
    at: Location
    """Its line in the new side; `file` is the path within the side, without a revision."""
    gone: bool = False
    """Whether the line is in the old side, because the new side has no settings."""
    objects: tuple[Reviewed, ...] = ()
    """The objects that it changes: those with a cause that names it."""
    owner: ObjectId | None = None
    """The TrainJob or runtime that has the annotation; None for a field of trainc.yaml."""
    rank: int = 0
    """The position among the changed settings (`setting_changes`)."""
    severity: int = 0
    """The position among the settings with this rank: that of its most severe effect, negative without one."""


class PodNumbers(NamedTuple):
    """The nodes, pods and resources of all JobSets, by queue ("" for none), before and after."""

    before: dict[str, Footprint]
    after: dict[str, Footprint]
    environment: str = ""
    """The environment; empty for a project without environments."""
    cluster: str | None = None
    """The environment's cluster, empty for a project with one cluster; None if it is unknown."""
    queues: tuple[QueueUse, ...] = ()
    """What the JobSets request from Kueue's queues after the change, beside the quotas."""


class Review(NamedTuple):
    """The differences between two sides."""

    old: str
    """The name of the old side."""
    new: str
    settings: tuple[ChangedSetting, ...] = ()
    """The changed settings; every format shows them first."""
    objects: tuple[Reviewed, ...] = ()
    """By namespace and name, JobSets first."""
    unchanged: int = 0
    """The number of objects that are the same on both sides."""
    pods: tuple[PodNumbers, ...] = ()
    """The pods in numbers, of each environment."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """The diagnostics of both sides. With an error, there is no review."""
    skipped: tuple[str, ...] = ()
    """The files in folders that were skipped on either side."""
    not_compared: tuple[NotCompared, ...] = ()
    """The other differences between the files of the sides, by file."""
    moves: tuple[FolderMove, ...] = ()
    """The objects whose documents move to another folder, which changes the Application that deploys them."""

    kind: ReviewKind = "change"
    notes: tuple[str, ...] = ()
    """What of a cluster is not compared, and what clusters get of the changes, in sentences."""
    faults: tuple[Diagnostic, ...] = ()
    """The errors about parts of a cluster that could not be read; the others are compared."""

    @property
    def is_empty(self) -> bool:
        """Whether the sides do not differ."""
        return not (self.objects or self.settings or self.not_compared or self.moves)

    def word(self, status: Status) -> str:
        """Return the word for a status: of two environments, an object is in one of them only."""
        if self.kind != "environments" or status == "changed":
            return status
        return f"only in {self.new if status == 'added' else self.old}"

    @property
    def failed(self) -> bool:
        """Whether an error prevents the review."""
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    def with_status(self, status: Status) -> list[Reviewed]:
        """Return the objects that were added, removed or changed."""
        return [found for found in self.objects if found.status == status]

    def with_effect(self, effect: Effect) -> list[Reviewed]:
        """Return the changed objects whose most severe effect this is."""
        return [found for found in self.with_status("changed") if found.effect == effect]

    @property
    def lost(self) -> list[Reviewed]:
        """The removed objects whose deletion loses data."""
        return [found for found in self.with_status("removed") if found.loses_data]

    @property
    def counts(self) -> Counts:
        """The numbers of objects in all environments."""
        return _counts("", ((each, each.number) for each in self.objects))

    @property
    def counts_of_environments(self) -> list[Counts]:
        """The numbers of objects of each environment that changes; none for a project without environments."""
        by_name: dict[str, list[tuple[Reviewed, int]]] = {
            each.environment: [] for each in self.pods if each.environment
        }
        for reviewed in self.objects:
            for name in reviewed.environments:
                by_name.setdefault(name, []).append((reviewed, 1))
        return [_counts(name, objects) for name, objects in by_name.items() if objects]

    def groups(self) -> list[CauseGroup]:
        """Return the changes by cause: settings, then important documents, then the cause that changes most objects."""
        found = grouped(self.with_status("changed"), self.settings, by_change=self.kind == "live")
        return [self._with_settings(group) for group in found]

    def other_settings(self, groups: Iterable[CauseGroup]) -> list[ChangedSetting]:
        """Return the changed settings that are the cause of no group."""
        shown = {id(group.setting) for group in groups}
        return [each for each in self.settings if id(each) not in shown]

    def _with_settings(self, group: CauseGroup) -> CauseGroup:
        environments = {"", *(name for each in group.objects for name in each.environments)}
        found = [
            each
            for each in self.settings
            if each.rank == OBJECT_RANK and environment_of(each.change.path) in environments
        ]
        return group if group.cause is not None else group._replace(settings=tuple(found))


class Counts(NamedTuple):
    """Numbers of objects."""

    environment: str
    added: int
    changed: int
    """With the recreated ones."""
    recreated: int
    """The ones that the cluster does not update: they must be deleted first."""
    removed: int


def _counts(environment: str, objects: Iterable[tuple[Reviewed, int]]) -> Counts:
    found = {"added": 0, "changed": 0, "removed": 0}
    recreated = 0
    for each, number in objects:
        found[each.status] += number
        recreated += number if each.status == "changed" and each.effect == "new-object" else 0
    return Counts(environment, found["added"], found["changed"], recreated, found["removed"])


def grouped(
    objects: Iterable[Reviewed], settings: Sequence[ChangedSetting] = (), *, by_change: bool = False
) -> list[CauseGroup]:
    """Return changed objects grouped by the causes of their changes; an object is in the group of each cause.

    The causes that are one changed setting have one group. Another edit that has other values in another environment
    has a group for each of these environments. With `by_change`, the objects that change alike without
    a known cause have one.
    """
    objects = [*objects]
    values = _values_of_causes(objects)
    owners = _settings_of_causes(objects, settings)
    members: dict[object, dict[int, Reviewed]] = {}
    lines: dict[object, dict[object, tuple[Line, dict[int, Reviewed]]]] = {}
    causes: dict[object, Cause | None] = {}
    keys: dict[object, set[object]] = {}
    for reviewed in objects:
        for line in reviewed.lines:
            key: object = None
            if line.cause is None and by_change:
                key = "alike", repr([each.change for each in reviewed.lines])
            if line.cause is not None:
                key = owners.get(id(line.cause)) or (line.cause.key, values[line.cause.key, _environment(reviewed)])
            causes.setdefault(key, line.cause)
            members.setdefault(key, {})[id(reviewed)] = reviewed
            keys.setdefault(key, set()).update(() if line.cause is None else [line.cause.key])
            alike = (reviewed.id.kind, line.change.kind, line.change.field, line.consequence.effect)
            lines.setdefault(key, {}).setdefault(alike, (line, {}))[1][id(reviewed)] = reviewed
    groups = [
        CauseGroup(
            cause,
            tuple(members[key].values()),
            tuple((line, tuple(having.values())) for line, having in lines[key].values()),
            setting=settings[key - 1] if isinstance(key, int) else None,
            is_live=by_change,
            keys=frozenset(keys[key]),
        )
        for key, cause in causes.items()
    ]
    position = {id(setting): number for number, setting in enumerate(settings)}
    return sorted(
        groups,
        key=lambda group: (
            group.cause is None,
            position.get(id(group.setting), len(settings)),
            not any(each.is_important for each in group.objects),
            -sum(each.number for each in group.objects),
            -RANK[group.effect],
        ),
    )


def _settings_of_causes(objects: Iterable[Reviewed], settings: Sequence[ChangedSetting]) -> dict[int, int]:
    """Return the number of the changed setting that a cause is, counted from 1, by the identity of the cause."""
    causes = {id(line.cause): line.cause for each in objects for line in each.lines if line.cause is not None}
    own = [(number, each) for number, each in enumerate(settings, start=1) if each.owner is None]
    found = ((key, next((number for number, each in own if _is_of(each, cause)), 0)) for key, cause in causes.items())
    return {key: number for key, number in found if number}


def _values_of_causes(objects: Iterable[Reviewed]) -> dict[tuple[object, str], frozenset[str]]:
    """Return the values of each edit in an environment."""
    causes = {
        (id(line.cause), _environment(reviewed)): line.cause
        for reviewed in objects
        for line in reviewed.lines
        if line.cause is not None
    }
    found: dict[tuple[object, str], set[str]] = {}
    for (_, environment), cause in causes.items():
        found.setdefault((cause.key, environment), set()).add(repr((cause.edit.old, cause.edit.new)))
    return {key: frozenset(values) for key, values in found.items()}


def _environment(reviewed: Reviewed) -> str:
    """Return the first environment of an object, which is the same in the others; empty without environments."""
    return next(iter(reviewed.environments), "")


def with_objects(
    settings: Iterable[ChangedSetting], objects: Iterable[Reviewed], environment: str
) -> tuple[ChangedSetting, ...]:
    """Return changed settings with the objects that they change in an environment, and the severity of the changes."""
    objects = [*objects]
    causes = {id(cause): cause for each in objects for cause in each.causes}
    return tuple(_with_objects(setting, objects, causes, environment) for setting in settings)


def _with_objects(
    setting: ChangedSetting, objects: Iterable[Reviewed], causes: dict[int, Cause], environment: str
) -> ChangedSetting:
    if setting.owner is not None or environment_of(setting.change.path) not in ("", environment):
        return setting
    own = {key for key, cause in causes.items() if _is_of(setting, cause)}
    found, severity = [], -1
    for each in objects if own else ():
        lines = [line.consequence for line in each.lines if id(line.cause) in own]
        if lines or id(each.cause) in own:
            found.append(each)
            severity = max(severity, RANK[most_severe(lines) if lines else "new-object"])
    return setting._replace(objects=tuple(found), severity=severity)


def _is_of(setting: ChangedSetting, cause: Cause) -> bool:
    """Return whether a cause is a changed setting, a part of it, or contains it."""
    change, file = setting.change, setting.at.file
    if cause.release:
        return change.path[-1:] == (TRAINER_VERSION,)
    if cause.at.file != file:
        return False
    if patch := numbered(change.path, file):
        return cause.by.endswith(patch)
    if cause.setting:
        return touches(cause.setting, change.old_path if cause.gone else change.new_path)
    return cause.by == SETTINGS and touches(cause.edit.path, change.path)
