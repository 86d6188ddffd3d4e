"""A choice of an option or argument, whose error names the nearest value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    Choice = click.Choice[str]
else:  # before click 8.2, it is no generic class
    Choice = click.Choice


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
