"""`make bench`: trainc and its peers in turn, whole processes from start to exit, medians of one run.

Prints Markdown: a table for each work, then the limits. Progress goes to standard error. With --write it also writes
the page bench/results.md; bench/README.md says how to read it.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import peers
from racing import HEAD, Clock, Result, head, line, race
from works import GOALS, WORKS, Goal, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

Results = dict[tuple[str, str], Result]
GOALS_HEAD: Final = ("work", "against", "at most", "ratio", "median of the ratios", "wall time", "reached")
PAGE: Final = """\
# Results

`make bench BENCH="--write bench/results.md"` made this page; [how to read it](README.md).
"""
VERSIONS = {
    "trainc": [peers.TRAINC, "--version"],
    "kubectl": ["kubectl", "version", "--client"],
    "kustomize": ["kustomize", "version"],
    "helm": ["helm", "version", "--short"],
    "kubeconform": ["kubeconform", "-v"],
}


def versions() -> str:
    """The machine, and the tools on its PATH."""
    today = datetime.datetime.now(tz=datetime.UTC).date()
    words = [f"{today}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"]
    words.append(f"Python {platform.python_version()}")
    for name, command in VERSIONS.items():
        if shutil.which(command[0]) is None:
            words.append(f"{name}: not installed")
            continue
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        words.append(f"{name} {', '.join(said.removeprefix(name).replace('Version: ', '').split(chr(10))).strip(', ')}")
    commit = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    if shutil.which("git") and (at := subprocess.run(commit, capture_output=True, text=True, check=False).stdout):
        words.append(f"commit {at.strip()}")
    return "\n".join(f"- {word}" for word in words)


def verdict(goal: Goal, results: Results) -> str:
    """The line of a goal: ratios of processor time and of wall time, or of memory."""
    measured, reference = results.get(goal.measured), results.get(goal.reference)
    cells = (goal.what, goal.against, f"{goal.at_most:.2f}")
    if measured is None or reference is None:
        return line((*cells, "not measured", "", "", ""))
    if goal.memory:
        ratio, paired, wall = measured.peak / reference.peak, "", ""
    else:
        ratio = measured.cpu / reference.cpu
        laps = zip(measured.laps, reference.laps, strict=True)
        paired = f"{statistics.median(one.cpu / other.cpu for one, other in laps):.2f}"
        wall = f"{measured.median / reference.median:.2f}"
    return line((*cells, f"{ratio:.2f}", paired, wall, "yes" if ratio <= goal.at_most else "no"))


def table(work: Work, runs: int, found: Sequence[Result]) -> str:
    """The table of a work."""
    reference = next((result for result in found if result.contestant.name == work.reference), found[0])
    rows = "\n".join(result.row(reference) for result in found)
    return f"### {work.title}: {runs} runs\n\n{head(HEAD)}\n{rows}\n"


def verdicts(results: Results) -> str:
    """The table of the goals."""
    rows = "\n".join(verdict(goal, results) for goal in GOALS)
    return f"{head(GOALS_HEAD)}\n{rows}\n"


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="of each command")
    parser.add_argument("--heavy-runs", type=int, help="of each command that takes seconds; by default as --runs")
    parser.add_argument("--quick", action="store_true", help="3 runs, a tenth of the jobs: a look, no measurement")
    parser.add_argument("--only", action="append", choices=WORKS, help="this work; repeatable")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the results to this page, too")
    args = parser.parse_args()
    args.divisor = 1
    if args.quick:
        args.runs, args.heavy_runs, args.divisor = 3, 3, 10
    return args


def main() -> None:
    """Measure and print."""
    args = options()
    machine, tables = versions(), list[str]()
    print(f"{machine}\n", flush=True)
    results: Results = {}
    with Clock() as clock:
        for key in args.only or WORKS:
            entry = WORKS[key]
            runs = args.heavy_runs or args.runs if entry.heavy else args.runs
            with tempfile.TemporaryDirectory(prefix="trainc-bench-") as name:
                print(f"{key}: making the inputs ...", end="", file=sys.stderr, flush=True)
                work = entry.make(Path(name), max(1, entry.size // args.divisor))
                print(f" {runs} runs ...", end="", file=sys.stderr, flush=True)
                found = race(clock, runs, work.contestants)
                print(" done", file=sys.stderr)
            tables.append(table(work, runs, found))
            print(tables[-1], flush=True)
            results |= {(key, result.contestant.name): result for result in found}
    limits = verdicts(results)
    if args.divisor > 1:
        limits = f"With a tenth of the jobs:\n\n{limits}"
    print(limits)
    if args.write is not None:
        args.write.write_text("\n".join([PAGE, f"{machine}\n", limits, *tables]))


if __name__ == "__main__":
    main()
