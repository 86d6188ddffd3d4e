"""Help texts with the options in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trainc.cli.common.arguments import INPUT, OF_REPORT, OF_SETTINGS, OWN

if TYPE_CHECKING:
    from collections.abc import Mapping


class GroupedCommand(click.Command):
    """A command whose help lists its own options first, and then those of each group."""

    groups: Mapping[str, str] = {}
    """The section of each option; that of `--help` is the first one."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, a section for each group."""
        sections: dict[str, list[tuple[str, str]]] = {group: [] for group in (OWN, INPUT, OF_SETTINGS, OF_REPORT)}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
                sections[self.groups.get(parameter.name or "", OWN)].append(record)
        for group, records in sections.items():
            if records:
                with formatter.section(group):
                    formatter.write_dl(records)
