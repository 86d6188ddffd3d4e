"""Names of runtimes for shell completion, and the folder of a project's runtimes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.base.releases import RELEASES
from trainc.cli.common import options

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

FOLDER: Final = "runtimes"
"""The folder that `export`, `pull` and `import` write to by default."""
_SUFFIX: Final = ".yaml"


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
