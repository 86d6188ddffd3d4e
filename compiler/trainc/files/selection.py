"""The role of each file in a folder: whether it is read as a manifest, and if not, why.

Reads    the name and the path of an entry, and the files and patterns that trainc.yaml and the command line name.
Returns  its role. The path that a command names has no influence on it, so that every command and both sides of a
         review see the same manifests. Only a file that is itself a PATH is read whatever its role is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from trainc.base.records import NamedTuple
from trainc.files.confine import is_within

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from trainc.files.exclude import Excluded, Patterns

Role = Literal[
    "manifest",
    "output",
    "settings",
    "patch",
    "written",
    "excluded",
    "hidden",
    "other",
    "submodule",
    "kept",
    "link",
    "project",
    "parameters",
]
"""The role of an entry, before its content is read.

manifest  a file that is read, a folder that is opened, or a link
output    a file in the output folder, which is read only to find sources among the outputs
settings  a trainc.yaml, or a file that one extends
patch     a file with a patch of trainc.yaml
written   a file or folder that the command writes
excluded  an entry that matches an exclude pattern
hidden    an entry whose name starts with a dot
other     a file without the name of a manifest
submodule a folder of a commit whose files are in another repository
link      a link below the paths; its target is read, too, if it was not read before
kept      a file in the output folder that the setting `keep` names
project   the folder of another project, which has settings of its own
parameters a hidden file with which Argo CD overrides the source of an Application; only a review reads it
"""

SUFFIXES: Final = (".yaml", ".yml", ".json")
KUSTOMIZATION: Final = "Kustomization"
"""The name of a kustomization file without a suffix."""
KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", KUSTOMIZATION)
"""The names of the files that kustomize looks for."""
SETTINGS: Final = "trainc.yaml"
"""The name of the settings file, which is not a manifest."""
GIT: Final = ".git"
"""The name of git's own folder, which no commit contains."""


def is_manifest(name: str) -> bool:
    """Return whether kubectl or kustomize reads a file in a folder, by its name.

    >>> is_manifest("job.yaml"), is_manifest(".hidden.json"), is_manifest("README.md")
    (True, True, False)
    """
    return name.endswith(SUFFIXES) or name == KUSTOMIZATION


class Selection(NamedTuple):
    """The files and folders below the paths of a run that are not manifests."""

    settings: Collection[str] = ()
    """Settings files with other names than trainc.yaml."""
    patches: Collection[str] = ()
    outputs: Collection[str] = ()
    """Output folders."""
    written: Collection[str] = ()
    """Other files and folders that the command writes; they are read below a path that is in one of them."""
    exclude: Collection[Patterns] = ()
    read_before: Collection[str] | None = None
    """If it is not None, all files with the name of a manifest are read, as kubectl does, but these paths."""
    leave_out: Callable[[str, Role, str], object] | None = None
    """Called for each entry that is not read, with its path, role and git object, and for each link with its target."""
    projects: Collection[str] = ()
    """The folders of projects: one below a path is left out."""
    names_only: bool = False
    """Whether no file is read: manifests are left out, too."""


class Roles:
    """The roles of the entries of one walk."""

    def __init__(self, selection: Selection, paths: Iterable[str], resolve: Callable[[str], str]) -> None:
        """`paths` are those of the run; `resolve` returns an absolute path without links."""
        self._settings = frozenset(map(resolve, selection.settings))
        self._patches = frozenset(map(resolve, selection.patches))
        self._outputs = tuple(map(resolve, selection.outputs))
        written = [resolve(path) for path in selection.written]
        given = [resolve(path) for path in paths] if written else []
        self._written = tuple(out for out in written if not any(is_within(path, out) for path in given))
        self._read_before = selection.read_before
        self._leave_out = selection.leave_out
        self._projects = frozenset(map(resolve, selection.projects))
        self._names_only = selection.names_only
        self.excluded: Excluded | None = None
        if selection.exclude:
            from trainc.files.exclude import Excluded

            self.excluded = Excluded([*selection.exclude])

    def role(self, name: str, path: str, real: str, *, is_file: bool, is_folder: bool) -> Role:
        """Return the role of an entry of a folder; a link is neither a file nor a folder.

        Args:
            name: its name.
            path: its path as messages show it.
            real: its path, with the links of its folder resolved.
            is_file: whether it is a regular file.
            is_folder: whether it is a folder.
        """
        if is_file and not is_manifest(name):
            return "other"
        if self._read_before is not None and name != GIT:
            return self.target_role(name, real, is_folder=is_folder)
        if name.startswith("."):
            return "hidden"
        if name == SETTINGS and not is_folder:
            return "settings"  # no pattern moves the end of a project
        if self.excluded is not None and self.excluded.matches(path, is_folder=not is_file):
            return "excluded"
        return self.target_role(name, real, is_folder=is_folder)

    def target_role(self, name: str, real: str, *, is_folder: bool) -> Role:
        """Return the role of an entry that is not excluded, or of the target of a link with a name."""
        if self._read_before is None and not is_folder:
            if name == SETTINGS or real in self._settings:
                return "settings"
            if real in self._patches:
                return "patch"
        if is_folder and real in self._projects:
            return "project"
        if self._written and any(is_within(real, out) for out in self._written):
            return "written"
        return "output" if self._outputs and self.is_output(real) else "manifest"

    @property
    def decides_by_folder(self) -> bool:
        """Whether the kustomizations above a file decide about it."""
        return self._read_before is None

    def is_output(self, real: str) -> bool:
        """Return whether a file or folder is in an output folder."""
        return any(is_within(real, out) for out in self._outputs)

    def leave_out(self, path: str, role: Role, object: str = "") -> None:
        """Report an entry that is not read, or a link; `object` is its git object in a commit, or the link's target."""
        if self._leave_out is not None:
            self._leave_out(path, role, object)

    def was_read(self, path: str) -> bool:
        """Return whether a file was read before, or is not read at all."""
        if self._names_only:
            self.leave_out(path, "manifest")
            return True
        return self._read_before is not None and path in self._read_before
