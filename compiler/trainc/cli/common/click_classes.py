"""Click, refined: a help text with options in groups, a choice whose error names the nearest value, completions.

The completions of names read the user's files. The work is bounded, because a shell waits for the answer; an error is
no completion.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Choice = click.Choice[str]
else:  # before click 8.2, it is no generic class
    Choice = click.Choice


class GroupedCommand(click.Command):
    """A command whose help lists its own options first, and then those of each group."""

    headings: Sequence[str] = ("Options",)
    groups: Mapping[str, int] = {}
    """The index of each option's heading; that of `--help` is the first one."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a section for each group."""
        options = [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]
        for index, heading in enumerate(self.headings):
            group = [option for option in options if self.groups.get(option.name or "", 0) == index]
            if records := [record for option in group if (record := option.get_help_record(ctx))]:
                with formatter.section(heading):
                    formatter.write_dl(records)


class NearestChoice(Choice):
    """A choice that lists the values only if none is near."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value. Raise BadParameter for one that is not a choice."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            from trainc.base.suggestions import nearest_name

            near = nearest_name(str(value), map(str, self.choices))
            if near is None:
                raise
            self.fail(f'"{value}" is not a value: did you mean {near}?', param, ctx)


FILES: Final = 5_000
"""The maximum number of files that are read for names."""
SIZE: Final = 2_000_000
"""The maximum number of bytes that are parsed for names. Only files that contain the word are parsed."""


def job_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a TrainJob in the files that the command reads: in its PATHs, or in the project."""
    return [CompletionItem(name) for name in sorted(set(_names(ctx))) if name.startswith(incomplete)]


def environment_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an environment in the trainc.yaml of the command line's PATHs."""
    from trainc.settings import load

    names = load(_paths(ctx), file=ctx.params.get("config")).environment_names
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _paths(ctx: click.Context) -> list[str]:
    given = ctx.params.get("paths") or ctx.params.get("sides") or ctx.args  # click leaves them there after an option
    return [path for path in given if os.path.exists(path)]


def _names(ctx: click.Context) -> Iterator[str]:
    from trainc.base.kinds import COMPILED, TRAINJOB
    from trainc.compilation.run import Options, start
    from trainc.diagnostics import ObjectId
    from trainc.files import inputs
    from trainc.frontends.reading import Reading

    paths = tuple(_paths(ctx))
    run = start(Options(config=ctx.params.get("config")), paths=paths).with_project(paths)
    read, left, word = Reading(kinds=COMPILED), SIZE, TRAINJOB.kind.encode()
    for file in islice(inputs.read(run.inputs, run.selection), FILES):
        if isinstance(file, inputs.File) and not file.output and word in file.data:
            left -= len(file.data)
            if left < 0:
                break
            read.add(file)
    yield from (ObjectId.from_source(document.value).name for document in read.documents["job"])
