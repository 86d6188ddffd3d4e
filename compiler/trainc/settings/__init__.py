"""The settings of a project: `trainc.yaml` and the command line, in layers: built-in < files < environment < flags.

Reads    trainc.yaml in the first path's folder or in a parent folder, up to the root (the git root; outside of git,
         the current folder, if the path is in it). Its schema is schemas/trainc/Settings.json.
         A file has a layer above those of the files that it extends.
Returns  settings, with diagnostics if the file is invalid. Without a file, the search costs one lookup in each folder,
         and of this package only `model` is imported.

**A key of `trainc.yaml`**. Copy from `settings/paths.py`, and the lines of `delivery.suspend`.
1. Add the key to `KEYS` in `settings/keys.py`: its path, its rule, the option that sets it, its default, and
   whether an environment may set it. Add it to `schemas/trainc/Settings.json` with a description and the same
   default; add a key that an environment may set to `$defs` and refer to it twice.
2. Read it in `settings/effective.py`. Check in `settings/values.py` what the schema cannot express, with a row in
   `tests/unit/test_settings_faults.py`.
3. Add rows to the table in `docs/configuration.md` and to `LAYERS` in `tests/unit/test_settings_layers.py`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc import budget
from trainc.base.kueue_releases import find_kueue
from trainc.base.releases import find_release
from trainc.files import inputs
from trainc.files.confine import is_within, repository_above, resolved, root_above
from trainc.files.inputs import STDIN
from trainc.files.selection import SETTINGS
from trainc.pipeline.objects import Delivery
from trainc.settings.model import DEFAULT, DELIVERY_KEYS, NO_FLAGS, Base, ProjectPath, Settings, SettingsFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainc.diagnostics import Diagnostic
    from trainc.settings.extending import FileSource
    from trainc.settings.model import Flags

__all__ = [
    "DEFAULT",
    "Base",
    "ProjectPath",
    "Settings",
    "in_environment",
    "load",
    "load_file",
    "nearest_settings",
    "read",
    "with_flags",
]


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
        from trainc.settings.effective import unknown_environment

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
        release_stated=settings.release_stated or ("trainerVersion",) in flags,
        kueue=find_kueue(flags.get(("kueueVersion",))) or settings.kueue,
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
    contents: Mapping[str, bytes] = {},
) -> Settings:
    """Return the settings for these paths.

    Args:
        paths: files, folders, or `-`; the search starts at the first one.
        file: the settings file to read, without a search.
        search: whether to search for a file if none is given.
        root: the folder where the search ends and that links must not lead out of, instead of the git root.
        follow_links: whether links may lead out of the root.
        limits: the budget, which limits the number of environments.
        contents: the contents of files that differ from those on the disk, by their paths.
    """
    if file is None and search:
        file = nearest_settings(paths[0] if paths else os.curdir, root)
    if file is None:
        return DEFAULT
    return read(file, root=root, follow_links=follow_links, limits=limits, contents=contents)


def nearest_settings(path: str, root: str | None = None) -> str | None:
    """Return the settings file in the folder of a path or nearest above it, up to the root; None without one."""
    start = os.curdir if path == STDIN else path
    folder = os.path.abspath(start if os.path.isdir(start) else os.path.dirname(start) or os.curdir)
    root = root_above(folder) if root is None else resolved(root)
    at = folder
    while True:
        candidate = os.path.join(at, SETTINGS)
        if os.path.lexists(candidate):
            return candidate if os.path.isabs(start) else os.path.relpath(candidate)
        if root is None or at == root or not is_within(at, root):
            return None
        at = os.path.dirname(at)


def read(
    path: str,
    *,
    root: str | None = None,
    follow_links: bool = False,
    limits: budget.Budget = budget.DEFAULT,
    contents: Mapping[str, bytes] = {},
) -> Settings:
    """Return the settings of a file; the defaults with a diagnostic if it cannot be read."""
    from trainc.diagnostics import Diagnostic
    from trainc.settings.extending import FileSource

    file = inputs.settings(path, root=root, follow_links=follow_links, contents=contents)
    if isinstance(file, Diagnostic):
        return Settings(diagnostics=(file,), file=resolved(path))
    relative, full = not os.path.isabs(path), os.path.abspath(path)
    root = root or repository_above(os.path.dirname(full)) or os.path.dirname(full)

    def read_extended(other: str) -> inputs.File | Diagnostic:
        shown = os.path.relpath(other) if relative else other
        return inputs.settings(shown, root=root, follow_links=follow_links, contents=contents)

    source = FileSource(read_extended, resolved)
    found = load_file(file, full, source, root=root, relative=relative, limits=limits)
    return found._replace(file=resolved(path))


def load_file(
    file: inputs.File,
    path: str,
    source: FileSource,
    *,
    root: str,
    relative: bool = False,
    limits: budget.Budget = budget.DEFAULT,
) -> Settings:
    """Return the settings of a file that is already read.

    Args:
        file: the file; its path may be a name that only messages use.
        path: its absolute path. The file's paths and patterns are relative to its folder.
        source: where the files are that it extends.
        root: the folder that its paths must not leave.
        relative: whether messages show its paths relative to the current folder.
        limits: the budget, which limits the number of environments.
    """
    from trainc.diagnostics import failed
    from trainc.settings.effective import effective
    from trainc.settings.extending import extended_files, parsed
    from trainc.settings.values import faults

    document, wrong = parsed(file)
    if wrong:
        return Settings(diagnostics=wrong)
    own = SettingsFile(document, path)
    extended, unreadable = extended_files(own, root, source)
    base = Base((*extended, own), root, relative)
    diagnostics = (*unreadable, *faults(base, limits, complete=not unreadable))
    settings = Settings(document=base.document, settings_files=base.files, diagnostics=diagnostics)
    if failed(diagnostics):
        return settings
    return effective(settings._replace(environment_names=base.environment_names, base=base), base, "", NO_FLAGS)
