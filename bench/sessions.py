"""`make bench-sessions`: how long a `trainc.Session` takes to answer, beside cold builds.

Create a project with two environments, and measure in turn: a cold build of the project, a cold build of one job, the
first check of a new session, and in the same session a check of one file after a changed line, and of the project.
Print Markdown: processor milliseconds (medians of the runs), and their ratio to the cold build of the project.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Final

import inputs
from racing import head, line

import trainc

SIZES: Final = (100, 1000)
"""The numbers of TrainJobs."""
RUNTIMES: Final = 20
SETTINGS: Final = """\
sources: [jobs]
runtimes: {paths: [runtimes]}
environments: {dev: {nameSuffix: -dev}, prod: {}}
output: rendered
"""
ROWS: Final = {
    "project": "cold build of the project",
    "job": "cold build of one job",
    "first": "session: first check",
    "file": "session: one file after a changed line",
    "again": "session: the project after a changed line",
}


def built(*arguments: str) -> float:
    """Return the processor seconds of a cold command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "trainc", "build", *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def costs(job: Path) -> dict[str, float]:
    """Return the processor seconds of one run of each row, in the project of the current folder."""
    found = {"project": built(), "job": built(str(job), "--env", "prod", "-o", "-")}
    times = [time.process_time()]
    session = trainc.Session()
    if session.check().failed:
        raise SystemExit("the jobs have errors")
    times.append(time.process_time())
    changed = {str(job): job.read_text().replace("--seed=", "--seed=1")}
    assert not session.check_file(job, changed).failed
    times.append(time.process_time())
    session.check(changed)
    times.append(time.process_time())
    for name, before, after in zip(("first", "file", "again"), times, times[1:], strict=False):
        found[name] = after - before
    return found


def main() -> None:
    """Measure and print the table of each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one run of the smaller project")
    options = parser.parse_args()
    for size in SIZES[:1] if options.quick else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            names = inputs.runtime_names(RUNTIMES)
            inputs.folder_of_runtimes(Path("runtimes"), names)
            inputs.folder_of_jobs(Path("jobs"), inputs.jobs(size, [inputs.BUILT_IN, *names]))
            Path(".git").mkdir()  # a path below finds the settings of its repository
            Path("trainc.yaml").write_text(SETTINGS)
            job = sorted(Path("jobs").rglob("*.yaml"))[0]
            spent = defaultdict[str, list[float]](list)
            for _ in range(1 if options.quick else options.runs):
                for name, seconds in costs(job).items():
                    spent[name].append(seconds)
            os.chdir("/")
        whole = statistics.median(spent["project"])
        print(f"\n{size} TrainJobs, two environments\n")
        print(head(("measurement", "cpu ms", "ratio")))
        for name, title in ROWS.items():
            median = statistics.median(spent[name])
            print(line((title, f"{1000 * median:.0f}", f"{median / whole:.3f}")))


if __name__ == "__main__":
    main()
