"""The command line as click reads it: help, completion, the commands that are not in a hurry, and every mistake."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

from trainc.cli.codes import INTERRUPTED
from trainc.version import __version__

COMMANDS: Final = (
    "build",
    "validate",
    "pods",
    "explain",
    "graph",
    "diff",
    "upgrade",
    "krm",
    "cmp",
    "secret",
    "runtimes",
    "schema",
    "init",
    "completion",
)
"""The commands, in the order of the help; each is a module of this package."""


class LazyGroup(click.Group):
    """A group that imports a command when it is called, or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"trainc.cli.{cmd_name}").command
        found: click.Command = command if isinstance(command, click.Command) else command.of_click()
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command where there is none of that name; a shell that completes is told nothing."""
        if args and args[0] not in COMMANDS and not ctx.resilient_parsing:
            from trainc.nearest import nearest

            near = nearest(args[0], COMMANDS)
            hint = f' Did you mean "{near}"?' if near else f" There are: {', '.join(COMMANDS)}."
            ctx.fail(f'No command "{args[0]}".{hint}')
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Run 'trainc COMMAND --help' for a command's options and examples.",
)
@click.version_option(__version__, "--version", message="trainc %(version)s")
def cli() -> None:
    """Compile TrainJobs to the JobSets that the Kubeflow Trainer controller would make of them, offline."""


def run(name: str) -> int:
    """Run the command line of this process; returns its code. `name` is what the user calls trainc."""
    try:
        code: int = cli.main(prog_name=name, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    return code
