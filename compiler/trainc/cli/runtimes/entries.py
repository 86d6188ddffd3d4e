"""The runtimes that `list` and `show` search: those of some paths, and the built-in ones, and names to complete."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.releases import RELEASES
from trainc.cli.common import OK, WRONG_INPUT, options, printing

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click
    from click.shell_completion import CompletionItem

    from trainc.compilation import Run
    from trainc.diagnostics import Diagnostic
    from trainc.pipeline.library import Level, Library, LibraryEntry

FOLDER: Final = "runtimes"
"""The folder that `export`, `pull` and `import` write to by default."""
_SUFFIX: Final = ".yaml"


class RuntimeEntries(NamedTuple):
    """The runtimes in search order, and the diagnostics of reading them."""

    entries: list[LibraryEntry]
    diagnostics: list[Diagnostic]
    library: Library
    """All runtimes by level; it knows whether trainc.yaml forbids the built-in ones."""

    @property
    def usable_entries(self) -> list[LibraryEntry]:
        """The runtimes that a TrainJob may use."""
        from trainc.pipeline.library import BUILT_IN

        return [entry for entry in self.entries if self.library.forbidden is None or entry.level != BUILT_IN]


def search(run: Run) -> RuntimeEntries:
    """Return the runtimes of PATH, each once, of each -r, by default of runtimes.paths, and the built-in ones.

    Raise OverBudgetError beyond the budget.
    """
    from trainc.compilation import library, metered

    settings = run.settings
    runtimes = run.runtimes or tuple(path.path for path in settings.runtimes)
    meter = metered(run)
    found, diagnostics = library(run._replace(runtimes=(*run.inputs, *runtimes)), meter=meter)
    meter.check()
    printing.report_skipped(found.skipped, run)
    firsts = (entry for level in found.levels for key in level.known() if (entry := level.find(key)))
    entries = (entry for first in firsts for entry in (first, *first.namesakes))
    return RuntimeEntries(_without_duplicates(entries), [*settings.diagnostics, *diagnostics], found)


def built_in_level(trainer_version: str | None) -> Level:
    """Return the built-in runtimes for a release, by default that of the project's trainc.yaml.

    They have trainc's own also in a project with `output: none`, whose TrainJobs may use them when they are exported.
    """
    from trainc.compilation import library
    from trainc.compilation.run import Options, start

    run = start(Options(trainer_version=trainer_version)).with_project((".",))
    return library(run._replace(settings=run.settings._replace(renders_nothing=False)))[0].levels[-1]


def _without_duplicates(entries: Iterable[LibraryEntry]) -> list[LibraryEntry]:
    """Return each runtime once: a folder may be inside another one."""
    found: dict[object, LibraryEntry] = {}
    for entry in entries:
        document = entry.document
        place = os.path.realpath(document.file), document.line, document.column, document.within, entry.id
        found.setdefault(place, entry)
    return list(found.values())


def report(diagnostics: Iterable[Diagnostic], summary: str = "") -> int:
    """Write the diagnostics to standard error and return the exit code."""
    from trainc.diagnostics import failed

    diagnostics = list(diagnostics)
    printing.report_text(diagnostics, summary)
    return WRONG_INPUT if failed(diagnostics) else OK


def built_in_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a built-in runtime."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in _built_in(incomplete)]


def names_or_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a built-in runtime or of a file in FOLDER, or a file if none matches."""
    from click.shell_completion import CompletionItem

    names = {*_built_in(incomplete), *_pinned(incomplete)}
    return [CompletionItem(name) for name in sorted(names)] or options.file_names(ctx, param, incomplete)


def _built_in(incomplete: str) -> list[str]:
    """Return the names of the built-in runtimes of all releases."""
    folders = (FOLDER, *(os.path.join(FOLDER, release.runtimes) for release in RELEASES))
    return sorted({name for folder in folders for name in options.data_names(folder, _SUFFIX, incomplete)})


def _pinned(incomplete: str) -> list[str]:
    """Return the names of the files in FOLDER, which are names of runtimes if they were pulled or exported."""
    try:
        files = os.listdir(FOLDER)
    except OSError:
        return []
    names = (file.removesuffix(_SUFFIX) for file in files if file.endswith(_SUFFIX) and "_" not in file)
    return [name for name in names if name.startswith(incomplete)]
