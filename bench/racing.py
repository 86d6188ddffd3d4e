"""Measure commands that run in turn.

A race runs its contestants in the order ABAB instead of AABB, so that the machine's load affects all of them equally.
Each command runs once before, unmeasured, so that all files are in the page cache.
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
    """Seconds of processor time, including children."""
    kib: int
    """The peak of resident memory."""


class Contestant(NamedTuple):
    """A command with its name and sizes in the table."""

    name: str
    command: Sequence[str]
    reads: int = 0
    """Bytes of input."""
    writes: int = 0
    """Bytes of output."""


class Result(NamedTuple):
    """A contestant's measurements."""

    contestant: Contestant
    laps: list[Lap]

    @property
    def median(self) -> float:
        """The median of the runs' wall seconds."""
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
        """Return a row of the table; the ratios are those of the medians, relative to `reference`."""
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
    """The process that runs commands, as a context manager."""

    def __enter__(self) -> Clock:
        script = str(Path(__file__).with_name("clock.py"))
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def lap(self, contestant: Contestant) -> Lap:
        """Run a command once; raise SystemExit if it fails."""
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
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def head(cells: Sequence[str]) -> str:
    """Return the header of a Markdown table: the first column left-aligned, the others right-aligned."""
    rule = ("---", *("---:" for _ in cells[1:]))
    return f"{line(cells)}\n|{'|'.join(rule)}|"
