"""The settings of a run, as values.

The functions of the package compute them from trainc.yaml and the command line.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import COMPILED, JOBSET, LEGACY
from trainc.base.records import NamedTuple
from trainc.base.releases import DEFAULT_RELEASE, TrainerRelease
from trainc.files.confine import is_within, resolved
from trainc.files.inputs import STDIN
from trainc.kubernetes.trees import get
from trainc.pipeline.objects import NO_PROJECT, PLAIN, Delivery, Project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from trainc.base.kinds import Kind
    from trainc.base.kueue_releases import KueueRelease
    from trainc.diagnostics import Diagnostic, Document, Place
    from trainc.edits.environment import Environment
    from trainc.files.exclude import Patterns
    from trainc.kubernetes.violations import FieldValidation
    from trainc.settings.lint_paths import PathRules

    Flags = Mapping[tuple[str, ...], Any]
    """The values of options, by the path of the key that each one overrides: `{("lint", "strict"): True}`."""


DELIVERY_KEYS: Final = ("nameSuffixHash", "argocdReplace", "suspend")
"""The keys in `delivery`, in the order of the fields of `Delivery`."""


NO_OUTPUT: Final = "none"
"""The value of `output` in a project that renders nothing; `./none` is a folder of that name."""


class ProjectPath(NamedTuple):
    """A path in trainc.yaml: of `sources`, `output` or `runtimes.paths`."""

    written: str
    """The path in the file, relative to the file's folder."""
    path: str
    root: str
    """The folder that it must not leave: the git root; outside of git, the file's folder."""
    place: Place


class SettingsFile(NamedTuple):
    """A trainc.yaml, or another file that one extends."""

    document: Document
    path: str
    """The absolute path; for a file of a commit, that in the working tree."""

    @property
    def folder(self) -> str:
        """The absolute folder of the file: its paths, patterns and patches are relative to it."""
        return os.path.dirname(self.path)


class Base(NamedTuple):
    """A valid trainc.yaml, and the files that it extends."""

    files: tuple[SettingsFile, ...]
    """The files, each after those that it extends; the last one is the project's own."""
    root: str
    """The folder that their paths must not leave."""
    relative: bool = False
    """Whether messages show its paths relative to the current folder, as they show the file's."""

    @property
    def document(self) -> Document:
        """The document of the project's own file."""
        return self.files[-1].document

    @property
    def folder(self) -> str:
        """The absolute folder of the project's own file."""
        return self.files[-1].folder

    @property
    def environment_names(self) -> tuple[str, ...]:
        """The names of the environments of all files, those of the lowest file first."""
        names = (name for file in self.files for name in file.document.value.get("environments") or ())
        return tuple(dict.fromkeys(names))

    @property
    def renders_nothing(self) -> bool:
        """Whether the files say that nothing is rendered: `output: none`."""
        return bool(self.document_with("output").value.get("output") == NO_OUTPUT)

    @property
    def patch_files(self) -> list[str]:
        """The files with patches of any environment, which are manifests in none of them."""
        found = []
        for file in self.files:
            value = file.document.value
            environments = value.get("environments") or {}
            for layer in (value, *filter(None, environments.values())):
                paths = [item.get("path") for item in layer.get("patches") or () if isinstance(item, dict)]
                found += [os.path.normpath(os.path.join(file.folder, path)) for path in paths if isinstance(path, str)]
        return found

    def folder_of(self, place: Place) -> str:
        """Return the folder that the path or pattern at a place is relative to: that of its file."""
        return next((file.folder for file in self.files if file.document.file == place.document.file), self.folder)

    def document_with(self, *path: str) -> Document:
        """Return the document that sets a key with the highest priority; that of the project's own file without one."""
        found = (file.document for file in reversed(self.files) if get(file.document.value, path) is not None)
        return next(found, self.document)


class Settings(NamedTuple):
    """The settings of a project, or of one of its environments; the options of a run are a value of their own."""

    disable: frozenset[str] = frozenset()
    """The disabled lint rules."""
    lint_paths: PathRules | None = None
    """The lint rules that are disabled for some files; None without any."""
    strict: str = ""
    """The option or setting that turns warnings into errors, for messages; empty without one."""
    field_validation: FieldValidation = "strict"
    """How unknown fields of TrainJobs and runtimes are reported."""
    legacy_field_validation: FieldValidation = "warn"
    """How unknown fields of legacy jobs are reported: as those of TrainJobs if a layer sets it."""
    legacy_kinds: tuple[str, ...] = ()
    """The legacy kinds to compile."""
    legacy_gang: str = ""
    """The gang scheduler of legacy jobs; empty without one."""
    release: TrainerRelease = DEFAULT_RELEASE
    """The release of Trainer in the cluster."""
    release_stated: bool = False
    """Whether a setting or an option says the release."""
    kueue: KueueRelease | None = None
    """The release of Kueue in the cluster; None if no setting says it."""
    runtimes: tuple[ProjectPath, ...] = ()
    """More paths to search for runtimes; the option `--runtimes` replaces them."""
    built_in_forbidden: Place | None = None
    """The setting that forbids built-in runtimes; None if they are allowed."""
    built_in_allowed: bool = False
    """Whether a setting allows them, so that no note lists them."""
    project: Project = NO_PROJECT
    """The settings that affect the compiled objects."""
    environment: Environment | None = None
    """The settings that change documents before they are compiled; None if there are none."""
    delivery: Delivery = PLAIN
    sources: tuple[ProjectPath, ...] = ()
    """The files and folders of the project; empty for the project's folder. They are read if no PATH is given."""
    output: ProjectPath | None = None
    """The output folder. It is used if neither a PATH nor -o is given."""
    renders_nothing: bool = False
    """Whether the project says that nothing is rendered: `output: none`."""
    keep: tuple[str, ...] = ()
    """The patterns of files in the output folder that no build writes, relative to that folder."""
    keep_places: tuple[Place, ...] = ()
    """The place of each pattern of `keep`."""
    environment_names: tuple[str, ...] = ()
    """The environments, in the file's order; empty for a project without environments."""
    environment_name: str = ""
    """The environment of these settings; empty if none is selected."""
    cluster: str = ""
    """The name of the cluster; environments of different clusters may have the same objects."""
    base: Base | None = None
    """The file; None without one, or if it has errors."""
    file: str = ""
    """The settings file with all links resolved; it is not read as a manifest."""
    document: Document | None = None
    """The document of that file, valid or not."""
    settings_files: tuple[SettingsFile, ...] = ()
    """The files that it extends and, as the last one, itself, valid or not."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """The faults of the file."""
    exclude: tuple[Patterns, ...] = ()
    """The patterns of files and folders that are not read."""
    passthrough: Patterns | bool | None = None
    """The files whose documents of other kinds are copied to the output: those of patterns, all or none; None if the
    command decides."""

    @property
    def renders(self) -> bool:
        """Whether a cluster may get what trainc renders, instead of the documents."""
        return self.document is not None and not self.renders_nothing

    @property
    def in_project(self) -> bool:
        """Whether the run is one of a project, in which names must be unique."""
        return self.document is not None or self.environment is not None

    @property
    def extended(self) -> tuple[SettingsFile, ...]:
        """The files that the project's own one extends."""
        return self.settings_files[:-1]

    @property
    def files(self) -> tuple[str, ...]:
        """The settings files, with all links resolved; they are not read as manifests."""
        return (*([self.file] if self.file else ()), *(resolved(file.path) for file in self.extended))

    @property
    def patch_files(self) -> list[str]:
        """The files with patches, which are not manifests."""
        if self.base is not None:
            return self.base.patch_files
        return [] if self.environment is None else self.environment.files

    @property
    def has_patterns(self) -> bool:
        """Whether a pattern of the settings may match nothing."""
        return self.lint_paths is not None or bool(self.exclude or self.keep)

    @property
    def output_folders(self) -> list[str]:
        """The output folder, if the project has one."""
        return [] if self.output is None else [self.output.path]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds to compile."""
        return (*COMPILED, JOBSET, *(row for row in LEGACY if row.name in self.legacy_kinds))

    @property
    def folder(self) -> str:
        """The project's folder: that of the file, as messages show it; the current folder without a file."""
        if self.base is None:
            return os.curdir
        return os.path.relpath(self.base.folder) if self.base.relative else self.base.folder

    def copied_files(self, *, default: bool) -> Callable[[str], bool]:
        """Return the function that tells whether the documents of other kinds in a file are copied to the output.

        `default` is used without the setting.
        """
        own = default if self.passthrough is None else self.passthrough
        if isinstance(own, bool):
            return lambda path: own
        from trainc.files.exclude import Excluded

        selected = Excluded([own])
        return lambda path: selected.matches(path, is_folder=False)

    def is_covered_by(self, paths: Iterable[str]) -> bool:
        """Return whether some paths contain all files and folders of the project; without a file there is none."""
        if self.base is None:
            return True
        sources = [source.path for source in self.sources] or [self.base.folder]
        given = [resolved(path) for path in paths if path != STDIN]
        return all(any(is_within(resolved(source), path) for path in given) for source in sources)


DEFAULT: Final = Settings()
NO_FLAGS: Final[Flags] = {}
