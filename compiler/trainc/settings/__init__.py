"""The settings of a project: `trainc.yaml` and the command line, in layers: built-in < file < environment < flags.

Reads    trainc.yaml in the first path's folder or in a parent folder, up to the root (the git root; outside of git,
         the folder itself). Its schema is schemas/trainc/Settings.json.
Returns  settings, with diagnostics if the file is invalid. Without a file, the search costs one lookup in each folder,
         and of this package only `model` is imported.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from trainc import budget, inputs
from trainc.confine import repository_above, resolved, within
from trainc.delivery import Delivery
from trainc.inputs import SETTINGS, STDIN, fault
from trainc.settings.model import DEFAULT, Base, ProjectPath, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["DEFAULT", "Base", "ProjectPath", "Settings", "in_environment", "of", "of_file", "read", "with_flags"]


def with_flags(settings: Settings, flags: Mapping[tuple[str, ...], Any]) -> Settings:
    """Return the settings with the values of options, by the path of the key: `{("lint", "strict"): True}`.

    They override all other layers.
    """
    if not flags:
        return settings
    found = settings._replace(flags={**settings.flags, **flags})
    if found.base is None:
        return _only_flags(found)
    from trainc.settings.effective import effective

    return effective(found, found.base, found.environment_name)


def in_environment(settings: Settings, name: str) -> Settings:
    """Return the effective settings of an environment; with an error in `diagnostics` if it is unknown.

    Settings that only the command line sets are kept. A file with errors has no environments.
    """
    if settings.document is not None and settings.base is None:
        return settings
    if settings.base is None or name not in settings.environment_names:
        from trainc.settings.selecting import unknown

        return settings._replace(diagnostics=(*settings.diagnostics, unknown(settings, name)))
    from trainc.settings.effective import effective

    return effective(settings, settings.base, name)


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
