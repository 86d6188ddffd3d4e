"""The settings of a project: `trainc.yaml`, overridden by the command line.

Reads    trainc.yaml in the first path's folder or in a parent folder, up to the root (the git root; outside of git,
         the folder itself). Its schema is schemas/trainc/Settings.json.
Returns  settings, with diagnostics if the file is invalid. Without a file, the search costs one lookup in each folder.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc import budget, inputs
from trainc.confine import repository_above, resolved, within
from trainc.inputs import SETTINGS, SETTINGS_PATH, STDIN, fault
from trainc.library import FLAGS, OptionNames
from trainc.objects import NO_PROJECT, Project
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.declarations import Severity
    from trainc.diagnostics import Diagnostic, Document, Place
    from trainc.environment import Environment
    from trainc.exclude import Patterns
    from trainc.kubernetes.violations import FieldValidation, Violation

SCHEMA: Final = ("Settings", "trainc")
"""The kind, and its folder in `schemas`."""


class RuntimePath(NamedTuple):
    """An item of `runtimes.paths`."""

    written: str
    """The path in the file, relative to the file's folder."""
    path: str
    root: str
    """The folder that it must not leave: the git root; outside of git, the file's folder."""
    place: Place


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
    runtimes: tuple[RuntimePath, ...] = ()
    """More paths to search for runtimes; the option `--runtimes` replaces them."""
    built_in_forbidden: Place | None = None
    """The setting that forbids built-in runtimes; None if they are allowed."""
    project: Project = NO_PROJECT
    """The settings that affect the compiled objects."""
    environment: Environment | None = None
    """The settings that change documents before they are compiled; None if there are none."""
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


DEFAULT: Final = Settings()


def of(
    paths: Sequence[str],
    *,
    file: str | None = None,
    search: bool = True,
    root: str | None = None,
    follow_links: bool = False,
) -> Settings:
    """Return the settings for these paths.

    Args:
        paths: files, folders, or `-`; the search starts at the first one.
        file: the settings file to read, without a search.
        search: whether to search for a file if none is given.
        root: the folder where the search ends, instead of the git root.
        follow_links: whether links may lead out of the root; also a field of the result.
    """
    if file is None and search:
        file = next(_above(paths[0] if paths else ".", root), None)
    else:
        root = None
    found = DEFAULT if file is None else read(file, root=root, follow_links=follow_links)
    return found._replace(follow_links=True) if follow_links else found


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


def read(path: str, *, root: str | None = None, follow_links: bool = False) -> Settings:
    """Return the settings of a file; the defaults with a diagnostic if it cannot be read."""
    from trainc.diagnostics import Diagnostic

    file = inputs.settings(path, root=root, follow_links=follow_links)
    if isinstance(file, Diagnostic):
        return Settings(diagnostics=(file,))
    folder = os.path.dirname(os.path.abspath(path))
    found = of_file(file, folder, root=root)._replace(file=resolved(path))
    if os.path.isabs(path):
        return found
    # Messages show the paths as they show the file's.
    return found._replace(runtimes=tuple(one._replace(path=os.path.relpath(one.path)) for one in found.runtimes))


def of_file(file: inputs.File, folder: str, *, root: str | None = None) -> Settings:
    """Return the settings of a file that is already read.

    Args:
        file: the file; its path may be a name that only messages use.
        folder: the absolute folder that `exclude` and `runtimes.paths` are relative to.
        root: the folder that `runtimes.paths` must not leave, by default the git root, or else `folder`.
    """
    from trainc.diagnostics import Diagnostic
    from trainc.reading import documents_of

    found = list(documents_of(file))
    documents = [document for document in found if not isinstance(document, Diagnostic)]
    faults = [diagnostic for diagnostic in found if isinstance(diagnostic, Diagnostic)]
    if len(documents) > 1:
        message = f"has {len(documents)} documents instead of one"
        faults.append(fault(file.path, message, "keep one document"))
    if faults or not documents:
        return Settings(diagnostics=tuple(faults))
    return _of_document(documents[0], folder, root or repository_above(folder) or folder)


def _of_document(document: Document, folder: str, root: str) -> Settings:
    """Validate a document against the schema and return its settings."""
    from trainc.diagnostics import failed
    from trainc.kubernetes.structural import load

    admitted = load(*SCHEMA).admit(document.value)
    unknown = (violation.dropped() for violation in admitted.unknown)
    found = (*_faults(document, admitted.violations, "error"), *_faults(document, unknown, "warning"))
    if failed(found):
        return Settings(document=document, diagnostics=found)
    lint, project = admitted.value.get("lint") or {}, NO_PROJECT
    if accelerators := admitted.value.get("accelerators"):
        from trainc.checks.accelerators import violations

        project = Project(document=document, value={"accelerators": accelerators})
        found += tuple(_faults(document, violations(accelerators), "error"))
    exclude: tuple[Patterns, ...] = ()
    if lines := admitted.value.get("exclude"):
        from trainc.exclude import Patterns, faults

        exclude = (Patterns(folder, tuple(lines), document),)
        if wrong := tuple(faults(exclude[0])):
            return Settings(document=document, diagnostics=(*found, *wrong))
    runtimes, forbidden = admitted.value.get("runtimes") or {}, None
    paths = _runtime_paths(document, runtimes.get("paths") or (), folder, root)
    if runtimes.get("builtin") == "forbid":
        from trainc.diagnostics import Place

        forbidden = Place(document, ("runtimes", "builtin"))
    environment = None
    if patches := admitted.value.get("patches"):
        from trainc.diagnostics import Place
        from trainc.environment import Environment, Setting

        items = (Setting(item, Place(document, ("patches", index))) for index, item in enumerate(patches))
        environment = Environment(patches=tuple(items), folder=folder, root=root)
    return Settings(
        disable=frozenset(lint.get("disable") or ()),
        strict=f"lint.strict in {document.file}" if lint.get("strict") else "",
        field_validation=admitted.value.get("fieldValidation", DEFAULT.field_validation),
        runtimes=tuple(path for path in paths if isinstance(path, RuntimePath)),
        built_in_forbidden=forbidden,
        project=project,
        environment=environment,
        exclude=exclude,
        document=document,
        diagnostics=(*found, *(path for path in paths if not isinstance(path, RuntimePath))),
    )


def _runtime_paths(
    document: Document, written: Sequence[str], folder: str, root: str
) -> list[RuntimePath | Diagnostic]:
    """Return the paths of `runtimes.paths`, with an error for each one that is absolute or leads out of the root."""
    from trainc.diagnostics import Diagnostic, Place

    found: list[RuntimePath | Diagnostic] = []
    for index, path in enumerate(written):
        place = Place(document, ("runtimes", "paths", index))
        target = os.path.normpath(os.path.join(resolved(folder or "."), path))
        if not os.path.isabs(path) and within(target, resolved(root)):
            found.append(RuntimePath(path, os.path.normpath(os.path.join(folder, path)), root, place))
            continue
        message = f'runtimes.paths must be relative paths inside the root, not "{path}"'
        help = "move the runtimes into the repository, or use --runtimes"
        found.append(Diagnostic.of(SETTINGS_PATH, message, help, field=f"runtimes.paths[{index}]", place=place))
    return found


def _faults(document: Document, violations: Iterable[Violation], severity: Severity) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each violation, at its line."""
    from trainc.diagnostics import Diagnostic, Place, Related

    for violation in violations:
        yield Diagnostic(
            id=violation.rule,
            severity=severity,
            stage="read",
            message=violation.message,
            help=_suggested_rule(document, violation) or violation.help,
            field=violation.field,
            place=Place(document=document, path=violation.path, key=violation.key),
            related=tuple(Related(label, Place(document=document, path=path)) for label, path in violation.related),
        )


def _suggested_rule(document: Document, violation: Violation) -> str:
    """Return a hint with the lint rule whose id is most similar to the unknown one."""
    if violation.rule != "enum":
        return ""
    from trainc.kubernetes.trees import get
    from trainc.lint.triggers import IDS
    from trainc.nearest import nearest

    near = nearest(str(get(document.value, violation.path)), sorted(IDS))
    return f"did you mean {near}?" if near else ""
