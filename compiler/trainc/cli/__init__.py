"""The command line: one file per command, loaded when it is called. `codes` has the exit codes."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final

from trainc.cli.codes import INTERRUPTED, MISUSE, OK, OUR_FAULT, OutputError
from trainc.version import __version__

if TYPE_CHECKING:
    from trainc.cli.arguments import Command

HOT: Final = ("build", "validate")
"""The commands whose plain command lines are read without click, a quarter of a cold start."""
COMPLETING: Final = "_TRAINC_COMPLETE"
"""The variable by which a shell asks click what a word may become."""


def entry() -> None:
    """The `trainc` command: a process of its own.

    It needs no more of PyYAML than its parser. It ends soon, with nearly all that it has made in use until then:
    looking for garbage takes 6 % of a cold build and 14 % of ten thousand jobs, and taking the interpreter apart in the
    end another 15 % of a cold one. Both are left out.
    """
    import gc

    gc.disable()
    from trainc.kubernetes.libyaml import load_alone

    load_alone()
    code = run()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there is none, or none any more
            stream.flush()
    os._exit(code)


def main() -> None:
    """Run the command line, and exit with its code."""
    sys.exit(run())


def run() -> int:
    """Run the command line; returns its code, whatever happens."""
    try:
        return _run()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; what is left in the buffer must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OutputError as error:
        sys.stderr.write(f"Error: standard output cannot be written: {error}.\n")
        return MISUSE
    except Exception:
        return _our_fault()


def _run() -> int:
    """Read the command line without click, where that can be done, else with it."""
    name, *words = sys.argv
    if words and words[0] in HOT and COMPLETING not in os.environ and os.name != "nt":  # click expands a * on Windows
        command: Command = import_module(f"{__name__}.{words[0]}").command
        values = command.read(words[1:])
        if values is not None:
            try:
                return command.run(**values)
            except Exception as error:
                # Who raises an exception of click's has imported it. Nothing has been read then, or written: click
                # comes to the same end, and words it with the command's usage.
                if "click" not in sys.modules or not isinstance(error, sys.modules["click"].UsageError):
                    raise
    from trainc.cli import group

    return group.run("kubectl trainc" if os.path.basename(name).startswith("kubectl-") else "trainc")


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
