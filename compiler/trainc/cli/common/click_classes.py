"""Click's classes, refined: a help text with options in groups, and a choice whose error names the nearest value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
