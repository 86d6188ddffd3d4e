"""Commands run in turn, and what they took.

A race takes its contestants ABAB, never AABB: what the machine does meanwhile befalls all of them alike. Each is run
once before, unmeasured, so that every file is in the page cache for everybody.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = (
    "command",
    "median ms",
    "quartiles",
    "min to max",
    "cpu ms",
    "peak MB",
    "KB read",
    "KB written",
    "ratio",
    "cpu ratio",
)


class Lap(NamedTuple):
    """One run of a command."""

    seconds: float
    cpu: float
    """Seconds of processor time, of children too."""
    kib: int
    """The peak of resident memory."""


class Contestant(NamedTuple):
    """A command, and what the table says of it."""

    name: str
    command: Sequence[str]
    reads: int = 0
    """Bytes of input."""
    writes: int = 0
    """Bytes of output."""


class Result(NamedTuple):
    """What a contestant took, run by run."""

    contestant: Contestant
    laps: list[Lap]

    @property
    def median(self) -> float:
        """Seconds."""
        return statistics.median(lap.seconds for lap in self.laps)

    @property
    def cpu(self) -> float:
        """The median of the runs' processor seconds."""
        return statistics.median(lap.cpu for lap in self.laps)

    @property
    def peak(self) -> float:
        """The median of the runs' peaks, in MB of 2^20."""
        return statistics.median(lap.kib for lap in self.laps) / 1024

    def row(self, reference: Result) -> str:
        """A line of the table; the ratios are those of the medians, to `reference`."""
        milliseconds = sorted(lap.seconds * 1000 for lap in self.laps)
        low, _, high = statistics.quantiles(milliseconds, method="inclusive") if self.laps[1:] else milliseconds * 3
        cells = (
            self.contestant.name,
            f"{self.median * 1000:.0f}",
            f"{low:.0f} to {high:.0f}",
            f"{milliseconds[0]:.0f} to {milliseconds[-1]:.0f}",
            f"{self.cpu * 1000:.0f}",
            f"{self.peak:.0f}",
            f"{self.contestant.reads / 1000:,.0f}",
            f"{self.contestant.writes / 1000:,.0f}",
            f"{self.median / reference.median:.2f}",
            f"{self.cpu / reference.cpu:.2f}",
        )
        return line(cells)


class Clock:
    """The process that runs commands; `with` it."""

    def __enter__(self) -> Clock:
        script = str(Path(__file__).with_name("clock.py"))
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def lap(self, contestant: Contestant) -> Lap:
        """Run once; SystemExit when the command fails, for a failed run has no time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(*contestant.command, sep="\t", file=self._process.stdin, flush=True)
        words = self._process.stdout.readline().split()
        if words[:1] != ["0"]:
            raise SystemExit(f"{contestant.name} failed: {' '.join(contestant.command)}")
        return Lap(seconds=float(words[1]), cpu=float(words[2]), kib=int(words[3]))


def race(clock: Clock, runs: int, contestants: Sequence[Contestant]) -> list[Result]:
    """Run the contestants in turn, `runs` times each."""
    results = [Result(contestant, []) for contestant in contestants]
    for contestant in contestants:
        clock.lap(contestant)
    for _ in range(runs):
        for result in results:
            result.laps.append(clock.lap(result.contestant))
    return results


def line(cells: Sequence[str]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def head(cells: Sequence[str]) -> str:
    """The head of a Markdown table: words to the left, figures to the right."""
    rule = ("---", *("---:" for _ in cells[1:]))
    return f"{line(cells)}\n|{'|'.join(rule)}|"
