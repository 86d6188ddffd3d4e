"""`make bench`: trainc beside `kubectl kustomize`, whole processes in turn, medians of one run.

Prints a Markdown table. Times are wall seconds from start to exit, memory the peak of the process; output goes to
/dev/null. What a machine said is kept by hand in bench/results.md, with the date.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from inputs import overlays, trainjobs

TRAINC = [str(Path(sys.executable).with_name("trainc")), "build"]


@dataclass
class Contestant:
    """A command, and what it took."""

    name: str
    command: list[str]
    seconds: list[float] = field(default_factory=list)
    megabytes: float = 0.0

    def run(self) -> None:
        """Run once; raises SystemExit when the command fails, for a failed run has no time."""
        started = time.perf_counter()
        pid = os.posix_spawnp(
            self.command[0],
            self.command,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
        )
        _, status, usage = os.wait4(pid, 0)
        if status:
            raise SystemExit(f"{self.name} failed: {' '.join(self.command)}")
        self.seconds.append(time.perf_counter() - started)
        self.megabytes = max(self.megabytes, usage.ru_maxrss / 1024)

    @property
    def median(self) -> float:
        """Seconds."""
        return statistics.median(self.seconds)


def race(work: str, runs: int, *contestants: Contestant) -> None:
    """Run the contestants in turn, and print a row each; the ratio is to the last one."""
    for contestant in contestants:
        contestant.run()
        contestant.seconds.clear()
    for _ in range(runs):
        for contestant in contestants:
            contestant.run()
    peer = contestants[-1]
    for c in contestants:
        spread = f"{min(c.seconds) * 1000:.0f} to {max(c.seconds) * 1000:.0f}"
        row = [work, c.name, f"{c.median * 1000:.0f}", spread, f"{c.megabytes:.0f}", f"{c.median / peer.median:.2f}"]
        print(f"| {' | '.join(row)} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--bulk-runs", type=int, default=5)
    args = parser.parse_args()
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        raise SystemExit("kubectl is not on PATH: there is nothing to compare with")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, thousand = trainjobs(folder, 1), trainjobs(folder, 1000)
        import subprocess

        jobset = subprocess.run([*TRAINC, str(one)], capture_output=True, text=True, check=True).stdout
        small, large = overlays(folder / "one", jobset, 1), overlays(folder / "thousand", jobset, 1000)
        print("| work | command | median ms | min to max ms | peak MB | ratio |\n|---|---|---|---|---|---|")
        bare = Contestant("python -c pass", [sys.executable, "-c", "pass"])
        race(
            "one job, cold",
            args.runs,
            bare,
            Contestant("trainc build", [*TRAINC, str(one)]),
            Contestant("kubectl kustomize", [kubectl, "kustomize", str(small)]),
        )
        race(
            "1,000 jobs, one runtime",
            args.bulk_runs,
            Contestant("trainc build", [*TRAINC, str(thousand)]),
            Contestant("kubectl kustomize", [kubectl, "kustomize", str(large)]),
        )


if __name__ == "__main__":
    main()
