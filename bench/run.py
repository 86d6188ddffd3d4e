"""`make bench`: trainc and its peers in turn, whole processes from start to exit, medians of one run.

Prints Markdown: a table a work, then what the figures have to reach. Progress goes to standard error. What a machine
said is kept by hand in bench/results.md, with the date; bench/README.md says how it is read.
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

import peers
from racing import HEAD, Clock, Result, head, line, race
from works import GOALS, WORKS, Goal

Results = dict[tuple[str, str], Result]
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
    """A goal's line of the last table."""
    measured, reference = results.get(goal.measured), results.get(goal.reference)
    if measured is None or reference is None:
        return line((goal.what, goal.against, f"{goal.at_most}", "not measured", "", ""))
    if goal.memory:
        ratio, paired = measured.peak / reference.peak, ""
    else:
        ratio = measured.median / reference.median
        laps = zip(measured.laps, reference.laps, strict=True)
        paired = f"{statistics.median(one.seconds / other.seconds for one, other in laps):.2f}"
    reached = "yes" if ratio <= goal.at_most else "no"
    return line((goal.what, goal.against, f"{goal.at_most}", f"{ratio:.2f}", paired, reached))


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="of each command")
    parser.add_argument("--heavy-runs", type=int, help="of each command that takes seconds; by default as --runs")
    parser.add_argument("--quick", action="store_true", help="3 runs, a tenth of the jobs: a look, no measurement")
    parser.add_argument("--only", action="append", choices=WORKS, help="this work; repeatable")
    args = parser.parse_args()
    args.divisor = 1
    if args.quick:
        args.runs, args.heavy_runs, args.divisor = 3, 3, 10
    return args


def main() -> None:
    """Measure and print."""
    args = options()
    print(f"{versions()}\n", flush=True)
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
            by_name = {result.contestant.name: result for result in found}
            reference = by_name.get(work.reference, found[0])
            print(f"### {work.title}: {runs} runs\n\n{head(HEAD)}")
            print("\n".join(result.row(reference) for result in found), end="\n\n", flush=True)
            results |= {(key, name): result for name, result in by_name.items()}
    if args.divisor > 1:
        print("Of a tenth of the jobs:\n")
    print(head(("work", "against", "at most", "ratio of medians", "median of the ratios", "reached")))
    print("\n".join(verdict(goal, results) for goal in GOALS))


if __name__ == "__main__":
    main()
