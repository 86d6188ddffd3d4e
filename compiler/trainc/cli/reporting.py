"""`--report FORMAT=FILE`: reports to files, besides what a command prints.

Reads    the wanted reports, the paths that the user gave, and what a run has to say.
Writes   each file whole: beside its place, then renamed into it; a pipe or device as it is. A file that cannot be
         written is a fault of the command line, told before anything is compiled where that can be known.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

import click

from trainc import reports
from trainc.cli import options
from trainc.confine import LinkError, is_confined, is_link, open_to_write, resolved
from trainc.inputs import STDIN, SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.compilation import Compilation

STDOUT: Final = "-"


def check(wanted: Sequence[tuple[str, str]], *, inputs: Sequence[str], stdout: str) -> None:
    """Refuse files that cannot be written, or must not be. `stdout` is what standard output carries already."""
    given = {resolved(path) for path in inputs if path != STDIN}
    seen: set[str] = set()
    for _, file in wanted:
        real = file if file == STDOUT else resolved(file)
        if real in seen:
            raise _refused(file, "is given twice: a file holds one report")
        seen.add(real)
        if stdout and (file == STDOUT or _holds_standard_output(file)):
            raise _refused(file, f"is standard output, which carries {stdout}; ./- is a file of that name")
        if file != STDOUT and (why := _behind_a_link(file)):
            raise _refused(file, f"cannot be written: {why}")
        if real in given or (file != STDOUT and _may_be_input(real)):
            raise _refused(file, "is no report, and may be an input: choose another file")
        if file != STDOUT and (why := _unwritable(file)):
            raise _refused(file, f"cannot be written: {why}")


def write(wanted: Sequence[tuple[str, str]], result: Compilation) -> None:
    """Write every report. Raises UsageError for a file that the system refuses."""
    for form, file in wanted:
        text = reports.load(form).render(
            result.diagnostics, summary=options.verdict(result), color=False, checked=result.checked
        )
        if file == STDOUT:
            options.write(text)
            continue
        try:
            _write(file, text.encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise _refused(file, f"cannot be written: {error.strerror}") from None


def _refused(file: str, why: str) -> click.UsageError:
    from trainc.source.printable import escape

    return click.UsageError(f"--report: {escape(file)} {why}.")


def _may_be_input(file: str) -> bool:
    """Whether a file may hold manifests: a report of an earlier run may be replaced, whatever its name."""
    if not file.endswith(SUFFIXES) or not os.path.isfile(file):
        return False
    import json

    try:
        with open(file, "rb") as opened:
            data = opened.read()
        there = json.loads(data) if data.strip() else []
    except (OSError, ValueError, RecursionError):
        return True
    return not (isinstance(there, list) or (isinstance(there, dict) and "runs" in there))


def _unwritable(file: str) -> str:
    """Why a file cannot be written; empty where nothing is known that stands against it."""
    if os.path.isdir(file):
        return "it is a folder"
    if _is_stream(file):
        return "" if os.access(file, os.W_OK) else "permission denied"
    folder = os.path.dirname(resolved(file))
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        return f"{folder} is no folder"
    return "" if os.access(folder, os.W_OK | os.X_OK) else "permission denied"


def _behind_a_link(file: str) -> str:
    """Return why a file cannot be written that is a link below the root, or behind one; else an empty string."""
    folder, name = os.path.split(os.path.abspath(file))
    if not is_confined(file):
        return ""
    try:
        at = open_to_write(folder, make=False)
    except LinkError as error:
        return error.strerror
    except OSError:
        return ""  # it is missing, or `_unwritable` has more to say
    try:
        return LinkError().strerror if is_link(name, at) else ""
    finally:
        os.close(at)


def _is_stream(file: str) -> bool:
    """Whether a path is a pipe or a device: what no file can be renamed into."""
    return os.path.exists(file) and not os.path.isfile(file)


def _holds_standard_output(file: str) -> bool:
    """Whether the shell has sent standard output into this file."""
    try:
        return os.path.isfile(file) and os.path.samestat(os.stat(file), os.fstat(sys.stdout.fileno()))
    except OSError:
        return False  # there is no descriptor


def _write(file: str, data: bytes) -> None:
    """Write a file, its folders made where they are missing."""
    from trainc import folders

    confined = is_confined(file)
    if _is_stream(file) and not confined:
        with open(file, "wb") as opened:
            opened.write(data)
        return
    folder, name = os.path.split(os.path.abspath(file) if confined else resolved(file))
    at = open_to_write(folder, make=True)
    try:
        if confined and is_link(name, at):
            raise LinkError
        if _is_stream(file):
            with open(os.open(name, os.O_WRONLY | os.O_NOFOLLOW, dir_fd=at), "wb") as opened:
                opened.write(data)
        else:
            folders.replace_at(at, name, data)
    finally:
        os.close(at)
