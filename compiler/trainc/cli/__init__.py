"""The command line: one module per command, loaded on demand. `cli.common` has the exit codes.

**A command**. Copy from `cli/graph.py`.
1. Write `cli/<name>.py` with `command`, and add `<name>` to `COMMANDS` in `cli/common/group.py`.
2. Write `docs/commands/<name>.md`, and a test in `tests/unit` that calls `run("<name>", ...)`.
3. The options of `build` and `validate` are rows of data in `cli/common/arguments.py`. trainc builds click's
   options from them. A new option also needs a line in `tests/contracts/test_command_lines.py`.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final

from trainc.base.releases import __version__
from trainc.cli.common import INTERNAL_ERROR, INTERRUPTED, MISUSE, OK, WRONG_INPUT, OutputError

if TYPE_CHECKING:
    from trainc.cli.common.arguments import Command
    from trainc.diagnostics import Diagnostic

HOT: Final = ("build", "validate")
"""The commands whose plain command lines are read without click; importing it takes a quarter of a cold start."""
COMPLETING: Final = "_TRAINC_COMPLETE"
"""The environment variable with which a shell requests completions from click."""
WINDOWS: Final = "trainc does not run on Windows itself: use WSL (https://aka.ms/wsl)"
"""The message where the system calls that trainc needs do not exist."""


def entry() -> None:
    """Run the `trainc` command as a process of its own.

    The process needs only PyYAML's parser. It is short-lived and nearly all its objects stay in use until the end:
    garbage collection would take 6 % of a cold build and 14 % of a build of ten thousand jobs, and interpreter
    shutdown another 15 % of a cold build. Both are skipped, except in a browser, where the interpreter goes on.
    """
    if os.name == "nt":
        sys.exit(_report_misuse(WINDOWS))
    if sys.platform == "emscripten":
        sys.exit(run())
    import gc

    gc.disable()
    from trainc.kubernetes.libyaml import load_alone

    load_alone()
    code = run()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # the stream is missing or closed
            stream.flush()
    os._exit(code)


def run() -> int:
    """Run the command line and return its exit code; raise nothing."""
    try:
        return _run()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe has gone: do not write the rest of the buffer at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OutputError as error:
        return _report_misuse(f"standard output cannot be written: {error}")
    except MemoryError:
        return _report_misuse("the input needs more memory than the process may use; pass fewer files or folders")
    except Exception as error:
        budget = sys.modules.get("trainc.budget")
        if budget is not None and isinstance(error, budget.OverBudgetError):
            return _over_budget(error.diagnostic)
        reason = _reason_outside()
        return _report_misuse(reason) if reason else _internal_error()


def _run() -> int:
    """Read the command line without click if possible, otherwise with click."""
    name, *words = sys.argv
    completing = COMPLETING in os.environ
    if not completing and (word := _ambiguous_word(words)):
        from trainc.cli.common import printing
        from trainc.cli.common.reporting import ambiguous_option

        return printing.report_ambiguous_word(ambiguous_option(word))
    if words and words[0] in HOT and not completing:
        command: Command = import_module(f"{__name__}.{words[0]}").command
        values = command.read(words[1:])
        if values is not None:
            try:
                return command.run(**values)
            except Exception as error:
                # A click exception implies that click is imported. A usage error is raised before anything is read
                # or written, so run the command again with click, which adds the command's usage to the message.
                if "click" not in sys.modules or not isinstance(error, sys.modules["click"].UsageError):
                    raise
    from trainc.cli.common import group

    return group.run("kubectl trainc" if os.path.basename(name).startswith("kubectl-") else "trainc")


def _ambiguous_word(words: list[str]) -> str:
    """Return the first option, or `-`, that is also a file of the current folder; empty if there is none.

    The author of a change chooses the names of files, which pre-commit and shell patterns append to a command line.
    """
    options = True
    for word in words:
        options = options and word != "--"
        if word.startswith("-") and (options or word == "-") and os.path.lexists(word):
            return word
    return ""


def _over_budget(diagnostic: Diagnostic) -> int:
    """Report output that exceeds the budget; nothing of it is written."""
    from trainc.cli.common import printing
    from trainc.reports import text

    printing.report(text.one_line(diagnostic, color=printing.colored(sys.stderr)))
    return WRONG_INPUT


def _report_misuse(reason: str) -> int:
    if sys.stderr is not None:
        sys.stderr.write(f"Error: {reason}.\n")
    return MISUSE


def _reason_outside() -> str:
    """Return the reason for an exception if it is in the environment of the process; empty if it is in trainc."""
    from trainc.base.data import data_path

    try:
        os.getcwd()
    except OSError as error:
        return f"the current folder cannot be read: {error.strerror}; change to another folder"
    if not os.path.isdir(data_path("schemas")):
        return f"{data_path('schemas')} is missing; install trainc as a package, or use trainc.pyz, which is unpacked"
    return ""


def _internal_error() -> int:
    import platform
    import traceback

    traceback.print_exc()
    where = f"Python {platform.python_version()}, {platform.system()}"
    sys.stderr.write(
        f"\ntrainc {__version__} ({where}): internal error\n"
        "This is a bug in trainc, not in your input. Report it with the traceback above and, if possible, the input\n"
        "that triggers it. Remove secret values first.\n"
    )
    return INTERNAL_ERROR
