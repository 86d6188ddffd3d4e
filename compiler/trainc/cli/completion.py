"""`trainc completion`: the shell completion script for trainc's commands, options and paths."""

from __future__ import annotations

import click

from trainc.cli import options
from trainc.cli.codes import OK
from trainc.cli.group import cli

SHELLS = ("bash", "zsh", "fish")
EPILOG = """\b
Examples:
  trainc completion bash > ~/.local/share/bash-completion/completions/trainc
      requires the package bash-completion; without it, in ~/.bashrc: eval "$(trainc completion bash)"
  trainc completion zsh > ~/.zfunc/_trainc
      and in ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit && compinit
  trainc completion fish > ~/.config/fish/completions/trainc.fish
"""


@click.command(short_help="Print the shell completion script.", epilog=EPILOG)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    """Print the completion script for SHELL."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    completion = kind(cli, {}, "trainc", "_TRAINC_COMPLETE")
    # click's own `source` requires a recent local bash, but the script may be for another machine.
    options.write(completion.source_template % completion.source_vars())
    return OK
