"""The settings of a project: `trainc.yaml` and the command line, in layers: built-in < file < environment < flags.

Reads    trainc.yaml in the first path's folder or in a parent folder, up to the root (the git root; outside of git,
         the folder itself). Its schema is schemas/trainc/Settings.json.
Returns  settings, with diagnostics if the file is invalid. Without a file, the search costs one lookup in each folder,
         and of this package only `model` is imported.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc import budget
from trainc.base.releases import find_release
from trainc.files import inputs
from trainc.files.confine import is_within, repository_above, resolved
from trainc.files.inputs import SETTINGS, STDIN, fault
from trainc.pipeline.delivery import Delivery
from trainc.settings.model import DEFAULT, DELIVERY_KEYS, NO_FLAGS, Base, ProjectPath, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.settings.model import Flags

__all__ = ["DEFAULT", "Base", "ProjectPath", "Settings", "in_environment", "load", "load_file", "read", "with_flags"]


def with_flags(settings: Settings, flags: Flags) -> Settings:
    """Return the settings with the values of options, which override all other layers."""
    if not flags:
        return settings
    if settings.base is None:
        return _only_flags(settings, flags)
    from trainc.settings.effective import effective

    return effective(settings, settings.base, settings.environment_name, flags)


def in_environment(settings: Settings, name: str, flags: Flags = NO_FLAGS) -> Settings:
    """Return the effective settings of an environment; with an error in `diagnostics` if it is unknown.

    A file with errors has no environments.
    """
    if settings.document is not None and settings.base is None:
        return with_flags(settings, flags)
    if settings.base is None or name not in settings.environment_names:
        from trainc.settings.selecting import unknown_environment

        settings = with_flags(settings, flags)
        return settings._replace(diagnostics=(*settings.diagnostics, unknown_environment(settings, name)))
    from trainc.settings.effective import effective

    return effective(settings, settings.base, name, flags)


def _only_flags(settings: Settings, flags: Flags) -> Settings:
    """Return the settings with the values of options, without a file; as `effective`, but without its imports."""
    exclude = settings.exclude
    if lines := flags.get(("exclude",)):
        from trainc.files.exclude import Patterns

        exclude = (Patterns(os.getcwd(), tuple(lines)),)
    return settings._replace(
        strict="--strict" if flags.get(("lint", "strict")) else settings.strict,
        field_validation=flags.get(("fieldValidation",), settings.field_validation),
        legacy_field_validation=flags.get(("fieldValidation",), settings.legacy_field_validation),
        legacy_kinds=flags.get(("legacy", "kinds"), settings.legacy_kinds),
        legacy_gang=flags.get(("legacy", "gang"), settings.legacy_gang),
        exclude=exclude,
        release=find_release(flags.get(("trainerVersion",)), settings.release),
        passthrough=flags.get(("passthrough",), settings.passthrough),
        delivery=settings.delivery.with_more(Delivery(*(bool(flags.get(("delivery", key))) for key in DELIVERY_KEYS))),
    )


def load(
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
        root: the folder where the search ends and that links must not lead out of, instead of the git root.
        follow_links: whether links may lead out of the root.
        limits: the budget, which limits the number of environments.
    """
    if file is None and search:
        file = next(_settings_files_above(paths[0] if paths else ".", root), None)
    return DEFAULT if file is None else read(file, root=root, follow_links=follow_links, limits=limits)


def _settings_files_above(path: str, root: str | None) -> Iterator[str]:
    """Yield the settings files in a path's folder and its parent folders, the nearest first, up to the root."""
    start = "." if path == STDIN else path
    folder = os.path.abspath(start if os.path.isdir(start) else os.path.dirname(start) or ".")
    root = repository_above(folder) if root is None else resolved(root)
    at = folder
    while True:
        candidate = os.path.join(at, SETTINGS)
        if os.path.lexists(candidate):
            yield candidate if os.path.isabs(start) else os.path.relpath(candidate)
        if root is None or at == root or not is_within(at, root):
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
    found = load_file(file, folder, root=root, relative=not os.path.isabs(path), limits=limits)
    return found._replace(file=resolved(path))


def load_file(
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
    from trainc.frontends.reading import documents_of
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
    if "trainerVersion" in document.text:
        from trainc.settings.versions import with_version_texts

        document = with_version_texts(document)
    base = Base(document, folder, root or repository_above(folder) or folder, relative)
    diagnostics = tuple(faults(base, limits))
    if failed(diagnostics):
        return Settings(document=document, diagnostics=diagnostics)
    names = tuple(document.value.get("environments") or ())
    settings = Settings(document=document, diagnostics=diagnostics, environment_names=names, base=base)
    return effective(settings, base, "", NO_FLAGS)
