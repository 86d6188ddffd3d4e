"""Notes of a review, and the effects of changes that apply before their JobSet.

Reads    the reviewed objects of one environment, and both sides.
Returns  the objects, with another effect for a ConfigMap or a PodGroup whose change the API server accepts, although it
         rejects that of the JobSet whose pods read it. A note for each changed or removed runtime that no
         TrainJob of either side uses, so that no object shows its change. For an upgrade of Trainer, a note with the
         behaviours that change no object, one for each TrainJob that will not resume, and one if the upgrade leads over
         another release.
Source   kubeflow/trainer: the controllers of v2.1.0, v2.2.1 and v2.3.0; the release notes of v2.4.0.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any, Final

from trainc.base.behaviours import PAGE, changed_behaviours, releases_between
from trainc.base.declarations import Declaration
from trainc.base.kinds import JOBS_OF_JOBSET, JOBSET
from trainc.base.texts import first_of
from trainc.diagnostics import Diagnostic, ObjectId, Place
from trainc.kubernetes.trees import get
from trainc.pipeline import frameworks
from trainc.pipeline.library import key_of
from trainc.review.changes import changes
from trainc.review.changes.changed_settings import own_path
from trainc.review.consequences import Consequence
from trainc.settings.keys import OF_RENDERED

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Iterable, Iterator, Sequence

    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Document, Identity
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan
    from trainc.review.changes.changed_settings import SettingEdit
    from trainc.review.reviewed import Line, Reviewed
    from trainc.review.sides import Side
    from trainc.review.sides.side_files import SideFiles


UNCHANGED: Final = frozenset({"new-object", "while-suspended", "refused", "new-name"})
"""The effects with which a running JobSet stays as it is."""
NEW_NAME: Final = Consequence("new-name")
AHEAD: Final = Consequence("ahead")
READ: Final = frozenset({"data", "binaryData", "spec"})
"""The fields of other objects that the pods, or their scheduler, read."""
IMMUTABLE: Final = {"none": (), "initializer, trainer": ("initializer", "trainer")}
"""The fields of a TrainJob's spec that a release makes immutable, besides runtimeRef."""
LISTED: Final = 8
"""The number of TrainJobs that a note names."""
UNUSED_RUNTIME: Final = Declaration("unused-runtime", ("read",), "note", trainc_only=True)
TRAINER_UPGRADE: Final = Declaration("trainer-upgrade", ("read",), "note", trainc_only=True)


def with_objects_ahead(objects: Sequence[Reviewed]) -> tuple[Reviewed, ...]:
    """Return the objects with the effects of changes that apply before their JobSet, or with it under a new name."""
    wanted = {_key(each) for each in objects if each.id.kind != JOBSET.kind and any(map(_is_ahead, each.lines))}
    jobsets = _readers(objects, wanted) if wanted else {}
    if not jobsets:
        return tuple(objects)
    found = []
    for reviewed in objects:
        jobset = jobsets.get(_key(reviewed)) if reviewed.id.kind != JOBSET.kind else None
        if jobset is None:
            found.append(reviewed)
            continue
        ahead = [line for line in reviewed.lines if _is_ahead(line)]
        changed, effect = (reviewed.lines, NEW_NAME) if jobset.effect == "new-name" else (ahead, AHEAD)
        lines = (line._replace(consequence=effect) if line in changed else line for line in reviewed.lines)
        found.append(reviewed._replace(lines=tuple(lines)))
    return tuple(found)


def _key(reviewed: Reviewed) -> tuple[str, str]:
    return reviewed.id.namespace, reviewed.id.name


def _readers(objects: Iterable[Reviewed], wanted: Container[tuple[str, str]]) -> dict[tuple[str, str], Reviewed]:
    """Return the first JobSet that stays as it is and whose pods name an object of their namespace, by that object."""
    found: dict[tuple[str, str], Reviewed] = {}
    for each in objects:
        if _is_behind(each):
            for name in _strings(get(each.before, JOBS_OF_JOBSET)):
                if (key := (each.id.namespace, name)) in wanted:
                    found.setdefault(key, each)
    return found


def _is_behind(reviewed: Reviewed) -> bool:
    is_changed = reviewed.id.kind == JOBSET.kind and reviewed.status == "changed"
    return is_changed and reviewed.effect in UNCHANGED


def _is_ahead(line: Line) -> bool:
    return line.consequence.effect == "in-place" and line.change.path[0] in READ


def _strings(tree: Any) -> Iterator[str]:
    """Yield the strings of a tree."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list):
        for value in tree.values() if isinstance(tree, dict) else tree:
            yield from _strings(value)


def unused_runtimes(before: Side, after: Side) -> Iterator[Diagnostic]:
    """Yield a note for each changed or removed runtime that no TrainJob uses. A rendered side has no TrainJobs."""
    if "rendered" in {before.content, after.content}:
        return
    used = _used(before) | _used(after)
    new = _runtimes(after)
    for key, document in _runtimes(before).items():
        other = new.get(key)
        if document.identity in used or (other is not None and other.identity in used):
            continue
        if other is None:
            yield _unused_runtime(
                document, "is removed", Place(document, ("metadata", "name")), "keep it until no team uses it"
            )
        elif other.value != document.value:
            path = next(change.new_path for change in changes(document.value, other.value))
            file = shlex.quote(after.file(other.file))
            help = f"check their TrainJobs: trainc validate PATH --runtimes {file}"
            yield _unused_runtime(other, "changes", Place(other, path), help)


def delivery_notes(
    before: SideFiles, after: SideFiles, settings: Iterable[SettingEdit], *, has_changes: bool
) -> Iterator[str]:
    """Yield sentences about what clusters get: another kind of objects, or none of the changes."""
    if after.is_rendered or before.is_rendered or not (before.has_settings and after.has_settings):
        return
    if before.renders_nothing and after.output is not None:
        yield "clusters get JobSets instead of TrainJobs: let the TrainJobs finish, and delete them first"
    elif after.renders_nothing and before.output is not None:
        yield "clusters get TrainJobs instead of JobSets: let the JobSets finish, and delete them first"
    elif after.renders_nothing and any(
        key in OF_RENDERED for edit in settings for key in own_path(edit.change.path)[:1]
    ):
        yield "clusters get TrainJobs as they are in git: settings of what trainc renders have no effect"
    elif has_changes and after.output is not None and after.has_output_of(before):
        folder = os.path.relpath(after.output.path)
        yield f"{folder} has none of these changes: clusters get them after the next build"


def rejected_trainjobs(before: Side, after: Side) -> Iterator[str]:
    """Yield a sentence about the TrainJobs of which a cluster that gets them rejects the change."""
    if not (after.settings.renders_nothing and (before.spec.is_live or before.settings.renders_nothing)):
        return
    old, fields = _trainjobs(before), ("runtimeRef", *IMMUTABLE[after.settings.release.immutable])
    found = []
    for key, spec in _trainjobs(after).items():
        changed = [f"spec.{field}" for field in fields if key in old and old[key].get(field) != spec.get(field)]
        if changed:
            found.append(f"{'/'.join(filter(None, key))} ({', '.join(changed)})")
    if found:
        jobs = "1 TrainJob until it is" if len(found) == 1 else f"{len(found):,} TrainJobs until they are"
        yield f"the cluster rejects the change of {jobs} deleted: {first_of(found, LISTED)}"


def _trainjobs(side: Side) -> dict[tuple[str, str], Tree]:
    """Return the specs of the TrainJobs of a side, as the API server stores them, by namespace and name."""
    plans = (plan for plan in _plans(side) if not plan.job.is_trial)
    return {(plan.job.namespace, plan.job.source_name): plan.job.spec for plan in plans}


def _plans(side: Side) -> Iterator[Plan]:
    """Yield the plan of each job with a runtime of the library, once."""
    plans = (item.job.plan for item in side.items if item.job is not None and not item.position)
    return (plan for plan in plans if plan.job.own_runtime is None)


def _runtimes(side: Side) -> dict[Hashable, Document]:
    """Return the runtimes of a side by kind, namespace and name, and by file if several have the same."""
    found: dict[Hashable, Document] = {}
    for document in side.runtimes:
        key = key_of(document)
        found[key if key not in found else (key, side.file(document.file))] = document
    return found


def _used(side: Side) -> set[Identity]:
    """Return the identities of the runtimes that the compiled TrainJobs of a side use."""
    return {item.job.plan.runtime.document.identity for item in side.items if item.job is not None}


def _unused_runtime(document: Document, verb: str, place: Place, help: str) -> Diagnostic:
    id = ObjectId.from_source(document.value)
    return Diagnostic.declared(
        UNUSED_RUNTIME,
        f'{id.kind} "{id.name}" {verb}: no TrainJob here uses it; teams elsewhere may',
        help,
        object=id,
        field=place.field,
        place=place,
    )


def upgrade_notes(before: Side, after: Side) -> Iterator[Diagnostic]:
    """Yield the upgrade_notes about the upgrade from the release of one side to that of the other."""
    old, new = before.settings.release, after.settings.release
    path = releases_between(old, new)
    found = [changed for changed in changed_behaviours(old, new) if not changed.behaviour.objects]
    found.sort(key=lambda changed: path.index(changed.release))
    if found:
        yield _upgrade_note(f"the upgrade also changes the cluster: {'; '.join(changed.words for changed in found)}")
    for index, release in enumerate(path):
        if release.upgraded_from and index > 1 and path[index - 1].name in release.upgraded_from:
            yield _upgrade_note(
                f"the upgrade from {path[0].title} to {release.title} leads over {path[index - 1].title}"
            )
    if new.mpi_resume != old.mpi_resume:
        yield from _suspended(before, new)


def _suspended(before: Side, new: TrainerRelease) -> Iterator[Diagnostic]:
    """Yield a note for each suspended MPI TrainJob."""
    for plan in _plans(before):
        if plan.job.spec.get("suspend") and frameworks.traits(plan.runtime).launcher:
            yield _upgrade_note(
                f'TrainJob "{plan.job.source_name}" is suspended and uses MPI: it does not resume with {new.title}',
                "create it again after the upgrade",
            )._replace(object=plan.job.id, place=plan.job.at("spec", "suspend", key=True))


def _upgrade_note(message: str, help: str = "") -> Diagnostic:
    return Diagnostic.declared(TRAINER_UPGRADE, message, help or f"read {PAGE}")
