"""`make bench-imports`: the import time of a cold `trainc build`, by module.

Run the command on one TrainJob with `-X importtime`, and a bare interpreter for comparison. Print Markdown: the time
of each package, then of each module that the bare interpreter does not import, the slowest first. Times are medians of
each module's own time, without the modules that it imports, and include the cost of measuring.
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
# -X importtime does not show imports by importlib.import_module (a command's module, libyaml's parser), so replace it
# by a normal import.
SEEN: Final = """\
import importlib, sys
importlib.import_module = lambda name: __import__(name) and sys.modules[name]
del sys.argv[0]
exec(open(sys.argv[0]).read())
"""


def imported(arguments: list[str]) -> dict[str, int]:
    """Return the imported modules with their own time in microseconds, in import order."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return {name: int(own) for own, _, name in LINE.findall(done.stderr)}


def medians(arguments: list[str], runs: int) -> dict[str, float]:
    """Return the median of each module's own time, in milliseconds."""
    times = defaultdict(list)
    for _ in range(runs):
        for name, own in imported(arguments).items():
            times[name].append(own / 1000)
    return {name: statistics.median(found) for name, found in times.items()}


def package_of(module: str) -> str:
    """Return the package that a module's time counts for: trainc, click, yaml, or Python's library."""
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
    print(f"A bare interpreter imports {len(bare)} modules in {sum(bare.values()):.1f} ms. Additional modules:\n")
    print(head(("package", "modules", "own ms")))
    for package, times in sorted(shares.items(), key=lambda item: -sum(item[1])):
        print(line((package, str(len(times)), f"{sum(times):.1f}")))
    print(line(("total", str(len(ours)), f"{sum(ours.values()):.1f}")))
    print(f"\n{head(('module', 'own ms'))}")
    for module, own in sorted(ours.items(), key=lambda item: -item[1])[: args.top]:
        print(line((f"`{module}`", f"{own:.2f}")))


if __name__ == "__main__":
    main()
