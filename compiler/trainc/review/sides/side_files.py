"""The files of a side, and the differences that a review does not compare: nothing that could reach a cluster is
passed over in silence.

Reads    the files and faults that a side's walk yields, and the entries that it leaves out.
Returns  each file by its path, so that the files of two sides can be compared; and each difference that the objects and
         settings of the review do not show, with the reason: an object of a kind that trainc does not compile, a file
         that cannot be read or that the settings leave out, a submodule, an output of a build. Documents without
         apiVersion or kind are no objects and are left out, as are hidden files.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cached_property, partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from trainc.base.kinds import COMPILED, find
from trainc.compilation.important_objects import is_important, loses_data
from trainc.diagnostics import Diagnostic, Location, ObjectId
from trainc.files import inputs
from trainc.files.confine import is_within, repository_above
from trainc.files.exclude import Excluded, Patterns
from trainc.files.inputs import File
from trainc.files.output_marks import is_marked
from trainc.files.outputs import PASSED
from trainc.files.selection import Selection, is_manifest
from trainc.files.walk import fault
from trainc.frontends import sort
from trainc.frontends.configmaps import without_runtimes
from trainc.frontends.kustomizations import is_kustomization
from trainc.frontends.reading import documents_of
from trainc.frontends.templates import CHART, placeholder
from trainc.review.commits import commit_files
from trainc.review.commits.git_objects import FOLDER, LINK
from trainc.review.sides import parameter_files, rendered_files
from trainc.review.sides.rendered_files import WRITTEN, without_server_fields

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence

    from trainc.base.kinds import Kind
    from trainc.diagnostics import Document
    from trainc.files.selection import Role
    from trainc.frontends.reading import Reading
    from trainc.review.commits import Commit
    from trainc.review.commits.git_objects import TreeEntry
    from trainc.review.sides.moves import MovableDocuments
    from trainc.review.sides.parameter_files import ChangedParameter
    from trainc.settings import ProjectPath, Settings
LFS: Final = b"version https://git-lfs.github.com/spec/"
"""The start of a file of git-lfs, which only names the content."""
REASONS: Final = {
    "excluded": "a pattern of exclude leaves it out",
    "patch": "it is a patch that changes no compared object",
    "output": "it is an output; compare the output folders",
    "link": "it is a link to a path that is compared under its own name",
    "kept": "keep leaves it in the output folder",
    "submodule": "it is a submodule, whose files are in another repository",
    "parameters": "Argo CD overrides the source of an Application with it",
}
LFS_REASON: Final = "it is a pointer of git-lfs, whose content is not in git"
OTHER_KIND: Final = "trainc does not compile objects of this kind"
PART: Final = "it is a patch of a kustomization, which trainc does not apply"
KUSTOMIZATION: Final = "it is a kustomization, which trainc does not apply"
OF_CHART: Final = "it is a file of a Helm chart, which trainc does not render"
NO_IDENTITY: Final = "a document has no apiVersion, kind or name"
MODULE_HELP: Final = "add its files to the repository"
Key = tuple[str, ...]
Status = Literal["added", "removed", "changed"]


class SideFile(NamedTuple):
    """A file of a side, a submodule, or a path that cannot be read."""

    path: str
    """Its path without a revision."""
    role: Role
    data: bytes = b""
    """Its content; the commit of a submodule, the target of a link that cannot be read."""
    fault: str = ""
    """The reason why it cannot be read; empty if it is read."""


class SideFiles:
    """The files of a side in all its environments. An entry is left out only if all environments leave it out."""

    def __init__(self, paths: Sequence[str], commit: Commit | None, *, follow_links: bool) -> None:
        """`paths` are those of the side, as the user gave them."""
        self.paths = paths
        self.commit = commit
        self.follow_links = follow_links
        self.left_out: dict[str, tuple[Role, str]] = {}
        """The entries that a walk leaves out: the role, and the git object."""
        self._links: dict[str, str] = {}
        """The targets of links, as absolute paths."""
        self._walked: tuple[str, ...] = ()
        """The absolute paths of the walks."""
        self._read: dict[str, SideFile] = {}
        self.parts: set[str] = set()
        """The paths of the files that a kustomization lists as patches."""
        self.kinds: set[Kind] = {*COMPILED}
        self.is_rendered = False
        self._settings: list[Settings] = []
        """The settings of each environment."""

    def leave_out(self, path: str, role: Role, object: str) -> None:
        """Record an entry that a walk leaves out."""
        name = self._without_revision(path)
        if role == "link":
            self._links[name] = object
            return
        if role == "hidden" and parameter_files.is_parameter_file(name):
            role = "parameters"
        self.left_out.setdefault(name, (role, object))

    def renders_not(self, role: str, document: Document) -> bool:
        """Return whether a document is a template or the values of a Helm chart, without an object that is compared."""
        above = PurePath(document.file).parents
        if self.is_rendered or not any(str(folder / CHART) in self._normal for folder in above):
            return False
        if role == "other":
            return rendered_files.identity(document) is None
        return "{{" in document.text and placeholder(document) is not None

    def lists_others(self, file: str) -> bool:
        """Return whether the objects of other kinds in a file are neither compared nor left out by a setting."""
        if self.is_rendered:
            return False
        return any(own.passthrough is None for own in self._settings)

    def add(self, reading: Reading, own: Settings, paths: Iterable[str]) -> None:
        """Add the files of an environment with its settings; `paths` are those of its walk."""
        self._walked += tuple(map(os.path.abspath, paths))
        self._settings.append(own)
        self.kinds.update(own.kinds)
        for file in reading.kept or ():
            self.add_file(file)
        if reading.kustomizations is not None:
            is_part = reading.kustomizations.is_part
            files = (file for file in reading.kept or () if isinstance(file, File))
            self.parts |= {self._without_revision(file.path) for file in files if is_part(file.path)}

    def add_file(self, file: File | Diagnostic) -> None:
        """Add a file, or the fault of a path."""
        if isinstance(file, File):
            name = self._without_revision(file.path)
            if not file.above:
                self._read[name] = SideFile(name, "output" if file.output else "manifest", file.data)
        elif isinstance(file.place, Location):
            name = self._without_revision(file.place.file)
            self._read[name] = self._unreadable(name, "manifest", file.message)

    @property
    def keep(self) -> tuple[str, ...]:
        """The patterns of the files that stay in the output folder."""
        return self._settings[0].keep if self._settings else ()

    def named(self, path: str) -> str:
        """Return the name of a file in messages."""
        return path if self.commit is None else self.commit.named(path)

    def _without_revision(self, path: str) -> str:
        return path if self.commit is None else path.removeprefix(self.commit.named(""))

    def all_read(self) -> list[SideFile]:
        """Return the files that are read in any environment."""
        return [*self._read.values()]

    @cached_property
    def _normal(self) -> set[str]:
        """The paths of the files that are read, without `./`."""
        return {str(PurePath(path)) for path in self._read}

    def has(self, path: str) -> bool:
        """Return whether the side has a path: it is read or left out, or a file below it is."""
        return path in self._known_paths

    @cached_property
    def _known_paths(self) -> set[str]:
        """The paths that are read or left out, and the folders above them."""
        found = set[str]()
        for path in (*self._read, *self.left_out):
            at = path
            while at not in found:
                found.add(at)
                at = at.rpartition("/")[0]
        return found

    def drops(self, document: Document) -> bool:
        """Return whether a review of a rendered and a compiled side drops an object of a kind that is not compiled."""
        is_written = document.value.get("kind") in WRITTEN and not document.file.endswith(PASSED)
        return not (self.is_rendered and is_written) and not any(own.passthrough for own in self._settings)

    def by_path(self, other: SideFiles, keep: Collection[str] = ()) -> dict[Hashable, SideFile]:
        """Return the files by the paths that both sides share; those that both sides leave out unchanged are missing.

        `keep` are the patterns of the files that stay in the output folder, which are compared, too.
        """
        found, is_same = dict(self._read), self.paths == other.paths
        if keep and not self.is_rendered:
            found |= {file.path: file for file in self._kept_files(keep)}
        for path, (role, object) in self.left_out.items():
            if path in self._read or (object and other.left_out.get(path) == (role, object)):
                continue
            if role == "submodule":
                found[path] = SideFile(path, role, object.encode())
            elif role == "excluded" and is_same and not other.has(path):
                found[path] = SideFile(path, role)  # one row, also for a folder such as .venv
            elif role in {"excluded", "patch", "parameters"}:
                found |= {file.path: file for file in self._left_out_files(path, role) if file.path not in self._read}
        if is_same:
            found |= {file.path: file for file in self._parameters_above() if file.path not in found}
        key = partial(_key, self, is_same=is_same)
        links = {
            ("link", key(path)): SideFile(path, "link", repr(key(target)).encode())
            for path, target in self._inner_links()
        }
        return {key(path): file for path, file in found.items()} | links

    def _parameters_above(self) -> Iterator[SideFile]:
        """Yield the files of Argo CD's parameters in the folders above the paths, up to the root."""
        for folder in dict.fromkeys(above for path in self._walked for above in _folders_above(path, self.commit)):
            for name in self._names_in(folder):
                if parameter_files.is_parameter_file(name):
                    path = os.path.join(folder, name)
                    shown = os.path.relpath(path, self.commit.top) if self.commit else os.path.relpath(path)
                    yield from self._left_out_files(shown, "parameters")

    def _names_in(self, folder: str) -> Iterable[str]:
        """Return the names in a folder of the working tree, or of the commit."""
        if self.commit is None:
            return os.listdir(folder) if os.path.isdir(folder) else ()
        inside = self.commit.path_in_repository(folder)
        entry = None if inside is None else self.commit.entry(inside)
        return () if entry is None or entry.mode != FOLDER else self.commit.entries(entry)

    def _inner_links(self) -> Iterator[tuple[str, str]]:
        """Yield the links with targets below the paths, which a walk reads only once."""
        for path, target in self._links.items():
            if any(is_within(target, walked) for walked in self._walked):
                yield path, target

    @property
    def has_settings(self) -> bool:
        """Whether the side is one of a project with settings."""
        return bool(self._settings) and self._settings[0].document is not None

    @property
    def output(self) -> ProjectPath | None:
        """The output folder of the project."""
        return self._settings[0].output if self._settings else None

    @property
    def renders_nothing(self) -> bool:
        """Whether the project says that nothing is rendered: `output: none`."""
        return bool(self._settings) and self._settings[0].renders_nothing

    def has_output_of(self, other: SideFiles) -> bool:
        """Return whether both sides have the same files in the output folder, and at least one."""
        if self.output is None or other.output is None or self.output.written != other.output.written:
            return False
        if self.commit is not None and other.commit is not None:
            inside = self.commit.path_in_repository(self.output.path)
            entries = [None if inside is None else commit.entry(inside) for commit in (self.commit, other.commit)]
            return entries[0] is not None and entries[0] == entries[1]
        sides = (self, other) if self.commit is not None else (other, self)  # a commit knows the names of its objects
        files = sides[0]._output_files()
        return files != {} and files == sides[1]._output_files(len(next(iter(files.values()))))

    def _output_files(self, length: int = 40) -> dict[str, str]:
        """Return the names in git of the files in the output folder; `length` is that of a name."""
        if self.output is None:
            return {}
        if self.commit is not None:
            inside = self.commit.path_in_repository(self.output.path)
            entry = None if inside is None else self.commit.entry(inside)
            found = () if entry is None else _blobs(self.commit, os.path.abspath(self.output.path), entry)
            return {path: name for path, name in found if is_manifest(os.path.basename(path))}
        read = self._files_of(self.output.path, Selection(read_before=()))
        return {os.path.abspath(file.path): _blob_name(length, file.data) for file in read if isinstance(file, File)}

    def _kept_files(self, keep: Collection[str]) -> Iterator[SideFile]:
        """Yield the files that stay in the output folder."""
        output = self.output
        if output is None:
            return
        kept = Excluded([Patterns(os.path.abspath(output.path), tuple(keep))])
        for file in self._files_of(output.path, Selection(read_before=())):
            path = self._without_revision(file.path) if isinstance(file, File) else ""
            if isinstance(file, File) and kept.matches(_absolute_path(self.commit, path), is_folder=False):
                yield SideFile(path, "kept", file.data)

    def _files_of(self, path: str, selection: Selection) -> Iterator[File | Diagnostic]:
        """Yield the files of a path of the working tree."""
        if self.commit is None:
            if os.path.lexists(path):
                yield from inputs.read([path], selection, follow_links=self.follow_links)
        else:
            yield from commit_files.read(self.commit, [path], selection)

    def _left_out_files(self, path: str, role: Role) -> Iterator[SideFile]:
        """Yield the files of an entry that the walk left out."""
        for file in self._files_of(path if self.commit is None else _absolute_path(self.commit, path), inputs.ALL):
            if isinstance(file, File):
                yield SideFile(self._without_revision(file.path), role, file.data)
            elif isinstance(file.place, Location):
                yield self._unreadable(self._without_revision(file.place.file), role, file.message)

    def _unreadable(self, path: str, role: Role, fault: str) -> SideFile:
        """Return a path that cannot be read. Links are compared by their targets."""
        if self.commit is not None:
            entry = self.commit.entry(path)
            is_link = entry is not None and entry.mode == LINK
            content = "" if entry is None else self.commit.objects.target(entry.object) if is_link else entry.object
        else:
            content = os.readlink(path) if os.path.islink(path) else fault
        return SideFile(path, role, os.fsencode(content or ""), fault)


def _key(files: SideFiles, path: str, *, is_same: bool) -> Hashable:
    """Return the key of a path: the path itself, or the one in the paths of the side if two sides have other paths."""
    full = _absolute_path(files.commit, path)
    if is_same:
        return full
    for number, given in enumerate(files.paths):
        root = os.path.abspath(given)
        if is_within(full, root):
            return number, os.path.relpath(full, root)
    return full


def _folders_above(path: str, commit: Commit | None) -> Iterator[str]:
    """Yield the folders above an absolute path, up to the root of its repository; none outside of one."""
    top = repository_above(path) if commit is None else commit.top
    while top and path != top and is_within(path, top):
        path = os.path.dirname(path)
        yield path


def _absolute_path(commit: Commit | None, path: str) -> str:
    """Return the absolute path that a file of a side has in the working tree."""
    return os.path.abspath(path if commit is None else os.path.join(commit.top, path))


def _blobs(commit: Commit, path: str, entry: TreeEntry) -> Iterator[tuple[str, str]]:
    """Yield the paths of the files at an entry of a commit, and their names in git, without reading them."""
    if entry.mode != FOLDER:
        yield path, entry.object
        return
    for name, below in commit.entries(entry).items():
        yield from _blobs(commit, f"{path}/{name}", below)


def _blob_name(length: int, data: bytes) -> str:
    kind = "sha1" if length == 40 else "sha256"
    return hashlib.new(kind, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class NotCompared(NamedTuple):
    """A difference between the files of the sides that the review does not compare."""

    file: str
    """The path within the side, without a revision."""
    status: Status
    reason: str
    object: ObjectId | None = None
    """The object of a kind that trainc does not compile; None for a file as a whole."""
    changes: tuple[ChangedParameter, ...] = ()
    """What changes in a file of Argo CD's parameters, without secrets."""

    @property
    def is_important(self) -> bool:
        """Whether it may give rights, run code or delete data, or changes what an Application deploys."""
        return self.reason == REASONS["parameters"] if self.object is None else is_important(self.object)

    @property
    def loses_data(self) -> bool:
        """Whether it is a removed object, and a tool that prunes deletes it with its data."""
        return self.status == "removed" and self.object is not None and loses_data(self.object, frozenset())


class _Content:
    """The content of a file that differs between the sides."""

    def __init__(self, file: SideFile, files: SideFiles, *, beside_rendered: bool = False) -> None:
        """`beside_rendered` is whether one side is rendered, which is compared only in the kinds that trainc writes."""
        self.reason = _reason(file, files)
        self.objects: dict[Key, Document] = {}
        """The objects of kinds that are not compared, by identity."""
        self.values: list[Any] = []
        """The documents, if the file has a reason for which it is not compared."""
        self.compared: list[Document] = []
        """The documents of any kind that have an identity, if the file has no such reason."""
        if file.fault or not file.data or file.role in {"submodule", "link"}:
            self.values.append(file.data)
            return
        for document in documents_of(File(file.path, file.data)):
            if isinstance(document, Diagnostic):
                self.reason = self.reason or f"it cannot be read: {document.message}"
                self.values.append(file.data)
            elif self.reason:
                self.values.append(document.value)
            else:
                self._sort(document, files, beside_rendered=beside_rendered)

    def _sort(self, document: Document, files: SideFiles, *, beside_rendered: bool) -> None:
        """Add the objects of a document that are not compared."""
        for found in sort(document, files.kinds):
            if isinstance(found, Diagnostic):
                self.reason = self.reason or f"it cannot be read: {found.message}"
                self.values.append(document.value)
                continue
            if files.renders_not(*found):
                self.reason = OF_CHART
                self.values.append(document.value)
                return
            self.compared.append(found[1])
            if beside_rendered:
                if found[0] == "other" and files.drops(found[1]):
                    self._add(found[1])
            elif files.is_rendered:
                if rendered_files.identity(found[1]) is None:
                    self.reason = NO_IDENTITY
                    self.values.append(found[1].value)
            elif found[0] == "other" and files.lists_others(found[1].file):
                self._add(found[1])

    def _add(self, document: Document) -> None:
        """Add an object; a document without apiVersion or kind is none."""
        id = ObjectId.from_source(document.value)
        if id.kind == "ConfigMap":  # the runtimes in it are compared
            document = document._replace(value=without_runtimes(document))
        if id.apiVersion and id.kind:
            key: Key = id.apiVersion.rpartition("/")[0], *id[1:]
            # Several objects can have one generateName, or none.
            while key in self.objects:
                key = (*key, "")
            self.objects[key] = document


def _reason(file: SideFile, files: SideFiles) -> str:
    """Return the reason why a file is not compared; empty if its documents decide."""
    if file.fault:
        return f"it {file.fault}"
    if parameter_files.is_parameter_file(file.path):
        return REASONS["parameters"]
    if file.data.startswith(LFS):
        return LFS_REASON
    if files.is_rendered and file.role not in {"submodule", "link"}:
        return ""
    if file.role in REASONS:
        return REASONS[file.role]
    if is_marked(file.data):
        return REASONS["output"]
    if file.path in files.parts:
        return PART
    return KUSTOMIZATION if is_kustomization(file.path) else ""


def not_compared(old: SideFiles, new: SideFiles, causes: set[str], movable: MovableDocuments) -> list[NotCompared]:
    """Return the differences between the files of two sides that a review does not compare.

    `causes` are the files of the causes of compared changes. The documents of files that differ are added to `movable`.
    """
    is_beside = old.is_rendered != new.is_rendered
    found = _objects_beside_rendered(old, new) if is_beside else _differences(old, new, causes, movable)
    return sorted(found, key=lambda row: (row.file, row.object or ObjectId(), row.reason))


def submodule_faults(rows: Iterable[NotCompared], new: SideFiles) -> tuple[Diagnostic, ...]:
    """Return an error for each submodule in a rendered folder of the new side."""
    modules = [row for row in rows if new.is_rendered and row.reason == REASONS["submodule"]]
    return tuple(fault(new.named(row.file), row.reason.removeprefix("it "), MODULE_HELP) for row in modules)


def _differences(old: SideFiles, new: SideFiles, causes: set[str], movable: MovableDocuments) -> Iterator[NotCompared]:
    """Yield the differences between the files of two sides of the same kind."""
    patterns = {*old.keep, *new.keep}
    before, after = old.by_path(new, patterns), new.by_path(old, patterns)
    is_same = old.paths == new.paths
    objects: tuple[dict[Key, Document], dict[Key, Document]] = {}, {}
    for path in dict.fromkeys((*after, *before)):
        pair = before.get(path), after.get(path)
        if _is_same(*pair):
            continue
        sides = zip(pair, (old, new), strict=True)
        contents = [None if file is None else _Content(file, files) for file, files in sides]
        for known, placed, content in zip(objects, (movable.old, movable.new), contents, strict=True):
            if content is not None:
                _add_objects(known, content.objects)
                placed.add(content.compared, path)
        # Of two paths, only one may have an output folder.
        yield from (row for row in _row(pair, contents, causes) if is_same or row.reason != REASONS["output"])
    yield from (row for _, row in _object_rows(*objects))


def _objects_beside_rendered(old: SideFiles, new: SideFiles) -> Iterator[NotCompared]:
    """Yield the objects of a rendered side that the compiled side lacks, of kinds that trainc does not compile.

    A rendered folder that is compared with its sources may have more objects.
    """
    if old.paths != new.paths:
        return
    objects: tuple[dict[Key, Document], dict[Key, Document]] = {}, {}
    for known, files in zip(objects, (old, new), strict=True):
        for file in files.all_read():
            _add_objects(known, _Content(file, files, beside_rendered=True).objects)
    rendered = objects[new.is_rendered]
    yield from (row for key, row in _object_rows(*objects) if key in rendered)


def _add_objects(known: dict[Key, Document], more: Mapping[Key, Document]) -> None:
    """Add objects to known ones; two objects of one identity are two."""
    for identity, document in more.items():
        key = identity
        while key in known:
            key = (*key, "")
        known[key] = document


def _is_same(old: SideFile | None, new: SideFile | None) -> bool:
    """Return whether a file has the same content on both sides, and is read or left out on both."""
    return old is not None and new is not None and (old.data, bool(old.fault)) == (new.data, bool(new.fault))


def _row(
    pair: tuple[SideFile | None, SideFile | None], contents: list[_Content | None], causes: set[str]
) -> Iterator[NotCompared]:
    """Yield the row of a file that is not compared as a whole, or has a document that cannot be compared."""
    old, new = contents
    own = new or old
    file = pair[1] or pair[0]
    assert own is not None  # one of the sides has the file
    assert file is not None
    if not own.reason or (file.role == "patch" and file.path in causes):
        return
    if old is not None and new is not None and old.reason and old.values == new.values:
        return  # only comments differ
    values = [next(iter(content.values), None) if content else None for content in contents]
    is_parameters = own.reason == REASONS["parameters"]
    yield NotCompared(
        file.path,
        _status(old, new),
        own.reason,
        changes=parameter_files.changed_parameters(*values) if is_parameters else (),
    )


def _object_rows(old: Mapping[Key, Document], new: Mapping[Key, Document]) -> Iterator[tuple[Key, NotCompared]]:
    """Yield a row for each object that differs, with its identity."""
    for key in dict.fromkeys((*new, *old)):
        before, after = old.get(key), new.get(key)
        document = after or before
        assert document is not None  # one of the sides has it
        if before and after and _canonical(before) == _canonical(after):
            continue
        id = ObjectId.from_source(document.value)
        kind = find(id.apiVersion, id.kind)
        reason = OTHER_KIND if kind is None else f"it is compiled only with --legacy {kind.name}"
        yield key, NotCompared(document.file, _status(before, after), reason, id)


def _canonical(document: Document) -> str:
    """Return the text of an object, whatever the order of its fields is. To == alone, 1 and True are equal, too."""
    return json.dumps(without_server_fields(document.value), sort_keys=True, default=str)


def _status(old: object, new: object) -> Status:
    """Return the status of a file or an object; None is a side without it."""
    return "added" if old is None else "removed" if new is None else "changed"
