"""`trainc completion`: the shell completion script for trainc's commands, options and paths."""

from __future__ import annotations

import sys

import click

from trainc.cli.common import OK, printing
from trainc.cli.common.arguments import Argument, Command
from trainc.cli.common.group import cli

SHELLS = ("bash", "zsh", "fish")
EPILOG = """\b
Examples:
  trainc completion bash > ~/.local/share/bash-completion/completions/trainc
      or, without the package bash-completion, in ~/.bashrc:
      eval "$(trainc completion bash)"
  trainc completion zsh > ~/.zfunc/_trainc
      and in ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit && compinit
  trainc completion fish > ~/.config/fish/completions/trainc.fish
"""


DIRECTIVES = {"plain": 4, "file": 0, "dir": 16}
"""Cobra's directives, which kubectl passes to the shell: no files, files, folders."""


def kubectl() -> None:
    """Run `kubectl_complete-trainc`, which kubectl calls for `kubectl trainc <TAB>` with the words after the plugin.

    The last word is the incomplete one. The last line of the output is a directive.
    """
    from click.shell_completion import ShellComplete

    *words, incomplete = sys.argv[1:] or [""]
    found = ShellComplete(cli, {}, "kubectl trainc", "").get_completions(words, incomplete)
    lines = [item.value for item in found if item.type == "plain"]
    directive = min((DIRECTIVES[item.type] for item in found if item.type != "plain"), default=DIRECTIVES["plain"])
    printing.write("".join(f"{line}\n" for line in [*lines, f":{directive}"]))


def completion(shell: str) -> int:
    """Print the completion script for SHELL."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(cli, {}, "trainc", "_TRAINC_COMPLETE")
    # click's own `source` requires a recent local bash, but the script may be for another machine.
    printing.write(script.source_template % script.source_vars())
    return OK


command = Command(
    completion,
    (Argument("shell", nargs=1, required=True, type=click.Choice(SHELLS)),),
    short_help="Print the shell completion script.",
    epilog=EPILOG,
)
