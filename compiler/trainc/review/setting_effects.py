"""The effects of changed settings, measured: a setting changes the objects that differ when it alone is set back.

Reads    the new side, compiled again with its settings but one, which has the value of the old side. A setting of an
         environment is measured in that environment, any other one in each of them.
Returns  for each setting the objects that differ, and their changes, by which a change of the review finds its cause.
         The settings that only decide what is reported are not measured.

All compilations together have a budget of their own. Beyond it, the effects of the remaining settings are unknown.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.budget import OverBudgetError
from trainc.diagnostics import Diagnostic, failed
from trainc.files.confine import repository_above
from trainc.files.inputs import File
from trainc.pipeline.suffix import digest
from trainc.provenance.tracing.correspondence import GONE, value_at
from trainc.review import commit_settings, setting_changes
from trainc.review.changes import changes, undone
from trainc.review.consequences import touches
from trainc.review.renamed_jobs import NAMES, renaming, with_old_names
from trainc.review.reviewed import AffectedObject
from trainc.review.setting_changes import LINT, own_path
from trainc.settings import files_on_disk, load_base
from trainc.settings.extending import KEY as EXTENDS
from trainc.settings.extending import FileSource, extended_files
from trainc.settings.keys import ENVIRONMENTS
from trainc.settings.model import Base, SettingsFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trainc.budget import Meter
    from trainc.compilation import Compiled
    from trainc.diagnostics import ObjectId
    from trainc.review.changes import Change
    from trainc.review.setting_changes import SettingEdit
    from trainc.review.side_environments import Versions
    from trainc.review.sides import Side, SideItem
    from trainc.settings import Settings

NOT_MEASURED: Final = frozenset({LINT, "requiredVersion"})
"""The keys that change no object."""
NAME: Final = NAMES[-1]
INVALID: Final = "without the change, the settings are invalid"
WITH_PATHS: Final = frozenset({EXTENDS, "exclude", "output", "passthrough", "patches", "runtimes", "sources"})
"""The keys with paths, which are relative to their file."""
OTHER_FILE: Final = "another trainc.yaml is in force"
OVER: Final = "the budget does not suffice to measure them"


class SettingEffect(NamedTuple):
    """The effect of a changed setting in one environment."""

    edit: SettingEdit
    number: int = -1
    """The index of the setting; negative for one that has no effect on objects."""
    objects: tuple[AffectedObject, ...] = ()
    """The objects that differ."""
    changes: Mapping[ObjectId, Mapping[str, Change]] = {}
    """The changes of each object by field; none for an object that the setting adds or removes."""
    hashed: frozenset[ObjectId] = frozenset()
    """The objects whose names have a hash with one value of the setting."""
    unknown: str = ""
    """The reason why the objects are unknown."""

    def undoes(self, id: ObjectId, change: Change) -> bool:
        """Return whether a change of an object disappears if the setting is set back."""
        if change.path == NAME and id in self.hashed:
            return True
        own = self.changes.get(id, {}).get(change.field)
        return own is not None and (own.kind, own.old) == (change.kind, change.old)

    def affects(self, id: ObjectId, change: Change) -> bool:
        """Return whether a changed field of an object has another value if the setting is set back."""
        return any(touches(own.new_path, change.new_path) for own in self.changes.get(id, {}).values())

    def decides_presence(self, id: ObjectId) -> bool:
        """Return whether the setting adds or removes an object."""
        return id not in self.changes and any(each.id == id for each in self.objects)


class SettingEffects:
    """The changed settings of a review, and the compilations without one of them."""

    def __init__(self, old: Versions, new: Versions, meter: Meter) -> None:
        """`meter` is that of the compilations."""
        self.edits = setting_changes.edits(old.project, new.project, partial(new.path_of, old))
        self.files = [file.path for file in new.project.settings_files]
        before = (new.path_of(old, file.path) for file in old.project.settings_files[-1:] if self.files)
        self.replaced = next((path for path in before if path not in self.files), "")
        """The file in force of the old side if the new side has another one, which does not extend it."""
        self.old = old
        self.new = new
        self.meter = meter

    def other_environments(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the environments that are none of the given ones, and that exist if a setting is set back."""
        found = dict[str, None]()
        for edit in self.edits:
            if edit.change.path[:1] == (ENVIRONMENTS,) and len(edit.change.path) < 3:
                without = self._settings_without(edit)
                if without is not None and not failed(without.diagnostics):
                    found.update(dict.fromkeys(without.environment_names or ("",)))
        wanted = self.new.run.options.environments
        return tuple(name for name in found if name not in names and (not wanted or name in wanted))

    def measured(self, side: Side, environment: str) -> list[SettingEffect]:
        """Return the effect of each changed setting on the new side in an environment."""
        return [self._effect(edit, side, environment)._replace(number=number) for number, edit in enumerate(self.edits)]

    def _effect(self, edit: SettingEdit, side: Side, environment: str) -> SettingEffect:
        path = edit.change.path
        # The only environment of a project decides whether there is a run without one.
        elsewhere = edit.environment not in ("", environment) and (environment or own_path(path))
        if elsewhere or {*own_path(path)[:1]} & NOT_MEASURED:
            return SettingEffect(edit)
        has_paths = self.files[-1:] == [edit.file] and {*own_path(path)[:1]} & WITH_PATHS
        if self.replaced and (edit.file == self.replaced or has_paths):
            return SettingEffect(edit, unknown=OTHER_FILE)
        without = self._settings_without(edit)
        if without is None:
            return SettingEffect(edit)
        if failed(without.diagnostics):
            return SettingEffect(edit, unknown=INVALID)
        try:
            self.meter.check()
            other = self.new.read_with(without, self.meter, environment)
        except OverBudgetError:
            return SettingEffect(edit, unknown=OVER)
        return _effect_of(edit, other, side)

    def _settings_without(self, edit: SettingEdit) -> Settings | None:
        """Return the settings of the new side without an edit; None if they are the same without it."""
        files = self.new.project.settings_files or self._removed_file()
        index = next((at for at, file in enumerate(files) if file.path == edit.file), None)
        if index is None:  # no file extends it
            return None
        file = files[index]
        value = file.document.value if isinstance(file.document.value, dict) else {}
        if value_at(value, edit.change.new_path[:-1]) is GONE:  # a rule of an environment that is removed
            return None
        value = undone(value, edit.change)
        # The checks search the text for the keys that it may have.
        file = file._replace(document=file.document._replace(value=value, text=json.dumps(value)))
        base = self.new.project.base
        root = base.root if base is not None else repository_above(file.folder) or file.folder
        unreadable: list[Diagnostic] = []
        if edit.change.path[:1] == (EXTENDS,) and edit.file == files[-1].path:
            extended, unreadable = extended_files(file, root, self._source(root))
            files = (*extended, file)
        else:
            files = (*files[:index], file, *files[index + 1 :])
        run = self.new.run
        found = load_base(Base(files, root, base is not None and base.relative), run.budget, unreadable)
        return run.with_settings(found._replace(file=self.new.project.file)).settings

    def _removed_file(self) -> tuple[SettingsFile, ...]:
        """Return the file that only the old side has, without content; none if that side has none, either."""
        return tuple(
            SettingsFile(file.document._replace(value={}), self.new.path_of(self.old, file.path))
            for file in self.old.project.settings_files[-1:]
        )

    def _source(self, root: str) -> FileSource:
        """Return the source of the extended files: the new side, and the old one for a file that is removed."""
        spec, base = self.new.spec, self.new.project.base
        if spec.commit is not None:
            source = commit_settings.files_of(spec.commit)
        else:
            follow_links = self.new.run.options.follow_links
            source = files_on_disk(root, relative=base is not None and base.relative, follow_links=follow_links)
        before = {self.new.path_of(self.old, file.path): file.document for file in self.old.project.settings_files}

        def read(path: str) -> File | Diagnostic:
            found = source.read(path)
            if isinstance(found, Diagnostic) and path in before:
                return File(before[path].file, before[path].text.encode())
            return found

        return FileSource(read, source.resolved)


def _effect_of(edit: SettingEdit, without: Side, side: Side) -> SettingEffect:
    """Return the effect of an edit: the differences between the new side without it, and with it."""
    before = {item.id: item for item in _items(with_old_names(side, without))}
    after = {item.id: item for item in _items(side)}
    found: dict[ObjectId, tuple[AffectedObject, list[Change]]] = {}
    for id in dict.fromkeys((*after, *before)):
        old, new = before.get(id), after.get(id)
        if old is None or new is None:
            own = id if old is None else (old.own or old).id
            found[id] = AffectedObject(own), []
        elif differing := _changes(old, new):
            renamed = old.own.id if old.own is not None and old.is_renamed else None
            found[id] = AffectedObject(id, renamed), differing
    hashed = dict.fromkeys(_rehashed(without, side, before, after, found))
    for id in hashed:
        found.setdefault(id, (AffectedObject(id), []))
    return SettingEffect(
        edit,
        objects=tuple(affected for affected, _ in found.values()),
        changes={
            id: {change.field: change for change in own}
            for id, (_, own) in found.items()
            if id in before and id in after
        },
        hashed=frozenset(hashed),
    )


def _items(side: Side) -> tuple[SideItem, ...]:
    """Return the compiled objects of a side."""
    return side.items if side.content == "compiled" else ()


def _changes(old: SideItem, new: SideItem) -> list[Change]:
    naming = renaming(old.own.tree, new.tree) if old.own is not None else []
    return naming if old.tree == new.tree else [*naming, *changes(old.tree, new.tree)]


def _rehashed(
    without: Side,
    side: Side,
    before: Mapping[ObjectId, SideItem],
    after: Mapping[ObjectId, SideItem],
    differing: Mapping[ObjectId, object],
) -> Iterator[ObjectId]:
    """Yield the objects of both sides whose names differ only in the hash, which the sides do not have."""
    flags = {each.settings.delivery.name_suffix_hash for each in (without, side)}
    if flags == {False}:
        return
    known: dict[int, bool] = {}
    changed = {id(item.job) for key in differing for item in (after.get(key),) if item is not None}
    for key, item in after.items():
        job, old = item.job, before[key].job if key in before else None
        if job is None or old is None or job.plan.job.letters_at is not None:
            continue
        if len(flags) == 2:
            yield key
        elif id(job) in changed:
            if id(job) not in known:
                known[id(job)] = _digest(job) != _digest(old)
            if known[id(job)]:
                yield key


def _digest(job: Compiled) -> str:
    return digest(job.objects)
