"""The click command line: help, completion, usage errors, and the commands off the hot path."""

from __future__ import annotations

import errno
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Final

import click

from trainc.base import releases as trainer_releases
from trainc.base.kueue_releases import KUEUE_RELEASES
from trainc.base.releases import IMPLEMENTS, __version__
from trainc.cli.common import INTERRUPTED, OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainc.cli.common.arguments import Command

COMMANDS: Final = (
    "validate",
    "diff",
    "build",
    "explain",
    "pods",
    "graph",
    "queues",
    "migrate",
    "upgrade",
    "init",
    "settings",
    "runtimes",
    "secret",
    "cmp",
    "krm",
    "schema",
    "lsp",
    "completion",
)
"""The commands in help order; each is a module of this package."""
HEADINGS: Final = {
    "validate": "Check and review",
    "build": "Compile",
    "explain": "Inspect",
    "migrate": "Convert",
    "init": "Project",
    "cmp": "Integrations",
}
"""The heading above each of these commands in the help."""
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


RELEASES: Final = (
    "implements "
    + ", ".join(map(" ".join, IMPLEMENTS))
    + "\nfor the releases of Trainer "
    + ", ".join(release.described for release in trainer_releases.RELEASES)
    + " (--trainer-version)\nand of Kueue "
    + ", ".join(release.name for release in KUEUE_RELEASES)
    + " (--kueue-version)"
)
"""The further lines of `--version`."""
UNWRITABLE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""The errors of a write to an open stream, except a closed pipe."""


class LazyGroup(click.Group):
    """A group that imports a command when it is called or listed."""

    def __init__(
        self,
        *,
        package: str,
        names: Sequence[str],
        habits: Mapping[str, str],
        headings: Mapping[str, str] = {},
        **settings: Any,
    ) -> None:
        """Create the group of the modules `names` of a package; a keyword's module has an underscore at the end."""
        super().__init__(**settings)
        self.package = package
        self.headings = headings
        self.names = names
        self.habits = habits

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in help order."""
        return list(self.names)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, a section for each heading, in columns of one width."""
        width = max(map(len, self.names))
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.names:
            heading = self.headings.get(name) or next(reversed(sections), "Commands")
            if (command := self.get_command(ctx, name)) is not None:
                sections.setdefault(heading, []).append((name.ljust(width), command.get_short_help_str()))
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with that name."""
        if cmd_name not in self.names:
            return None
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command: Command | click.Command = import_module(f"{self.package}.{module}").command
        return command if isinstance(command, click.Command) else command.click_command(cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without a command, print the help as an error, as click does since 8.2."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for an unknown one, except during completion."""
        if args and args[0] not in self.names and not ctx.resilient_parsing:
            from trainc.base.suggestions import nearest_name

            near = self.habits.get(args[0]) or nearest_name(args[0], self.names)
            hint = f' Did you mean "{near}"?' if near else f" The commands are {', '.join(self.names)}."
            ctx.fail(f'Unknown command "{args[0]}".{hint}')
        return super().resolve_command(ctx, args)


def _remember(ctx: click.Context, param: click.Parameter, verbose: bool) -> None:
    """Keep `-v` for `--version`."""
    ctx.obj = verbose


def _print_version(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    """Print the versions and exit."""
    if not asked:
        return
    lines = [f"trainc {__version__}", RELEASES]
    if ctx.obj:
        from trainc.base.behaviours import evidence_lines

        lines += evidence_lines()
    click.echo("\n".join(lines))
    ctx.exit()


@click.group(
    cls=LazyGroup,
    package="trainc.cli",
    names=COMMANDS,
    headings=HEADINGS,
    habits=HABITS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Run 'trainc COMMAND --help' for a command's options and examples.",
)
@click.option("-v", "--verbose", is_flag=True, is_eager=True, expose_value=False, callback=_remember, hidden=True)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit; with -v, also the evidence for each behavior of each release.",
)
def cli() -> None:
    """Compile TrainJobs offline to the JobSets that the Kubeflow Trainer controller would create."""


def run(name: str) -> int:
    """Run the command line of this process and return its exit code. `name` is the program name shown in usage."""
    try:
        code: int = cli.main(prog_name=name, standalone_mode=False)
    except click.ClickException as error:
        from trainc.base.texts import escape

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
