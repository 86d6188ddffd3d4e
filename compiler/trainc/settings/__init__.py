"""The settings of a project: `trainc.yaml` and the command line, in layers: built-in < file < environment < flags.

Reads    trainc.yaml in the first path's folder or in a parent folder, up to the root (the git root; outside of git,
         the folder itself). Its schema is schemas/trainc/Settings.json.
Returns  settings, with diagnostics if the file is invalid. Without a file, the search costs one lookup in each folder,
         and no other module of this package is imported.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc import budget, inputs
from trainc.confine import repository_above, resolved, within
from trainc.delivery import PLAIN, Delivery
from trainc.inputs import SETTINGS, STDIN, fault
from trainc.library import FLAGS, OptionNames
from trainc.objects import NO_PROJECT, Project
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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

    def with_flags(self, flags: Mapping[tuple[str, ...], Any]) -> Settings:
        """Return the settings with the values of options, by the path of the key: `{("lint", "strict"): True}`.

        They override all other layers.
        """
        if not flags:
            return self
        found = self._replace(flags={**self.flags, **flags})
        if found.base is None:
            return _only_flags(found)
        from trainc.settings.effective import effective

        return effective(found, found.base, found.environment_name)

    def in_environment(self, name: str) -> Settings:
        """Return the effective settings of an environment; with an error in `diagnostics` if it is unknown.

        Settings that only the command line sets are kept. A file with errors has no environments.
        """
        if self.document is not None and self.base is None:
            return self
        if self.base is None or name not in self.environment_names:
            from trainc.settings.selecting import unknown

            return self._replace(diagnostics=(*self.diagnostics, unknown(self, name)))
        from trainc.settings.effective import effective

        return effective(self, self.base, name)


DEFAULT: Final = Settings()


def _only_flags(settings: Settings) -> Settings:
    """Return the settings with the values of options, without a file; as `effective`, but without its imports."""
    flags, exclude = settings.flags, settings.exclude
    if lines := flags.get(("exclude",)):
        from trainc.exclude import Patterns

        exclude = (Patterns(os.getcwd(), tuple(lines)),)
    keys = ("nameSuffixHash", "argocdReplace", "suspend")
    return settings._replace(
        strict="--strict" if flags.get(("lint", "strict")) else "",
        field_validation=flags.get(("fieldValidation",), DEFAULT.field_validation),
        exclude=exclude,
        delivery=Delivery(*(bool(flags.get(("delivery", key))) for key in keys)),
    )


def of(
    paths: Sequence[str],
    *,
    file: str | None = None,
    search: bool = True,
    root: str | None = None,
    follow_links: bool = False,
    limits: budget.Budget = budget.DEFAULT,
) -> Settings:
    """Return the settings for these paths.

    Args:
        paths: files, folders, or `-`; the search starts at the first one.
        file: the settings file to read, without a search.
        search: whether to search for a file if none is given.
        root: the folder where the search ends, instead of the git root.
        follow_links: whether links may lead out of the root; also a field of the result.
        limits: the budget, which limits the number of environments; also a field of the result.
    """
    if file is None and search:
        file = next(_above(paths[0] if paths else ".", root), None)
    else:
        root = None
    if file is None:
        found = DEFAULT
    else:
        found = read(file, root=root, follow_links=follow_links, limits=limits)
    return found._replace(follow_links=follow_links, budget=limits) if follow_links or limits != found.budget else found


def _above(path: str, root: str | None) -> Iterator[str]:
    """Yield the settings files in a path's folder and its parent folders, the nearest first, up to the root."""
    start = "." if path == STDIN else path
    folder = os.path.abspath(start if os.path.isdir(start) else os.path.dirname(start) or ".")
    root = repository_above(folder) if root is None else resolved(root)
    at = folder
    while True:
        candidate = os.path.join(at, SETTINGS)
        if os.path.lexists(candidate):
            yield candidate if os.path.isabs(start) else os.path.relpath(candidate)
        if root is None or at == root or not within(at, root):
            return
        at = os.path.dirname(at)


def read(
    path: str, *, root: str | None = None, follow_links: bool = False, limits: budget.Budget = budget.DEFAULT
) -> Settings:
    """Return the settings of a file; the defaults with a diagnostic if it cannot be read."""
    from trainc.diagnostics import Diagnostic

    file = inputs.settings(path, root=root, follow_links=follow_links)
    if isinstance(file, Diagnostic):
        return Settings(diagnostics=(file,))
    folder = os.path.dirname(os.path.abspath(path))
    found = of_file(file, folder, root=root, relative=not os.path.isabs(path), limits=limits)
    return found._replace(file=resolved(path))


def of_file(
    file: inputs.File,
    folder: str,
    *,
    root: str | None = None,
    relative: bool = False,
    limits: budget.Budget = budget.DEFAULT,
) -> Settings:
    """Return the settings of a file that is already read.

    Args:
        file: the file; its path may be a name that only messages use.
        folder: the absolute folder that the file's paths and patterns are relative to.
        root: the folder that its paths must not leave, by default the git root, or else `folder`.
        relative: whether messages show its paths relative to the current folder.
        limits: the budget, which limits the number of environments.
    """
    from trainc.diagnostics import Diagnostic, Document, Place, failed
    from trainc.reading import documents_of
    from trainc.settings.checking import faults
    from trainc.settings.effective import effective

    found = list(documents_of(file))
    documents = [document for document in found if not isinstance(document, Diagnostic)]
    wrong = [diagnostic for diagnostic in found if isinstance(diagnostic, Diagnostic)]
    if len(documents) > 1:
        message = f"{file.path} has {len(documents)} documents instead of one"
        wrong.append(fault(file.path, message, "keep one document")._replace(place=Place(documents[1])))
    if wrong:
        return Settings(diagnostics=tuple(wrong))
    document = documents[0] if documents else Document(file=file.path, line=1, text="", value={})
    base = Base(document, folder, root or repository_above(folder) or folder, relative)
    diagnostics = tuple(faults(base, limits))
    if failed(diagnostics):
        return Settings(document=document, diagnostics=diagnostics)
    names = tuple(document.value.get("environments") or ())
    settings = Settings(document=document, diagnostics=diagnostics, environment_names=names, base=base)
    return effective(settings, base, "")
