"""The command line. A command is one file whose name is its own, loaded when it is called.

Exit codes: 0 done; 1 the input is wrong; 2 the command line is wrong; 3 a difference was asked for and found;
70 a fault of trainc itself.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Final

import click

from trainc.version import __version__

COMMANDS: Final = (
    "build",
    "validate",
    "pods",
    "explain",
    "diff",
    "graph",
    "upgrade",
    "krm",
    "cmp",
    "secret",
    "runtimes",
    "schema",
    "init",
    "completion",
)

OK: Final = 0
WRONG_INPUT: Final = 1
DIFFERENT: Final = 3
OUR_FAULT: Final = 70
INTERRUPTED: Final = 130


class LazyGroup(click.Group):
    """A group that imports a command when it is called, or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"{__name__}.{cmd_name}").command
        return command

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


def entry() -> None:
    """The `trainc` command: a process of its own, which needs no more of PyYAML than its parser."""
    from trainc.kubernetes.libyaml import load_alone

    load_alone()
    main()


def main() -> None:
    """Run the command line, and exit with its code."""
    name = os.path.basename(sys.argv[0])
    try:
        code = cli.main(prog_name="kubectl trainc" if name.startswith("kubectl-") else "trainc", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; what is left in the buffer must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = OK
    except Exception:
        code = _our_fault()
    sys.exit(code)


def _our_fault() -> int:
    import platform
    import traceback

    traceback.print_exc()
    where = f"Python {platform.python_version()}, {platform.system()}"
    sys.stderr.write(
        f"\ntrainc {__version__} ({where}) has met a fault of its own.\n"
        "Your input is not to blame. Please report it with the lines above and, where you can, the input that\n"
        "causes it; leave out values that are secret.\n"
    )
    return OUR_FAULT
