"""`trainc init`: a small repository of jobs that works, to begin with. What is there already is kept."""

from __future__ import annotations

import os

import click

from trainc.cli import options
from trainc.cli.codes import OK

EPILOG = """\b
Examples:
  trainc init training-jobs   in a new folder
  trainc init                 in the current one
"""

FILES = {
    "README.md": "README.md",
    "runtimes/team-torch.yaml": "runtimes/team-torch.yaml",
    "jobs/first-job.yaml": "jobs/first-job.yaml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
    ".gitattributes": "gitattributes",
}
"""What is written, from which template; hidden files would have an effect where the templates are."""


@click.command(short_help="Write a small repository to begin with.", epilog=EPILOG)
@click.argument("folder", metavar="[DIR]", default=".", shell_complete=options.folder_names)
def command(folder: str) -> int:
    """Write a repository to begin with to DIR: a runtime, a job, checks for pre-commit, a README.

    No file is overwritten.
    """
    from trainc.reports.text import escape

    for name, template in FILES.items():
        path = os.path.normpath(os.path.join(folder, name))
        options.write(f"{escape(path)}: {'written' if _write(path, template) else 'kept as it is'}\n")
    options.write(f"\nNext:\n{_change_to(folder)}  trainc validate\n  trainc build -o rendered\n")
    return OK


def _write(path: str, template: str) -> bool:
    """Write a file; False where there is one already."""
    from trainc.confine import open_to_write
    from trainc.data import data_path
    from trainc.folders import create_at
    from trainc.reports.text import escape

    with open(data_path("templates", "init", template), "rb") as file:
        data = file.read()
    folder, name = os.path.split(path)
    try:
        at = open_to_write(folder or os.curdir, make=True)
        try:
            return create_at(at, name, data)
        finally:
            os.close(at)
    except OSError as error:
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise click.ClickException(f"{escape(folder)} is in the way: it is no folder") from None
        raise click.ClickException(f"{escape(path)} cannot be written: {error.strerror}") from None


def _change_to(folder: str) -> str:
    """The line that changes to the folder; none where it is the current one."""
    from shlex import quote

    from trainc.reports.text import escape

    return "" if os.path.abspath(folder) == os.getcwd() else f"  cd {escape(quote(folder))}\n"
