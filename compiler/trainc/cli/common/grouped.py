"""Help texts with the options in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
