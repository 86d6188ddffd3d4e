"""`make bench-imports`: what a cold `trainc build` imports, by module.

Runs the command with `-X importtime` on one TrainJob, and a bare interpreter beside it. Prints Markdown: the time of
each package, then each module that the bare interpreter does not have, the most expensive first. Medians; the times are
the interpreter's own, of each module without what it imports, and include the cost of taking them.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Final

import inputs
from peers import TRAINC
from racing import head, line

LINE: Final = re.compile(r"^import time: +(\d+) \| +(\d+) \| *(\S+)$", re.MULTILINE)
BARE: Final = ["-c", "pass"]
# The interpreter tells nothing of what importlib.import_module imports (a command's module, libyaml's parser): here it
# is an import like any other.
SEEN: Final = """\
import importlib, sys
importlib.import_module = lambda name: __import__(name) and sys.modules[name]
del sys.argv[0]
exec(open(sys.argv[0]).read())
"""


def imported(arguments: list[str]) -> dict[str, int]:
    """The modules that the interpreter imports, each with its own microseconds, in their order."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return {name: int(own) for own, _, name in LINE.findall(done.stderr)}


def medians(arguments: list[str], runs: int) -> dict[str, float]:
    """The median of each module's own time, in milliseconds."""
    times = defaultdict(list)
    for _ in range(runs):
        for name, own in imported(arguments).items():
            times[name].append(own / 1000)
    return {name: statistics.median(found) for name, found in times.items()}


def package_of(module: str) -> str:
    """The package whose share a module is: trainc, click and yaml by their names, the rest is Python's own library."""
    top = module.partition(".")[0]
    return top if top in ("trainc", "click", "yaml") else "Python's library"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--top", type=int, default=30, help="modules to list")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        file = inputs.file_of_jobs(Path(name) / "job.yaml", inputs.jobs(1))
        build, bare = medians(["-c", SEEN, TRAINC, "build", str(file)], args.runs), medians(BARE, args.runs)
    ours = {module: own for module, own in build.items() if module not in bare}
    shares: dict[str, list[float]] = defaultdict(list)
    for module, own in ours.items():
        shares[package_of(module)].append(own)
    print(f"A bare interpreter imports {len(bare)} modules in {sum(bare.values()):.1f} ms; besides:\n")
    print(head(("package", "modules", "own ms")))
    for package, times in sorted(shares.items(), key=lambda item: -sum(item[1])):
        print(line((package, str(len(times)), f"{sum(times):.1f}")))
    print(line(("all", str(len(ours)), f"{sum(ours.values()):.1f}")))
    print(f"\n{head(('module', 'own ms'))}")
    for module, own in sorted(ours.items(), key=lambda item: -item[1])[: args.top]:
        print(line((f"`{module}`", f"{own:.2f}")))


if __name__ == "__main__":
    main()
