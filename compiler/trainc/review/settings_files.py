"""Settings files of a review: every trainc.yaml at, above or below the reviewed paths, and the files that it names.

Reads    both sides. One trainc.yaml is in force on each side: the nearest one of the first path, or that of an option.
         A command in another folder, such as the Argo CD plugin, has another one in force.
Returns  an edit for each setting that differs in a file that is not in force, also in a file that it extends or in a
         file of a patch, with the folders of the trainc.yaml files; an edit if another file is in force.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.diagnostics import Diagnostic, Document, Place
from trainc.files.confine import is_within, repository_above, resolved
from trainc.files.inputs import DEEPEST, STDIN, File
from trainc.files.selection import SETTINGS
from trainc.frontends.reading import documents_of
from trainc.provenance.tracing.correspondence import GONE
from trainc.review import commit_settings
from trainc.review.changes import Change
from trainc.review.git_objects import FOLDER, LINK, TreeEntry
from trainc.review.revisions import CommitLinkError
from trainc.review.setting_changes import OBJECT_RANK, SettingEdit, edits_of_file
from trainc.settings import files_on_disk, load_file
from trainc.settings.keys import ENVIRONMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.review.changes import Kind
    from trainc.review.revisions import Commit
    from trainc.review.side_environments import Versions
    from trainc.settings import Settings
    from trainc.settings.extending import FileSource

NAMING: Final = (b"extends", b"patches")
"""The words that a settings file has if it names other files."""
IN_FORCE: Final = f"{SETTINGS} in force"
"""The name of the setting that is the file in force."""


class _Found(NamedTuple):
    """A trainc.yaml of a side, with the files that it names."""

    documents: dict[str, Document]
    """The documents of the file and of those that it extends, by absolute path."""
    patches: dict[str, Any]
    """The content of the files of its patches, by absolute path."""
    fault: str = ""
    """The reason why it cannot be read."""


def edits(old: Versions, new: Versions) -> list[SettingEdit]:
    """Return the edits of the settings files that are not in force, and of the choice of the one that is."""
    own = [_own_path(side) for side in (old, new)]
    paths = [{*_paths(side)} for side in (old, new)]
    # Two sides on disk may have the same file.
    same = paths[0] & paths[1] if old.spec.commit is new.spec.commit is None else set()
    before = {new.path_of(old, path): path for path in paths[0] - same}
    after = {path: path for path in paths[1] - same}
    found: dict[object, SettingEdit] = {}
    own_before = own[0] and new.path_of(old, own[0])
    for path in sorted(before.keys() | after.keys()):
        if path == own[1] or (path == own_before and path not in after):
            continue
        if path in before and path in after and _is_same(old, before[path], new, path):
            continue
        sides = (_read(old, before[path]) if path in before else None, _read(new, path) if path in after else None)
        for edit in _edits_of(path, *sides, old, new):
            change = edit.change
            key = (edit.place.document.file, change.field, change.kind, repr((change.old, change.new)))
            folders = dict.fromkeys((*(found[key].folders if key in found else ()), _folder(path, new, old)))
            found[key] = edit._replace(folders=tuple(folders), in_force=False, rank=OBJECT_RANK)
    switch = [] if own[1] in {*own[:1], own_before} else [*_switch(old, new)]
    return [*switch, *found.values()]


def folders(old: Versions, new: Versions) -> tuple[str, ...]:
    """Return the folder of the trainc.yaml in force, that of the new side if it has one."""
    paths = ((_own_path(side), side, other) for side, other in ((new, old), (old, new)))
    return tuple(_folder(*each) for each in paths if each[0])[:1]


def _own_path(side: Versions) -> str:
    """Return the absolute path of the file in force; empty without one."""
    files = side.project.settings_files
    return files[-1].path if files else ""


def _folder(path: str, side: Versions, other: Versions) -> str:
    """Return a settings file's folder as a review shows it: in one of two compared folders, or in the working tree."""
    commit = side.spec.commit
    top = side.spec.folder if side.spec.paths != other.spec.paths else os.curdir if commit is None else commit.top
    return os.path.relpath(os.path.dirname(path), top)


def _switch(old: Versions, new: Versions) -> Iterator[SettingEdit]:
    """Yield the edit that another file is in force, or the only one if it has no settings."""
    before, after = (side.project.settings_files[-1:] for side in (old, new))
    names = [
        side.spec.without_revision(files[0].document.file) if files else GONE
        for side, files in ((old, before), (new, after))
    ]
    if not (before and after) and any(files and files[0].document.value for files in (before, after)):
        return  # each of its settings is an edit
    gone = not after
    kind: Kind = "removed" if gone else "changed" if before else "added"
    change = Change(kind, IN_FORCE, (), (), *names)
    place = Place((before if gone else after)[0].document, ())
    yield SettingEdit(change, place, ({}, {}), gone, OBJECT_RANK, folders=folders(old, new), is_switch=True)


def _edits_of(
    path: str, before: _Found | None, after: _Found | None, old: Versions, new: Versions
) -> Iterator[SettingEdit]:
    """Yield the edits of a trainc.yaml that is not in force, and of the files that it names."""
    none = _Found({}, {})
    was, now = before or none, after or none
    names = {new.path_of(old, at): at for at in (*was.documents, *was.patches)}
    count = 0
    for at in dict.fromkeys((*now.documents, *(new.path_of(old, each) for each in was.documents))):
        for edit in edits_of_file(_document(old, was, names.get(at, at)), _document(new, now, at)):
            count += 1
            yield edit
    whole = _WholeFile(old, new)
    if (before is None or after is None) and not count:
        yield whole.edit(path, SETTINGS, *(GONE if side is None else side.fault or {} for side in (before, after)))
    elif was.fault != now.fault and before and after:
        yield whole.edit(path, SETTINGS, was.fault or "can be read", now.fault or "can be read")
    for at in dict.fromkeys((*now.patches, *(new.path_of(old, each) for each in was.patches))):
        values = was.patches.get(names.get(at, at), GONE), now.patches.get(at, GONE)
        if repr(values[0]) != repr(values[1]):
            yield whole.edit(at, f"patch {os.path.basename(at)}", *values)


def _document(side: Versions, file: _Found, path: str) -> Document | None:
    """Return a document of a side; an extended file may exist without being extended."""
    if path in file.documents or not file.documents:
        return file.documents.get(path)
    return _read(side, path).documents.get(path)


class _WholeFile(NamedTuple):
    """Two sides, of which a file is compared as a whole."""

    old: Versions
    new: Versions

    def edit(self, path: str, name: str, before: Any, after: Any) -> SettingEdit:
        """Return the edit of a file with a content on each side, or GONE."""
        gone = after is GONE
        kind: Kind = "removed" if gone else "added" if before is GONE else "changed"
        trees = tuple(value if isinstance(value, dict) else {} for value in (before, after))
        document = Document(file=_name(self.old if gone else self.new, path), line=1, text="", value={})
        change = Change(kind, name, (), (), before, after)
        return SettingEdit(change, Place(document, ()), (trees[0], trees[1]), gone, OBJECT_RANK)


def _name(side: Versions, path: str) -> str:
    commit = side.spec.commit
    return os.path.relpath(path) if commit is None else commit.named(os.path.relpath(path, commit.top))


def _is_same(old: Versions, before: str, new: Versions, after: str) -> bool:
    """Return whether a file is the same on both sides, and names no other file."""
    one, other = _source(old, before).read(before), _source(new, after).read(after)
    if isinstance(one, Diagnostic) or isinstance(other, Diagnostic):
        return False
    return one.data == other.data and not any(word in one.data for word in NAMING)


def _read(side: Versions, path: str) -> _Found:
    """Return a settings file of a side, with the files that it names."""
    source = _source(side, path)
    file = source.read(path)
    if isinstance(file, Diagnostic):
        return _Found({}, {}, file.message)
    is_on_disk, limits = side.spec.commit is None, side.options.budget
    settings = load_file(file, path, source, root=_root(side, path), relative=is_on_disk, limits=limits)
    documents = {each.path: each.document for each in settings.settings_files}
    if not documents:
        return _Found({}, {}, settings.diagnostics[0].message)
    return _Found(documents, dict(_patches(settings, source)))


def _source(side: Versions, path: str) -> FileSource:
    """Return the source of the files that a settings file of a side names, and of itself."""
    if side.spec.commit is not None:
        return commit_settings.files_of(side.spec.commit)
    return files_on_disk(_root(side, path), relative=True, follow_links=side.options.follow_links)


def _root(side: Versions, path: str) -> str:
    if side.spec.commit is not None:
        return side.spec.commit.top
    return repository_above(os.path.dirname(path)) or os.path.dirname(path)


def _patches(settings: Settings, source: FileSource) -> Iterator[tuple[str, Any]]:
    """Yield the files of the patches of some settings, with their content, or the reason why they cannot be read."""
    for file in settings.settings_files:
        value = file.document.value if isinstance(file.document.value, dict) else {}
        environments = value.get(ENVIRONMENTS)
        layers = [value, *(environments.values() if isinstance(environments, dict) else ())]
        for layer in layers:
            items = layer.get("patches") if isinstance(layer, dict) else None
            for item in items if isinstance(items, list) else ():
                written = item.get("path") if isinstance(item, dict) else None
                if isinstance(written, str) and "\0" not in written:
                    path = os.path.normpath(os.path.join(file.folder, written))
                    yield path, _content(source.read(path))


def _content(file: File | Diagnostic) -> Any:
    """Return the documents of a patch file."""
    if isinstance(file, Diagnostic):
        return file.message
    found = [each.message if isinstance(each, Diagnostic) else each.value for each in documents_of(file)]
    return found[0] if len(found) == 1 else found


def _paths(side: Versions) -> Iterator[str]:
    """Yield the absolute path of each trainc.yaml at, above or below the paths of a side."""
    paths = [*side.spec.paths]
    if side.spec.project:
        paths += [source.path for source in side.project.sources]
    seen = dict[str, None]()
    for path in paths:
        if path == STDIN:
            continue
        commit = side.spec.commit
        inside = None if commit is None else commit.path_in_repository(path)
        if commit is not None and inside is not None:
            seen.update(dict.fromkeys(os.path.join(commit.top, found) for found in _in_commit(commit, inside)))
        else:
            seen.update(dict.fromkeys(_on_disk(os.path.abspath(path))))
    yield from seen


def _in_commit(commit: Commit, path: str) -> Iterator[str]:
    """Yield each trainc.yaml at, above or below a path of a commit."""
    at: str | None = path
    while at is not None:
        name = f"{at}/{SETTINGS}" if at else SETTINGS
        if commit.entry(name) is not None:
            yield name
        at = at.rpartition("/")[0] if at else None
    yield from _below_in_commit(commit, path, set(), 0)


def _below_in_commit(commit: Commit, path: str, seen: set[str], depth: int) -> Iterator[str]:
    try:
        real = commit.resolved(path)
    except CommitLinkError:
        return
    entry = None if real is None else commit.entry(real)
    if real is None or entry is None or entry.mode != FOLDER or real in seen or depth > DEEPEST:
        return
    seen.add(real)
    entries: Mapping[str, TreeEntry] = commit.objects.tree(entry.object)
    for name, below in sorted(entries.items()):
        found = f"{path}/{name}" if path else name
        if name == SETTINGS:
            yield found
        elif below.mode in {FOLDER, LINK} and not name.startswith("."):
            yield from _below_in_commit(commit, found, seen, depth + 1)


def _on_disk(path: str) -> Iterator[str]:
    """Yield each trainc.yaml at, above or below a path on disk."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    root, at = repository_above(folder), folder
    while True:
        if os.path.lexists(os.path.join(at, SETTINGS)):
            yield os.path.join(at, SETTINGS)
        if root is None or at == root or not is_within(at, root):
            break
        at = os.path.dirname(at)
    if os.path.isdir(path):
        yield from _below_on_disk(path, resolved(root or path), set(), 0)


def _below_on_disk(folder: str, root: str, seen: set[str], depth: int) -> Iterator[str]:
    real = resolved(folder)
    if real in seen or depth > DEEPEST or not is_within(real, root):
        return
    seen.add(real)
    try:
        with os.scandir(folder) as entries:
            found = sorted((entry.name, entry.is_dir()) for entry in entries)
    except OSError:
        return  # the review reports a folder that cannot be listed
    for name, is_folder in found:
        path = os.path.join(folder, name)
        if name == SETTINGS:
            yield path
        elif is_folder and not name.startswith("."):
            yield from _below_on_disk(path, root, seen, depth + 1)
