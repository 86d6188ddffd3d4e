"""`trainc completion`: the script that makes a shell complete trainc's commands, options and paths."""

from __future__ import annotations

import click

from trainc.cli import options
from trainc.cli.codes import OK
from trainc.cli.group import cli

SHELLS = ("bash", "zsh", "fish")
EPILOG = """\b
Examples:
  trainc completion bash > ~/.local/share/bash-completion/completions/trainc
      needs the package bash-completion; without it: eval "$(trainc completion bash)" in ~/.bashrc
  trainc completion zsh > ~/.zfunc/_trainc
      and in ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit && compinit
  trainc completion fish > ~/.config/fish/completions/trainc.fish
"""


@click.command(short_help="Print a shell's completion script.", epilog=EPILOG)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    """Print the completion script of SHELL."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    completion = kind(cli, {}, "trainc", "_TRAINC_COMPLETE")
    # click's own `source` asks the bash on this machine for its version: the script may be for another one.
    options.write(completion.source_template % completion.source_vars())
    return OK
