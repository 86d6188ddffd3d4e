"""`trainc runtimes export`: write built-in runtimes to a folder, for a project that edits them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from trainc.cli.common import OK, options, printing
from trainc.cli.common.arguments import Argument, Command
from trainc.cli.runtimes import pinned
from trainc.cli.runtimes.entries import built_in_names

if TYPE_CHECKING:
    from collections.abc import Sequence

EPILOG = """\b
Examples:
  trainc runtimes export torch-distributed        write one runtime
  trainc runtimes export -o platform/runtimes     write all built-in runtimes
"""


def export(names: tuple[str, ...], folder: str | None, trainer_version: str | None) -> int:
    """Write the built-in runtimes NAME, by default all, to DIR/<name>.yaml; existing files are kept."""
    folder = pinned.target(folder)
    from trainc.base.texts import escape
    from trainc.cli.runtimes.entries import built_in_level
    from trainc.files.atomic import create_at
    from trainc.files.confine import open_to_write

    built_in = built_in_level(trainer_version)
    keys = {key[2]: key for key in built_in.known()}
    if unknown := [name for name in names if name not in keys]:
        raise _unknown_runtime(unknown[0], list(keys))
    try:
        at = open_to_write(folder, make=True)
        try:
            for name in dict.fromkeys(names or keys):
                entry = built_in.find(keys[name])
                assert entry is not None
                file = f"{name}.yaml"
                created = create_at(at, file, entry.document.text.encode())
                printing.report(f"{escape(os.path.join(folder, file))}: {'written' if created else 'exists, kept'}\n")
        finally:
            os.close(at)
        if line := pinned.next_step(folder):
            printing.report(f"{line}\n")
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be written: {error.strerror}") from None
    return OK


def _unknown_runtime(name: str, names: Sequence[str]) -> click.UsageError:
    from trainc.base.suggestions import nearest_name
    from trainc.base.texts import escape
    from trainc.pipeline.runtime_owners import first_release

    if first := first_release(name):
        return click.UsageError(f'Runtime "{name}" exists since Trainer v{first.name}.')
    near = nearest_name(name, names)
    hint = f' Did you mean "{near}"?' if near else " `trainc runtimes list` lists them."
    return click.UsageError(f'No built-in runtime "{escape(name)}".{hint}')


command = Command(
    export,
    (Argument("names", metavar="[NAME]...", complete=built_in_names), pinned.OUTPUT, options.TRAINER_VERSION),
    short_help="Write built-in runtimes to a folder.",
    epilog=EPILOG,
)
