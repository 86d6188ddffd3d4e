"""The options of all commands as data, for two parsers: click, and a fast one for plain command lines of the hot path.

Importing click takes a quarter of a cold start. `Command.read` parses command lines in which every option is known,
complete and unabbreviated, and returns the same values as click. Everything else (help, errors, reports, rarer ways to
write an option) is left to click, with the parameters that `Command.click_command` builds from the same rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import click

    from trainc.cli.common.click_classes import GroupedCommand

    Decorated = Callable[..., Any]


OWN: Final = "Options"
INPUT: Final = "Input"
OF_SETTINGS: Final = "Settings of trainc.yaml"
OF_REPORT: Final = "Report"
GROUPS: Final = (OWN, INPUT, OF_SETTINGS, OF_REPORT)
"""The sections of a command's help; the first has the options that belong to the command."""


class Argument(NamedTuple):
    """A positional argument: by default any number of words; with `nargs=1`, one word."""

    name: str
    metavar: str | None = None
    complete: Callable[..., Any] | None = None
    nargs: int = -1
    required: bool = False
    default: str | None = None
    type: click.ParamType[Any] | None = None

    def decorate(self, function: Decorated) -> Decorated:
        """Return the function with this row as a click parameter."""
        import click

        settings = _without_nones(
            metavar=self.metavar, default=self.default, type=self.type, shell_complete=self.complete
        )
        return click.argument(self.name, nargs=self.nargs, required=self.required, **settings)(function)


class Option(NamedTuple):
    """An option."""

    flags: tuple[str, ...]
    help: str
    name: str = ""
    """The name of the function's argument; by default derived from the last flag."""
    metavar: str | None = None
    is_flag: bool = False
    multiple: bool = False
    choices: tuple[str, ...] = ()
    default: str | int | None = None
    show_default: bool = False
    type: click.ParamType[Any] | None = None
    """A type of click; only for commands outside of the hot path, as `show_default`."""
    complete: Callable[..., Any] | None = None
    convert: Callable[..., Any] | None = None
    """A click callback that converts the values."""
    variable: str | None = None
    """The environment variable with the value if the option is not set; only for commands outside of the hot path."""
    group: str = OWN
    """The section of the help."""

    @property
    def argument(self) -> str:
        """The name of the function's argument."""
        return self.name or self.flags[-1].removeprefix("--").replace("-", "_")

    @property
    def absent(self) -> object:
        """The function's argument if the option is not set."""
        return () if self.multiple else False if self.is_flag else self.default

    def decorate(self, function: Decorated) -> Decorated:
        """Return the function with this row as a click parameter."""
        import click

        from trainc.cli.common.click_classes import NearestChoice

        settings = _without_nones(
            metavar=self.metavar,
            default=self.default,
            show_default=self.show_default or None,
            type=NearestChoice(self.choices) if self.choices else self.type,
            shell_complete=self.complete,
            callback=self.convert,
            envvar=self.variable,
            is_flag=self.is_flag or None,
        )
        return click.option(*self.flags, self.argument, help=self.help, multiple=self.multiple, **settings)(function)


def _without_nones(**settings: Any) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


class Command(NamedTuple):
    """A command, whose name is that of its module."""

    run: Callable[..., int]
    rows: tuple[Argument | Option, ...]
    """The options and the arguments, in help order; a command of the hot path has at most one argument."""
    short_help: str
    epilog: str | None = None
    click_class: type[GroupedCommand] | None = None
    """The class of the click command, if it is not that of all commands."""

    def click_command(self, name: str | None = None) -> click.Command:
        """Return the command as a click command."""
        import click

        function: Decorated = self.run
        for row in reversed(self.rows):
            function = row.decorate(function)
        from trainc.cli.common.click_classes import GroupedCommand

        cls = self.click_class or GroupedCommand
        command = click.command(name, cls=cls, short_help=self.short_help, epilog=self.epilog)(function)
        command.groups = {row.argument: GROUPS.index(row.group) for row in self.rows if isinstance(row, Option)}
        command.headings = GROUPS
        return command

    def read(self, words: Sequence[str]) -> dict[str, Any] | None:
        """Return the function's arguments, or None if click must parse the words."""
        options = [row for row in self.rows if isinstance(row, Option)]
        known = {flag: option for option in options for flag in option.flags}
        values: dict[str, Any] = {option.argument: option.absent for option in options}
        positional: list[str] = []
        remaining = iter(words)
        for word in remaining:
            if word == "-" or not word.startswith("-"):
                positional.append(word)
                continue
            flag, has_value, value = word.partition("=")
            option = known.get(flag)
            if option is None or option.convert or (has_value and (option.is_flag or not flag.startswith("--"))):
                return None
            if option.is_flag:
                values[option.argument] = True
                continue
            if not has_value:
                value = next(remaining, "--")
                if value.startswith("-") and value != "-":
                    return None
            if option.choices and value not in option.choices:
                return None
            values[option.argument] = (*values[option.argument], value) if option.multiple else value
        return values | {row.name: tuple(positional) for row in self.rows if isinstance(row, Argument)}
