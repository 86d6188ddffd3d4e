"""Commands that start ranks: mpirun of Open MPI, and horovodrun.

Reads    the words of a container's command, also in a simple shell script.
Returns  the options before the program. A command with an unknown option is not complete: the program may be its value.
Source   Open MPI 4.1 and 5.0, mpirun(1): one or two dashes, `--mca NAME VALUE`. Horovod 0.28, runner/launch.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.commands import program, runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.commands import Lookup, Word
    from trainc.kubernetes.trees import Tree

MPIRUN: Final = frozenset({"mpirun", "mpiexec", "orterun", "prterun"})
HOROVODRUN: Final = "horovodrun"
AGENTS: Final = ("plm_rsh_agent", "plm_ssh_agent", "-bootstrap", "-launcher")
"""Parts of words and of names of variables with which another program than ssh starts the processes on the nodes."""
HYDRA_AGENTS: Final = frozenset(
    {"HYDRA_BOOTSTRAP", "HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC", "I_MPI_HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP_EXEC"}
)
RANKS: Final = frozenset({"np", "n", "c", "num-proc"})
"""The options with the number of ranks."""
HOSTFILES: Final = frozenset({"hostfile", "machinefile", "default-hostfile"})
_VALUES: Final = {
    **dict.fromkeys(RANKS | HOSTFILES, 1),
    **dict.fromkeys(("mca", "gmca", "omca", "prtemca", "pmixmca"), 2),
    **dict.fromkeys(("x", "H", "host", "N", "npernode", "npersocket", "map-by", "bind-to", "rank-by", "prefix"), 1),
    **dict.fromkeys(("wd", "wdir", "path", "output", "output-filename", "timeout", "rf", "rankfile", "tune", "am"), 1),
    **dict.fromkeys(("app", "cpu-set", "cpu-list", "display", "runtime-options", "stdin", "stream-buffering"), 1),
    # horovodrun
    **dict.fromkeys(("hosts", "p", "ssh-port", "i", "ssh-identity-file", "network-interfaces", "nics"), 1),
    **dict.fromkeys(("start-timeout", "mpi-args", "config-file", "min-np", "max-np", "slots-per-host", "slots"), 1),
    **dict.fromkeys(("host-discovery-script", "reset-limit", "log-level", "fusion-threshold-mb", "cycle-time-ms"), 1),
    **dict.fromkeys(("cache-capacity", "timeline-filename"), 1),
    # Switches
    **dict.fromkeys(("allow-run-as-root", "oversubscribe", "nooversubscribe", "tag-output", "timestamp-output"), 0),
    **dict.fromkeys(("report-bindings", "display-map", "display-allocation", "v", "verbose", "q", "quiet", "V"), 0),
    **dict.fromkeys(("pernode", "bynode", "byslot", "bycore", "nolocal", "use-hwthread-cpus", "enable-recovery"), 0),
    **dict.fromkeys(("merge-stderr-to-stdout", "debug-daemons", "leave-session-attached", "d", "xml", "novm"), 0),
    **dict.fromkeys(("mpi", "gloo", "disable-cache", "autotune", "show-progress", "continuous"), 0),
}
"""The number of values of each option."""


class MpirunOption(NamedTuple):
    """An option of a command, without its dashes."""

    name: str
    values: tuple[str, ...]
    word: Word
    """The word with its last value."""


class Launch(NamedTuple):
    """A command that starts ranks."""

    program: str
    words: tuple[Word, ...]
    """All its words."""
    options: tuple[MpirunOption, ...]
    is_complete: bool
    """Whether all options are known."""

    def ranks(self) -> MpirunOption | None:
        """Return the option with the number of ranks, if it is a number and the command starts one program."""
        found = [option for option in self.options if option.name in RANKS]
        if len(found) != 1 or any(word.text == ":" for word in self.words):
            return None
        (text,) = found[0].values
        return found[0] if text.isascii() and text.isdecimal() and len(text) < 10 else None


def launch(container: Tree, lookup: Lookup = lambda _: None) -> Launch | None:
    """Return the only command of a container that starts ranks; None if there are others, or it may not run."""
    found = runs(container, MPIRUN | {HOROVODRUN}, lookup)
    return _read(found) if found else None


def replaces_ssh(container: Tree) -> bool:
    """Return whether a launcher may start the processes on the nodes without ssh."""
    variables = [str(variable["name"]) for variable in container.get("env") or ()]
    if any(name in HYDRA_AGENTS for name in variables):
        return True
    texts = (*variables, *(container.get("command") or ()), *(container.get("args") or ()))
    return any(agent in text for agent in AGENTS for text in texts)


def _read(words: list[Word]) -> Launch:
    options, at, is_complete = [], 1, True
    while at < len(words) and (text := words[at].text).startswith("-"):
        name, equals, value = text.lstrip("-").partition("=")
        count = _VALUES.get(name)
        if count is None or at + count >= len(words):
            is_complete = False
            break
        given = () if equals else tuple(word.text for word in words[at + 1 : at + 1 + count])
        options.append(MpirunOption(name, (value,) if equals else given, words[at if equals else at + count]))
        at += 1 if equals else 1 + count
    return Launch(program(words[0].text), tuple(words), tuple(options), is_complete)


def passed(run: Launch) -> Iterator[str]:
    """Yield the names of the variables that mpirun passes to the ranks: `-x A`, `-x A=1`, `-x A,B`."""
    for option in run.options:
        if option.name == "x":
            yield from (part.partition("=")[0] for part in option.values[0].split(","))
