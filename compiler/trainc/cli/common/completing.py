"""Completions that read the user's files: TrainJob names.

Reads    the words of the command line so far. The work is bounded: a shell waits for the answer.
Returns  the completions, and none instead of an error.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Final

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

FILES: Final = 200
"""The maximum number of files that are read for names."""
SIZE: Final = 2_000_000
"""The maximum number of bytes that are parsed for names."""


def job_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a TrainJob in the PATHs of the command line, or in the current folder."""
    paths = _paths(ctx)
    return [CompletionItem(name) for name in sorted(set(_names(paths or ["."]))) if name.startswith(incomplete)]


def environment_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an environment in the trainc.yaml of the command line's PATHs."""
    from trainc.settings import load

    names = load(_paths(ctx), file=ctx.params.get("config")).environment_names
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _paths(ctx: click.Context) -> list[str]:
    given = ctx.params.get("paths") or ctx.params.get("sides") or ctx.args  # click leaves them there after an option
    return [path for path in given if os.path.exists(path)]


def _names(paths: list[str]) -> Iterator[str]:
    from trainc.base.kinds import COMPILED, TRAINJOB
    from trainc.diagnostics import ObjectId
    from trainc.files import inputs
    from trainc.frontends.reading import Reading

    read, left, word = Reading(kinds=COMPILED), SIZE, TRAINJOB.kind.encode()
    for file in islice(inputs.read(paths), FILES):
        if isinstance(file, inputs.File):
            left -= len(file.data)
            if left < 0:
                break
            if word in file.data:
                read.add(file)
    yield from (ObjectId.from_source(document.value).name for document in read.documents["job"])
