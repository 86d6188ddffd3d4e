"""`trainc init`: write a small, working repository of jobs. A project stays as it is, and so do other files."""

from __future__ import annotations

import os

import click

from trainc.cli.common import OK, options, printing
from trainc.cli.common.arguments import Argument, Command

EPILOG = """\b
Examples:
  trainc init training-jobs   in a new folder
  trainc init                 in the current one
"""

FILES = {
    "README.md": "README.md",
    "trainc.yaml": "trainc.yaml",
    "runtimes/team-torch.yaml": "runtimes/team-torch.yaml",
    "jobs/first-job.yaml": "jobs/first-job.yaml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
    ".gitattributes": "gitattributes",
}
"""The written files and their templates. Templates of hidden files have visible names, so that tools ignore them."""


def init(folder: str, trainer_version: str | None) -> int:
    """Create a starter repository in DIR: two environments, a runtime, a job, pre-commit checks, a README.

    Existing files are kept. With a trainc.yaml in DIR, nothing is written.
    """
    from trainc.reports.text import escape

    _reject_project(folder)
    for name, template in FILES.items():
        path = os.path.normpath(os.path.join(folder, name))
        printing.write(f"{escape(path)}: {'written' if _write(path, template, trainer_version) else 'exists, kept'}\n")
    printing.write(f"\nNext:\n{_change_to(folder)}  trainc validate\n  trainc build\n")
    return OK


def _reject_project(folder: str) -> None:
    """Raise ClickException for a folder with a trainc.yaml: the job and the runtime would join its project."""
    from trainc.files.selection import SETTINGS

    if not os.path.lexists(os.path.join(folder, SETTINGS)):
        return
    settings, *paths = (os.path.normpath(os.path.join(folder, name)) for name in (SETTINGS, *FILES))
    missing = ", ".join(path for path in paths if not os.path.lexists(path))
    others = f"; trainc init would have written {missing}" if missing else ""
    raise click.ClickException(f"{settings} exists: nothing was written{others}")


def _write(path: str, template: str, trainer_version: str | None) -> bool:
    """Write a file, the settings with the given release of Trainer; return False if it already exists."""
    from trainc.base.data import data_path
    from trainc.files.atomic import create_at
    from trainc.files.confine import open_to_write
    from trainc.reports.text import escape

    with open(data_path("templates", "init", template), "rb") as file:
        data = file.read()
    if template == FILES["trainc.yaml"] and trainer_version is not None:
        data = data.replace(b'trainerVersion: "2.3"', f'trainerVersion: "{trainer_version}"'.encode(), 1)
    folder, name = os.path.split(path)
    try:
        at = open_to_write(folder or os.curdir, make=True)
        try:
            return create_at(at, name, data)
        finally:
            os.close(at)
    except OSError as error:
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise click.ClickException(f"{escape(folder)} is not a folder") from None
        raise click.ClickException(f"{escape(path)} cannot be written: {error.strerror}") from None


def _change_to(folder: str) -> str:
    """Return the line that changes to the folder; empty for the current folder."""
    from shlex import quote

    from trainc.reports.text import escape

    return "" if os.path.abspath(folder) == os.getcwd() else f"  cd {escape(quote(folder))}\n"


command = Command(
    init,
    (Argument("folder", metavar="[DIR]", complete=options.folder_names, nargs=1, default="."), options.TRAINER_VERSION),
    short_help="Create a starter repository.",
    epilog=EPILOG,
)
