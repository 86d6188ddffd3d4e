"""Reports in files (`--report FORMAT=FILE`), the verdict of several environments, and ambiguous options.

Reads    the requested reports, the input paths, and the result of a run.
Writes   each file atomically: to a temporary file beside it, which is then renamed; a pipe or device directly. A file
         that cannot be written is a usage error, reported before compilation if it can be detected then.
"""

from __future__ import annotations

import os
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Final

import click

from trainc import reports
from trainc.base.declarations import Declaration
from trainc.cli.common import printing
from trainc.compilation import environment_runs
from trainc.diagnostics import Diagnostic
from trainc.files.confine import LinkError, is_confined, is_link, open_to_write, resolved
from trainc.files.inputs import STDIN
from trainc.files.selection import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.compilation import Compilation
    from trainc.compilation.environment_runs import EnvironmentRun


STDOUT: Final = "-"
AMBIGUOUS_OPTION: Final = Declaration("ambiguous-option", ("read",), trainc_only=True)


def check(wanted: Sequence[tuple[str, str]], *, inputs: Sequence[str], stdout: str) -> None:
    """Raise UsageError for files that cannot or must not be written.

    Args:
        wanted: the requested reports, as pairs of format and file.
        inputs: the input paths.
        stdout: what standard output already carries, for the message; empty if nothing.
    """
    given = {resolved(path) for path in inputs if path != STDIN}
    seen: set[str] = set()
    for _, file in wanted:
        real = file if file == STDOUT else resolved(file)
        if real in seen:
            raise _rejected(file, "is given twice: use one file per report")
        seen.add(real)
        if stdout and (file == STDOUT or _holds_standard_output(file)):
            raise _rejected(file, f"is standard output, which already carries {stdout}; use ./- for a file named -")
        if file != STDOUT and (reason := _behind_a_link(file)):
            raise _rejected(file, f"cannot be written: {reason}")
        if real in given or (file != STDOUT and _may_be_input(real)):
            raise _rejected(file, "is not a report and may be an input: use another file")
        if file != STDOUT and (reason := _write_failure_reason(file)):
            raise _rejected(file, f"cannot be written: {reason}")


def write(wanted: Sequence[tuple[str, str]], result: Compilation, summary: str = "") -> None:
    """Write every report, by default with the verdict. Raise UsageError for a file that cannot be written."""
    for form, file in wanted:
        text = reports.load(form).render(
            result.reported(form), summary=summary or printing.verdict(result), color=False, checked=result.checked
        )
        if file == STDOUT:
            printing.write(text)
            continue
        try:
            _write(file, text.encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise _rejected(file, f"cannot be written: {error.strerror}") from None


def _rejected(file: str, reason: str) -> click.UsageError:
    from trainc.base.texts import escape

    return click.UsageError(f"--report: {escape(file)} {reason}.")


def _may_be_input(file: str) -> bool:
    """Return whether a file may hold manifests. The report of an earlier run may be replaced, whatever its name."""
    if not file.endswith(SUFFIXES) or not os.path.isfile(file):
        return False
    import json

    try:
        with open(file, "rb") as opened:
            data = opened.read()
        content = json.loads(data) if data.strip() else []
    except (OSError, ValueError, RecursionError):
        return True
    return not (isinstance(content, list) or (isinstance(content, dict) and "runs" in content))


def _write_failure_reason(file: str) -> str:
    """Return the reason why a file cannot be written; empty if none is known."""
    if os.path.isdir(file):
        return "it is a folder"
    if _is_stream(file):
        return "" if os.access(file, os.W_OK) else "permission denied"
    folder = os.path.dirname(resolved(file))
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        return f"{folder} is not a folder"
    return "" if os.access(folder, os.W_OK | os.X_OK) else "permission denied"


def _behind_a_link(file: str) -> str:
    """Return why a file below the root cannot be written because of a link; empty if its path has no link."""
    folder, name = os.path.split(os.path.abspath(file))
    if not is_confined(file):
        return ""
    try:
        at = open_to_write(folder, make=False)
    except LinkError as error:
        return error.strerror
    except OSError:
        return ""  # it does not exist, or `_write_failure_reason` reports the reason
    try:
        return LinkError().strerror if is_link(name, at) else ""
    finally:
        os.close(at)


def _is_stream(file: str) -> bool:
    """Return whether a path is a pipe or a device, which a rename would replace."""
    return os.path.exists(file) and not os.path.isfile(file)


def _holds_standard_output(file: str) -> bool:
    """Return whether the shell has redirected standard output to this file."""
    try:
        return os.path.isfile(file) and os.path.samestat(os.stat(file), os.fstat(sys.stdout.fileno()))
    except OSError:
        return False  # standard output has no file descriptor


def _write(file: str, data: bytes) -> None:
    """Write a file and create missing folders."""
    from trainc.files import atomic

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
            atomic.replace_at(at, name, data)
    finally:
        os.close(at)


def verdict_of_environments(result: Compilation, runs: Iterable[EnvironmentRun]) -> str:
    """Return the summary of a check; without diagnostics, the number of checked objects of each environment."""
    runs = tuple(run for run in runs if run.result.files)
    several = len({run.project for run in runs}) > 1
    if result.diagnostics or not (several or any(run.name for run in runs)):
        return printing.verdict(result)

    counted = []
    for _, project in groupby(runs, key=lambda run: run.project):
        numbers: dict[str, list[EnvironmentRun]] = {}
        for run in project:
            number = f"{run.result.counted_jobs}, {printing.counted_runtimes(run.result)}"
            numbers.setdefault(number, []).append(run)
        for number, alike in numbers.items():
            names = environment_runs.listed([run.name for run in alike if run.name])
            where = [*([names] if names else []), *([alike[0].settings.folder] if several else [])]
            counted.append(f"{number} in {' of '.join(where)}")
    return "; ".join(filter(None, ("no problems found: " + "; ".join(counted), printing.unsupported_note(result))))


def ambiguous_option(word: str) -> Diagnostic:
    """Return the error for an option that is also a file."""
    return Diagnostic.declared(
        AMBIGUOUS_OPTION,
        f"ambiguous argument '{word}': both option and path",
        f"use './{word}' for the path, or rename the file to use the option",
    )
