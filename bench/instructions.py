"""`make bench-instructions`: the instruction count of the hot path, which is independent of the machine's load.

Count with `valgrind --tool=callgrind`, or, with --perf, with `perf stat` on processors that support it. The tool must
be on the PATH. Print Markdown: the counts of a bare interpreter, one TrainJob and 101 TrainJobs, and the cost of each
additional TrainJob; with callgrind also the C functions that execute the most instructions in the largest run.

With --projects, print the ratios of the runs with and without settings instead, each with its limit: 1,000 TrainJobs in
one environment, in three environments and with two patches, and, with --before, the same without a trainc.yaml by the
trainc of another revision. Another row compares the check of 100 runtimes that no TrainJob uses with that of as many
TrainJobs.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import inputs
from peers import TRAINC
from racing import head, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MORE: Final = 100
PROJECT: Final = 1000
"""The number of TrainJobs in a project."""
# Without it the order of sets, and with it the count, would differ between runs.
SEEDED: Final = {**os.environ, "PYTHONHASHSEED": "0"}


def interpreter(program: str) -> str:
    """Return the interpreter of a script, which has its own packages; this one for another argument."""
    if not os.path.isfile(program):
        return sys.executable
    with open(program, encoding="utf-8") as script:
        first = script.readline()
    return first.removeprefix("#!").strip() if first.startswith("#!") else sys.executable


def by_callgrind(arguments: list[str], profile: Path) -> int:
    """Return the user-space instructions of one run of the interpreter; write the profile to a file."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", interpreter(arguments[0]), *arguments]
    return _counted(command, r"Collected : (\d+)")


def by_perf(arguments: list[str], _: Path) -> int:
    """Return the same count from the processor's counter."""
    command = ["perf", "stat", "-x,", "-e", "instructions:u", interpreter(arguments[0]), *arguments]
    return _counted(command, r"^(\d+),,instructions")


def _counted(command: list[str], pattern: str) -> int:
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=SEEDED, check=False
    )
    found = re.search(pattern, done.stderr, re.MULTILINE)
    if done.returncode or found is None:
        raise SystemExit(f"{' '.join(command)} counted no instructions:\n{done.stderr}")
    return int(found[1])


def functions(profile: Path, top: int) -> list[tuple[str, str]]:
    """Return the C functions of a profile with the most own instructions, and their share of the total."""
    done = subprocess.run(
        ["callgrind_annotate", "--threshold=100", str(profile)], capture_output=True, text=True, check=True
    )
    shares: dict[str, float] = defaultdict(float)
    # 'name'2 is a recursive call of name, and an inlined function has an entry in each file.
    for share, function in re.findall(r"^ *[\d,]+ \( ?([\d.]+)%\)  \S*?:([^\s']+)", done.stdout, re.MULTILINE):
        shares[function] += float(share)
    return [(function, f"{share:.1f}%") for function, share in sorted(shares.items(), key=lambda item: -item[1])[:top]]


class Limit(NamedTuple):
    """A limit on the ratio of the counts of two commands."""

    what: str
    against: str
    at_most: float
    measured: list[str]
    reference: list[str]


def limits(folder: Path, jobs: int, before: str | None) -> Iterator[Limit]:
    """Yield the limits of a project with some TrainJobs; `before` is the trainc of another revision."""
    many = str(inputs.file_of_jobs(folder / "jobs.yaml", inputs.jobs(jobs)))
    plain = [TRAINC, "build", many]

    def configured(name: str, settings: str) -> list[str]:
        (folder / name).write_text(settings)
        return [*plain, "--config", str(folder / name)]

    prod = configured("prod.yaml", inputs.PROJECT)
    yield Limit(f"{jobs:,} TrainJobs in one environment", "without settings", 1.1, prod, plain)
    # Standard output cannot contain several environments.
    each = [*configured("three.yaml", inputs.ENVIRONMENTS), "-o"]
    three, one = [*each, str(folder / "all")], [*each, str(folder / "one"), "--env", "a"]
    yield Limit(f"{jobs:,} TrainJobs in three environments", "one of them", 3.1, three, one)
    yield Limit("`--check` of three environments", "one of them", 3.3, [*three, "--check"], [*one, "--check"])
    patched = configured("patched.yaml", inputs.PATCHES)
    yield Limit(f"{jobs:,} TrainJobs with two patches", "without settings", 1.25, patched, plain)
    if before is not None:
        yield Limit(f"{jobs:,} TrainJobs without settings", before, 1.02, plain, [before, "build", many])


def runtimes_limit(folder: Path, count: int) -> Limit:
    """Return the limit on the check of runtimes that no TrainJob uses, against that of as many TrainJobs."""
    unused = inputs.folder_of_runtimes(folder / "runtimes", inputs.runtime_names(count))
    used = inputs.folder_of_jobs(folder / "jobs", inputs.jobs(count))
    validate = [TRAINC, "validate", "--no-config"]
    return Limit(
        f"`validate` of {count:,} unused runtimes",
        f"{count:,} TrainJobs",
        1.3,
        [*validate, str(unused)],
        [*validate, str(used)],
    )


def table(limits: Iterable[Limit], count: Callable[[list[str], Path], int], profile: Path) -> Iterator[str]:
    """Count the commands; yield the rows of the table."""
    yield head(("work", "compared with", "limit", "ratio", "reached"))
    for limit in limits:
        ratio = count(limit.measured, profile) / count(limit.reference, profile)
        reached = "yes" if ratio <= limit.at_most else "no"
        yield line((limit.what, limit.against, f"{limit.at_most:.2f}", f"{ratio:.3f}", reached))


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--perf", action="store_true", help="count with perf stat instead of callgrind")
    parser.add_argument("--projects", action="store_true", help="count runs with and without settings")
    parser.add_argument("--before", metavar="PROGRAM", help="with --projects: bin/trainc of another revision")
    parser.add_argument("--top", type=int, default=15, help="functions to list")
    args = parser.parse_args()
    tool, count = ("perf", by_perf) if args.perf else ("valgrind", by_callgrind)
    if shutil.which(tool) is None:
        raise SystemExit(f"{tool} is not on the PATH")
    with tempfile.TemporaryDirectory() as name:
        profile = Path(name) / "callgrind.out"
        if args.projects:
            rows = chain(limits(Path(name), PROJECT, args.before), (runtimes_limit(Path(name), MORE),))
            for row in table(rows, count, profile):
                print(row, flush=True)
            return
        one = inputs.file_of_jobs(Path(name) / "one.yaml", inputs.jobs(1))
        many = inputs.file_of_jobs(Path(name) / "many.yaml", inputs.jobs(1 + MORE))
        bare = count(["-c", "pass"], profile)
        cold = count([TRAINC, "build", str(one)], profile)
        bulk = count([TRAINC, "build", str(many)], profile)
        listed = [] if args.perf else functions(profile, args.top)
    print(head(("work", "million instructions", "over a bare interpreter")))
    for work, counted in (("python -c pass", bare), ("one TrainJob", cold), (f"{1 + MORE} TrainJobs", bulk)):
        print(line((work, f"{counted / 1e6:.1f}", f"{counted / bare:.2f}")))
    print(line(("each additional TrainJob", f"{(bulk - cold) / MORE / 1e6:.2f}", "")))
    if listed:
        print(f"\n{head(('C function', 'share'))}")
        for function, share in listed:
            print(line((f"`{function}`", share)))


if __name__ == "__main__":
    main()
