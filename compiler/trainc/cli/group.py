"""The click command line: help, completion, usage errors, and the commands off the hot path."""

from __future__ import annotations

import errno
from importlib import import_module
from typing import Final

import click

from trainc.cli.codes import INTERRUPTED, OutputError
from trainc.version import IMPLEMENTS, __version__

COMMANDS: Final = (
    "build",
    "validate",
    "pods",
    "queues",
    "explain",
    "graph",
    "diff",
    "upgrade",
    "krm",
    "cmp",
    "secret",
    "runtimes",
    "settings",
    "schema",
    "init",
    "completion",
)
"""The commands in help order; each is a module of this package."""
HABITS: Final = {
    "apply": "build",
    "check": "validate",
    "compile": "build",
    "generate": "build",
    "lint": "validate",
    "render": "build",
    "template": "build",
    "verify": "validate",
    "vet": "validate",
}
"""The names that other tools, such as helm and ruff, have for some commands; they are suggested, not accepted."""


RELEASES: Final = "implements " + ", ".join(map(" ".join, IMPLEMENTS))
"""The second line of `--version`."""
UNWRITABLE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""The errors of a write to an open stream, except a closed pipe."""


class LazyGroup(click.Group):
    """A group that imports a command when it is called or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in help order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with that name."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"trainc.cli.{cmd_name}").command
        found: click.Command = command if isinstance(command, click.Command) else command.of_click()
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for an unknown one, except during completion."""
        if args and args[0] not in COMMANDS and not ctx.resilient_parsing:
            from trainc.nearest import nearest

            near = HABITS.get(args[0]) or nearest(args[0], COMMANDS)
            hint = f' Did you mean "{near}"?' if near else f" The commands are {', '.join(COMMANDS)}."
            ctx.fail(f'Unknown command "{args[0]}".{hint}')
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Run 'trainc COMMAND --help' for a command's options and examples.",
)
@click.version_option(__version__, "--version", message=f"trainc %(version)s\n{RELEASES}")
def cli() -> None:
    """Compile TrainJobs offline to the JobSets that the Kubeflow Trainer controller would create."""


def run(name: str) -> int:
    """Run the command line of this process and return its exit code. `name` is the program name shown in usage."""
    try:
        code: int = cli.main(prog_name=name, standalone_mode=False)
    except click.ClickException as error:
        from trainc.source.printable import escape

        vars(error).update(message=escape(error.message))  # it quotes arguments
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except OSError as error:
        if error.filename is None and error.errno in UNWRITABLE:  # click's own output, such as --help
            raise OutputError(error.strerror) from None
        raise
    return code
