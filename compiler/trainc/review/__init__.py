"""Review: the effect of a changed input on the objects, the edit that causes it, and how the cluster handles it.

Reads    two sides (`sides`): sources, rendered manifests or git revisions.
Returns  a Review (`reviewed`): the changed settings, with the objects whose causes name them, and lint annotations
         (`changes.changed_settings`); the added, removed and changed objects, each change with its consequence
         (`consequences`) and cause (`causes`); the changes grouped by cause, so that one edit of a runtime is an entry;
         the differences that are not compared (`sides.side_files`); the objects that move to another folder
         (`sides.moves`); and the resources that the pods request before and
         after. `formats/<format>.py` writes it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBSET
from trainc.budget import Meter
from trainc.compilation import environment_runs
from trainc.compilation.important_objects import loses_data, used_config_maps
from trainc.diagnostics import Diagnostic, Location, ObjectId, Place, failed
from trainc.pods import footprint
from trainc.provenance.tracing.correspondence import value_at
from trainc.review import sides
from trainc.review.causes import Causes, InputEdit
from trainc.review.changes import changed_settings, changes, renamed_jobs, shown
from trainc.review.changes.renamed_jobs import NAMES, renaming, with_name
from trainc.review.cluster_side import running_state, with_current_use
from trainc.review.commits import branch_merges
from trainc.review.consequences import (
    after_upgrade,
    as_a_whole,
    between_environments,
    judge,
    under_new_name,
    without_rendering,
)
from trainc.review.field_managers import managers
from trainc.review.merged_reviews import merge_reviews, with_moved_objects
from trainc.review.review_notes import (
    delivery_notes,
    rejected_trainjobs,
    unused_runtimes,
    upgrade_notes,
    with_objects_ahead,
)
from trainc.review.reviewed import (
    Cause,
    ChangedSetting,
    Line,
    ObjectSource,
    PodNumbers,
    Review,
    Reviewed,
    with_objects,
)
from trainc.review.sides import Side, SideSpec, side_files, side_pairs
from trainc.review.sides.moves import MovableDocuments
from trainc.review.sides.side_pairs import Versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.compilation import Compilation, Compiled, Run
    from trainc.kueue.usage import QueueUse
    from trainc.pipeline.plan import Plan
    from trainc.review.causes import ReleaseEdit
    from trainc.review.changes import Change
    from trainc.review.changes.changed_settings import SettingEdit
    from trainc.review.cluster_side import LiveCluster
    from trainc.review.consequences import Judgement
    from trainc.review.sides import SideItem
    from trainc.settings import Settings

OLD_SIDE: Final = "in {}: "
"""The prefix of the old side's messages."""


def compare(old: SideSpec, new: SideSpec, run: Run, reporting: Callable[[SideSpec], Settings] | None = None) -> Review:
    """Compare two sides, in each of their projects and environments. Raise OverBudgetError beyond the budget.

    `reporting` returns the settings that decide what is reported; by default, each side has its own.
    """
    meter = Meter(run.budget)
    for spec in (old, new):
        if spec.commit is not None:
            spec.commit.objects.meter = meter
    found, note = side_pairs.project_pairs(old, new, run, meter)
    parts: list[tuple[str, Review]] = []
    movable = MovableDocuments()
    for pair in found:
        parts += _compare_project(*pair, run, reporting, meter, movable, several=len(found) > 1)
    if len(found) > 1 and not old.environment:
        release = sides.settings_of(found[0][1], run).release
        moved = with_moved_objects([review for _, review in parts], release)
        parts = [(name, review) for (name, _), review in zip(parts, moved, strict=True)]
    review = merge_reviews(parts)
    if not review.failed and old.paths == new.paths:
        review = review._replace(moves=movable.moves(old.commit, new.commit, new.paths, meter))
    if review.is_empty and not (review.pods or review.diagnostics):
        review = review._replace(diagnostics=(sides.no_jobs(old, new),))
    notes = (note,) if note is not None else ()
    return review._replace(
        diagnostics=(
            *notes,
            *branch_merges.faults(old.commit, new.commit, OLD_SIDE.format(old.name)),
            *review.diagnostics,
        )
    )


def compare_live(
    spec: SideSpec, cluster: LiveCluster, run: Run, reporting: Callable[[SideSpec], Settings] | None = None
) -> Review:
    """Compare the objects of a cluster with those that a side renders. Raise KubectlError, OverBudgetError."""
    meter = Meter(run.budget)
    pairs, note = side_pairs.project_pairs(spec, spec, run, meter)
    projects = [Versions(each, run, meter, None if reporting is None else reporting(each)) for _, each in pairs]
    found = list[tuple[str, Side]]()
    for project in projects:
        if (fault := side_pairs.environment_fault(project)) is not None:
            return Review(cluster.name, spec.name, diagnostics=(fault,))
        found += ((name, renamed_jobs.with_own_hashes(side)) for name, side in project.by_environment().items())
    is_failed = any(failed(side.diagnostics) for _, side in found)
    if not is_failed and not any(side.items for _, side in found):
        return Review(cluster.name, spec.name, diagnostics=(sides.no_jobs(spec, spec),))
    is_whole = spec.project and not run.options.only
    is_rendered = cluster.rendered_by_any(projects, [side for _, side in found]) if is_whole else None
    parts = []
    for name, side in found:
        empty = Side(SideSpec(cluster.name, (), is_live=True), "rendered", (), ())
        before, after = (empty, side) if is_failed else cluster.sides(side, is_rendered)
        parts.append((name, _compare(before, after, run, name)))
    review = merge_reviews(parts)
    return review._replace(
        diagnostics=(*([] if note is None else [note]), *review.diagnostics),
        notes=(*cluster.notes, *review.notes),
        faults=tuple(cluster.faults.values()),
    )


def _compare_project(
    old: SideSpec,
    new: SideSpec,
    run: Run,
    reporting: Callable[[SideSpec], Settings] | None,
    meter: Meter,
    movable: MovableDocuments,
    *,
    several: bool,
) -> list[tuple[str, Review]]:
    """Return the review of each environment of a project; `meter` and `movable` are those of all projects."""
    names = sides.environments(old, new, run)
    if isinstance(names, Diagnostic):
        return [("", Review(old.name, new.name, diagnostics=(names,)))]
    # Another client, or an older trainc, has dropped the unknown fields of the old side.
    lenient = run.with_flag("fieldValidation", "ignore")
    strict = run
    if _are_releases(old, new) and run.options.field_validation is None:
        strict = run.with_flag("fieldValidation", "warn")  # as the API server, which drops unknown fields
    reported = None if reporting is None else reporting(new)
    before, after = Versions(old, lenient, meter, reported), Versions(new, strict, meter, reported)
    if several and old.paths != new.paths and before.is_rendered != after.is_rendered:
        fault = side_pairs.rendered_beside_several(old, new)
        return [("", Review(old.name, new.name, diagnostics=(fault,)))]
    settings = changed_settings.edits(before.project, after.project, partial(after.path_of, before))
    found = _compare_environments(before, after, run, names, settings)
    if old.environment:
        return found  # both sides have the same files
    if any(review.failed for _, review in found):
        return found
    causes = {cause.at.file for _, review in found for each in review.objects for cause in each.causes}
    rows = side_files.not_compared(before.side_files, after.side_files, causes, movable)
    faults = side_files.submodule_faults(rows, after.side_files)
    not_compared = () if faults else tuple(rows)
    has_changes = not _are_releases(old, new) and any(review.objects for _, review in found)
    notes = tuple(delivery_notes(before.side_files, after.side_files, settings, has_changes=has_changes))
    return [*found, ("", Review(old.name, new.name, diagnostics=faults, not_compared=not_compared, notes=notes))]


def _compare_environments(
    before: Versions, after: Versions, run: Run, names: Sequence[str], settings: Sequence[SettingEdit]
) -> list[tuple[str, Review]]:
    """Compare the objects and settings of two sides, in each of their environments."""
    if before.spec.environment and (before.is_rendered or after.is_rendered):
        fault = side_pairs.environments_of_sources(after.spec)
        return [("", Review(before.spec.name, after.spec.name, diagnostics=(fault,)))]
    is_nothing = before.first.content == after.first.content == "nothing"
    hidden = is_nothing and (before.has_hidden_jobsets or after.has_hidden_jobsets)
    if hidden or before.is_rendered or after.is_rendered:
        before.read_as_rendered()
        after.read_as_rendered()
        return _compare_rendered(before, after, run)
    if names == ("",):
        return [("", _compare(before.first, after.first, run, settings=settings))]
    found: list[tuple[str, Review]] = []
    for name in names:
        pair = before.side(name), after.side(name)
        contents = {side.content for side in pair}
        is_needed = any(side.diagnostics or side.runtimes for side in pair) or settings
        if contents != {"nothing"} or is_needed:
            found.append((name, _compare(*pair, run, name, settings)))
    return found


def _compare_rendered(before: Versions, after: Versions, run: Run) -> list[tuple[str, Review]]:
    """Compare two sides, one of which at least is rendered."""
    found = side_pairs.environment_pairs(before, after)
    if found is None:
        settings = next(each for each in map(_project, (after, before)) if each.environment_names)
        required = environment_runs.environment_required(settings, environment_runs.OPTION)
        return [("", Review(before.spec.name, after.spec.name, diagnostics=(required,)))]
    found = found or [("", before.first, after.first)]
    return [(name, _compare(old, new, run, name)) for name, old, new in found]


def _project(side: Versions) -> Settings:
    return sides.settings_of(side.spec, side.run)


def compare_compilations(old: Compilation, new: Compilation, run: Run) -> Review:
    """Compare the objects of two compilations."""
    before, after = (sides.compiled_side(name, each, run) for name, each in (("before", old), ("after", new)))
    return _compare(before, after, run)


def _are_releases(old: SideSpec, new: SideSpec) -> bool:
    """Return whether the sides are one tree for two releases of Trainer."""
    return bool(old.trainer_version and new.trainer_version)


def _compare(
    before: Side, after: Side, run: Run, environment: str = "", settings: Sequence[SettingEdit] = ()
) -> Review:
    """Compare two sides in one environment; `settings` are the changed ones."""
    old, new = before.spec, after.spec
    diagnostics = (*_old_diagnostics(before), *_new_diagnostics(before, after))
    if _are_releases(old, new):
        notes = upgrade_notes(before, after)
        diagnostics = (*(_for_release(each, new) for each in diagnostics), *notes)
    skipped = tuple(sorted({side.file(name) for side in (before, after) for name in side.skipped}))
    diagnostics = (*diagnostics, *unused_runtimes(before, after))
    has_runtimes = bool(before.runtimes or after.runtimes)
    is_empty = before.content == after.content == "nothing" and not has_runtimes
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return Review(old.name, new.name, diagnostics=diagnostics, skipped=skipped)
    if old.environment:
        after = renamed_jobs.with_names_of_environment(before, after)
    elif before.content == after.content == "compiled":
        after = renamed_jobs.with_old_names(before, after)
        before, after = renamed_jobs.with_hashes(before, after)
    elif "rendered" in {before.content, after.content} and not old.is_live:  # a live side has been read by its names
        before, after = renamed_jobs.with_own_hashes(before), renamed_jobs.with_own_hashes(after)
    edits = [*settings, *_edited_annotations(before, after)]
    before, after = sides.comparable_sides(before, after)
    reviewer = _Reviewer(before, after)
    pairs = list(_pairs(before, after))
    found = with_objects_ahead([reviewed for pair in pairs if (reviewed := reviewer.review(*pair))])
    return Review(
        old=old.name,
        new=new.name,
        settings=with_objects([reviewer.setting(edit) for edit in edits], found, environment),
        objects=found,
        unchanged=len(pairs) - len(found),
        pods=() if is_empty else (_pods(before, after),),
        diagnostics=diagnostics,
        skipped=skipped,
        kind="environments" if old.environment else "live" if old.is_live else "change",
        notes=tuple(rejected_trainjobs(before, after)),
    )


def _pods(before: Side, after: Side) -> PodNumbers:
    """Return the pods of both sides in numbers. The cluster of rendered objects is unknown."""
    contents = {before.content, after.content}
    own = before if after.content == "nothing" else after
    is_live = before.spec.is_live
    names_apart = bool(after.spec.environment)
    return PodNumbers(
        before=footprint.by_queue(item.tree for item in before.items),
        after=footprint.by_queue(((not names_apart and item.own) or item).tree for item in after.items),
        cluster=own.settings.cluster if is_live or "rendered" not in contents else None,
        queues=with_current_use(after.queues, before.others) if is_live else _queues(before, after),
    )


def _queues(before: Side, after: Side) -> tuple[QueueUse, ...]:
    """Return what the JobSets request from Kueue's queues after a change, each with what they did before."""
    if after.spec.environment:
        return after.queues  # no queue changes between two environments
    old = {(use.kind, use.name): use for use in before.queues}
    return tuple(use._replace(before=old.get((use.kind, use.name))) for use in after.queues)


def _edited_annotations(old: Side, new: Side) -> list[SettingEdit]:
    """Return the changed lint annotations of two sides. A rendered side has none, and two environments the same."""
    if "rendered" in {old.content, new.content} or new.spec.environment:
        return []
    return changed_settings.annotation_edits(*(list(_plans(side).values()) for side in (old, new)))


def _plans(side: Side) -> dict[object, Plan]:
    """Return the plans of a side's TrainJobs by namespace and name, or of two environments by document."""
    of_environments = bool(side.spec.environment)
    return {_plan_key(item.job, of_environments): item.job.plan for item in side.items if item.job is not None}


def _plan_key(job: Compiled, of_environments: bool) -> object:
    return renamed_jobs.document_key(job.plan.job.document) if of_environments else (job.namespace, job.name)


def _old_diagnostics(side: Side) -> Iterator[Diagnostic]:
    """Yield the errors of the old side as warnings, so that a change that fixes them can be reviewed."""
    for diagnostic in side.diagnostics:
        if diagnostic.severity == "error":
            yield diagnostic._replace(severity="warning", message=OLD_SIDE.format(side.spec.name) + diagnostic.message)


def _new_diagnostics(old: Side, new: Side) -> Iterator[Diagnostic]:
    """Yield the diagnostics of the new side, without the warnings that the old side has too."""
    known = {(each.id, each.object, each.message) for each in old.diagnostics if each.severity != "error"}
    for diagnostic in new.diagnostics:
        if diagnostic.severity == "error" or (diagnostic.id, diagnostic.object, diagnostic.message) not in known:
            yield diagnostic


def _for_release(diagnostic: Diagnostic, new: SideSpec) -> Diagnostic:
    """Return an error of the new release as a warning: one job that it rejects must not hide the others."""
    if diagnostic.severity != "error" or diagnostic.stage == "read":
        return diagnostic
    return diagnostic._replace(severity="warning", message=f"rejected by {new.name}: {diagnostic.message}")


def _pairs(old: Side, new: Side) -> Iterator[tuple[SideItem | None, SideItem | None]]:
    """Yield the old and the new version of each object, in the order of a review."""
    key_of = _key_of_document if old.spec.environment else _key_of_item
    before = {key_of(item): item for item in old.items}
    after = {key_of(item): item for item in new.items}
    if old.one_jobset and new.one_jobset:
        [one], [other] = ([key for key in items if key[2] == JOBSET.kind] for items in (before, after))
        if one != other:
            before[other] = before.pop(one)
    for key in sorted(before.keys() | after.keys()):
        yield before.get(key), after.get(key)


def _name(id: ObjectId) -> tuple[str, str]:
    return id.namespace, id.name


def _key_of_item(item: SideItem) -> tuple[Any, ...]:
    return _key(item.id)


def _key_of_document(item: SideItem) -> tuple[Any, ...]:
    """Return the key of an object of one environment: of two documents, either may have the name of the other."""
    return (*_key(item.id), *renamed_jobs.document_key(item.document))


def _key(id: ObjectId) -> tuple[str, bool, str, str, str]:
    """Return the identity of an object as a sort key: a JobSet precedes the other objects of its namespace.

    The API version is left out, because an object of one version exists in every other version.
    """
    group = id.apiVersion.rpartition("/")[0]
    return (id.namespace, id.kind != JOBSET.kind, id.kind, id.name, group)


class _Reviewer:
    """Finds the differences of each pair of objects, and their causes."""

    def __init__(self, old: Side, new: Side) -> None:
        self.sides = {False: new, True: old}
        self.name_suffix_hash = all(side.settings.delivery.name_suffix_hash for side in (old, new))
        self.release = new.settings.release
        self.renders_nothing = new.settings.renders_nothing
        self.causes = Causes()
        self._shown: dict[int, tuple[InputEdit, Cause]] = {}
        """The causes by the identities of their edits, which are kept alive: most edits cause several changes."""
        self.is_live = old.spec.is_live
        self.of_environments = bool(new.spec.environment)
        self.plans = [_plans(side) for side in (old, new)]
        self.used = used_config_maps((item.own or item).tree for item in new.items)

    def review(self, old: SideItem | None, new: SideItem | None) -> Reviewed | None:
        """Return the review of an object; None if it is unchanged."""
        if old is None or new is None:
            return self._one_sided(old, new)
        tree = new.tree
        naming = []
        if new.own is not None and new.is_renamed and not self.of_environments:
            naming, tree = renaming(old.tree, new.own.tree), with_name(tree, new.own.tree)
        found = naming if old.tree == new.tree else [*naming, *changes(old.tree, new.tree)]
        if not found:
            return None
        compiled = old.job is not None and new.job is not None
        judgement = judge(new.id.kind, old.tree, tree, found, self.release, compiled=compiled)
        new_name = self._new_name(old, new, judgement)
        id = new.own.id if new.own is not None and (new.is_renamed or self.of_environments) else new.id
        is_other, applied = _name(old.id) != _name(id), self._applied(new)
        if self.of_environments:
            judgement = between_environments(len(found))
        elif self._is_upgrade(old, new):
            judgement = after_upgrade(new.id.kind, judgement)
        elif new_name or new.own is not None or is_other:
            judgement = under_new_name(len(found))
        else:
            judgement = as_a_whole(judgement)
            if applied:
                judgement = without_rendering(judgement, applied)
        sources = self._source(old, old=True), self._source(new)
        return Reviewed(
            status="changed",
            id=id,
            source=sources[1],
            lines=tuple(self._lines(old, new, found, judgement)),
            refused=judgement.refused,
            known=judgement.known,
            at=self._item_location(new),
            before=old.tree,
            after=tree,
            renamed=old.id if is_other else None,
            renamed_source=sources[0].name if is_other and sources[0].name != sources[1].name else "",
            new_name=new_name,
            applied=applied,
            running=self._running_state(old),
        )

    def _applied(self, item: SideItem) -> str:
        """Return the kind of the document that the user applies if trainc does not render the object; else empty."""
        return item.job.plan.job.id.kind if self.renders_nothing and item.job is not None else ""

    def _running_state(self, old: SideItem | None) -> bool | None:
        is_jobset = self.is_live and old is not None and old.id.kind == JOBSET.kind
        return running_state(old.document.value) if is_jobset and old is not None else None

    def _is_upgrade(self, old: SideItem, new: SideItem) -> bool:
        """Return whether an object is compiled for two releases of Trainer, whose controller makes it."""
        if old.job is None or new.job is None:
            return False
        return not old.job.plan.release.is_same(new.job.plan.release)

    def _lines(self, old: SideItem, new: SideItem, changes: list[Change], judgement: Judgement) -> Iterator[Line]:
        known = None
        if old.job is not None and new.job is not None:
            known = self.causes.compare(old.job.plan, new.job.plan)
        for change, consequence in zip(changes, judgement.consequences, strict=True):
            edit = known.cause(old.position, new.position, change) if known else self._own_edit(old, new, change)
            if change.path in NAMES and old.job and new.own and new.own.job:
                edit = self.causes.name_edit(old.job.plan, new.own.job.plan, change)
            cause = self._cause(edit) if edit else None
            of_cluster = self.is_live and change.kind != "added" and old.job is None
            found = managers(old.document.value, old.tree, change.old_path) if of_cluster else ()
            yield Line(shown(change, old.tree, new.tree), consequence, cause, tuple(found))

    def _own_edit(self, old: SideItem, new: SideItem, change: Change) -> InputEdit | None:
        """Return the change of a copied document as its own cause, unless its file has the same value on both sides."""
        if old.job or new.job or any(side.content != "compiled" for side in self.sides.values()):
            return None
        written = old.document.unedited, new.document.unedited
        values = value_at(written[0], change.old_path), value_at(written[1], change.new_path)
        if values[0] == values[1]:
            return None
        at = Place(new.document, change.new_path[:-1] if change.kind == "removed" else change.new_path)
        return InputEdit("document", self._source(new).title, change, at, (old.tree, new.tree), own=True)

    def setting(self, edit: SettingEdit) -> ChangedSetting:
        """Return a changed setting without secrets."""
        at = self._located(edit.place, old=edit.gone)
        return ChangedSetting(shown(edit.change, *edit.trees), at, edit.gone, owner=edit.owner, rank=edit.rank)

    def _one_sided(self, old: SideItem | None, new: SideItem | None) -> Reviewed | None:
        """Return the review of an added or removed object."""
        item = new or old
        assert item is not None  # a pair has at least one item
        own = item.own or item
        before, after = self._plans_of(item)
        edit = self.causes.compare(before, after).presence(item.id) if before and after else self._rejection(old, new)
        cause = self._cause(edit) if edit else None
        return Reviewed(
            status="removed" if new is None else "added",
            id=own.id,
            source=self._source(item, old=new is None),
            running=self._running_state(old),
            cause=cause,
            at=self._item_location(item, old=new is None),
            before=old.tree if old else None,
            after=own.tree if new else None,
            applied=self._applied(item),
            loses_data=new is None and not self.of_environments and loses_data(own.id, self.used),
        )

    def _rejection(self, old: SideItem | None, new: SideItem | None) -> ReleaseEdit | None:
        """Return the change of the release if one of two releases rejects the TrainJob of an object."""
        before, after = (self.sides[side].settings.release for side in (True, False))
        is_rendered = any(side.content == "rendered" for side in self.sides.values())
        if before == after or is_rendered or all(item is None or item.job is None for item in (old, new)):
            return None
        from trainc.review.causes import edit_of_releases

        rejecting = after if new is None else before
        return edit_of_releases(before, after, by=f"{rejecting.title} rejects the TrainJob")

    def _plans_of(self, item: SideItem) -> tuple[Plan | None, Plan | None]:
        """Return both plans of the TrainJob that an object is compiled from."""
        if item.job is None:
            return None, None
        key = _plan_key(item.job, self.of_environments)
        before, after = (plans.get(key) for plans in self.plans)
        return before, after

    def _new_name(self, old: SideItem, new: SideItem, judgement: Judgement) -> str:
        """Return the name of the object that replaces an immutable one; empty if it keeps its name."""
        own = new.own or new
        if own.job is not None and own.job.plan.job.letters_at is not None:
            return new.own.id.name if new.own is not None else ""
        if not self.name_suffix_hash or own.job is None or new.id.kind != JOBSET.kind or not judgement.refused:
            return ""
        from trainc.pipeline.generated_names import digest

        found = digest(own.job.objects)  # Kueue also rejects changes that the hash does not cover
        is_same = old.job is not None and digest(old.job.objects) == found
        return "" if is_same else f"{own.id.name}-{found}"

    def _source(self, item: SideItem, *, old: bool = False) -> ObjectSource:
        """Return what an object is compiled or copied from, with the names that its file gives."""
        document = item.document
        name = ObjectId.from_source(document.unedited).qualified_name
        # The environments of rendered objects have files of their own.
        file = "" if item.environment else self.sides[old].file(document.file)
        return ObjectSource("" if item.job is not None else item.id.kind, name, file)

    def _item_location(self, item: SideItem, *, old: bool = False) -> Location:
        return self._location(item.document.file, item.document.line, item.document.column, old=old)

    def _location(self, file: str, line: int, column: int, *, old: bool) -> Location:
        return Location(self.sides[old].file(file), line, column)

    def _cause(self, edit: InputEdit | ReleaseEdit) -> Cause:
        """Return an edit as a cause, which is computed once."""
        if not isinstance(edit, InputEdit):
            return Cause(edit.by, edit.field, edit.change, edit.at, release=True)
        if id(edit) not in self._shown:
            self._shown[id(edit)] = (edit, self._make_cause(edit))
        return self._shown[id(edit)][1]

    def _make_cause(self, edit: InputEdit) -> Cause:
        at = self._located(edit.place, old=edit.gone)
        by = edit.by
        if (commit := self.sides[edit.gone].spec.commit) is not None:
            by = by.replace(f'"{commit.revision}:', '"')  # the name of a patch file
        change = shown(edit.change, *edit.trees)
        gone = edit.gone and not self.of_environments  # both environments have the same files
        return Cause(by, change.field, change, at, gone, edit.setting, own=edit.own)

    def _located(self, place: Place, *, old: bool) -> Location:
        located = place.locate()
        return self._location(located.file, located.line, located.column, old=old)
