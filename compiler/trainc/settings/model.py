"""The settings of a run, as values.

The functions of the package compute them from trainc.yaml and the command line.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc import budget
from trainc.confine import resolved, within
from trainc.delivery import PLAIN, Delivery
from trainc.inputs import STDIN
from trainc.library import FLAGS, OptionNames
from trainc.objects import NO_PROJECT, Project
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.diagnostics import Diagnostic, Document, Place
    from trainc.environment import Environment
    from trainc.exclude import Patterns
    from trainc.kubernetes.violations import FieldValidation


class ProjectPath(NamedTuple):
    """A path in trainc.yaml: of `sources`, `output` or `runtimes.paths`."""

    written: str
    """The path in the file, relative to the file's folder."""
    path: str
    root: str
    """The folder that it must not leave: the git root; outside of git, the file's folder."""
    place: Place


class Base(NamedTuple):
    """A valid trainc.yaml, and the folders of its paths."""

    document: Document
    folder: str
    """The absolute folder of the file: its paths and patterns are relative to it."""
    root: str
    """The folder that its paths must not leave."""
    relative: bool = False
    """Whether messages show its paths relative to the current folder, as they show the file's."""


class Settings(NamedTuple):
    """A project's settings."""

    disable: frozenset[str] = frozenset()
    """The disabled lint rules."""
    strict: str = ""
    """The option or setting that turns warnings into errors, for messages; empty without one."""
    field_validation: FieldValidation = "strict"
    """How unknown fields of TrainJobs and runtimes are reported."""
    option_names: OptionNames = FLAGS
    """The names of a run's options in diagnostics."""
    all_rules: bool = False
    """Whether to apply also the rule that many correct jobs violate (`lint.triggers.VALIDATE_ONLY`)."""
    runtimes: tuple[ProjectPath, ...] = ()
    """More paths to search for runtimes; the option `--runtimes` replaces them."""
    built_in_forbidden: Place | None = None
    """The setting that forbids built-in runtimes; None if they are allowed."""
    project: Project = NO_PROJECT
    """The settings that affect the compiled objects."""
    environment: Environment | None = None
    """The settings that change documents before they are compiled; None if there are none."""
    delivery: Delivery = PLAIN
    sources: tuple[ProjectPath, ...] = ()
    """The files and folders of the project; empty for the project's folder. They are read if no PATH is given."""
    output: ProjectPath | None = None
    """The output folder. It is used if neither a PATH nor -o is given."""
    environment_names: tuple[str, ...] = ()
    """The environments, in the file's order; empty for a project without environments."""
    environment_name: str = ""
    """The environment of these settings; empty if none is selected."""
    cluster: str = ""
    """The name of the cluster; environments of different clusters may have the same objects."""
    flags: Mapping[tuple[str, ...], Any] = {}
    """The values of options, by the path of the key that they set; `in_environment` applies them again."""
    base: Base | None = None
    """The file; None without one, or if it has errors."""
    file: str = ""
    """The settings file with all links resolved; it is not read as a manifest."""
    document: Document | None = None
    """The document of that file, valid or not."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """The faults of the file."""
    exclude: tuple[Patterns, ...] = ()
    """The patterns of files and folders that are not read."""
    follow_links: bool = False
    """Whether links may lead out of the root; only the command line sets it."""
    verbose: bool = False
    """Whether to list the skipped files; only the command line sets it."""
    budget: budget.Budget = budget.DEFAULT
    """The most work of a run; only the command line sets it."""

    @property
    def quiet(self) -> frozenset[str]:
        """The lint rules that are not reported."""
        from trainc.lint.triggers import VALIDATE_ONLY

        return self.disable if self.all_rules else self.disable | {VALIDATE_ONLY}

    @property
    def folder(self) -> str:
        """The project's folder: that of the file, as messages show it; the current folder without a file."""
        if self.base is None:
            return os.curdir
        return os.path.relpath(self.base.folder) if self.base.relative else self.base.folder

    def is_covered_by(self, paths: Iterable[str]) -> bool:
        """Return whether some paths contain all files and folders of the project; without a file there is none."""
        if self.base is None:
            return True
        sources = [source.path for source in self.sources] or [self.base.folder]
        given = [resolved(path) for path in paths if path != STDIN]
        return all(any(within(resolved(source), path) for path in given) for source in sources)


DEFAULT: Final = Settings()
