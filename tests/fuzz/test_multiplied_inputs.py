"""`make fuzz`: valid inputs with parts that are repeated up to 256 KB stay within small limits of memory and time.

An input is a project with TrainJobs, a runtime, a ConfigMap and settings. Some of its parts (labels, terms, aliases,
environments, patches, patterns, cohorts) are repeated many times, alone or together. A command then runs in its own
process with 512 MiB of memory and ten times the processor time that 500 TrainJobs take, and exits with 0 or 1.
`make test` runs only a few examples.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import multiplied
import pytest
from batches import one_in_four
from files import write_files

ROOT = Path(__file__).parents[2]
ROUNDS = 500 if "EXAMPLES" in os.environ else 8
PARTS = 4
LARGEST = 256 * 2**10
MEMORY = 512 * 2**20
UNITS = 10
COMMANDS = ("cmp generate", "validate --budget ci")
QUEUE = """---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Cohort
metadata: {{name: c{0}}}
spec: {{parentName: c{1}}}
"""


def project(counts: dict[str, int]) -> dict[str, str]:
    """Return the files of a project with these numbers of parts."""
    terms = ",".join(f"!{key}" for key in multiplied.keys(counts["terms"]))
    target = f"target: {{labelSelector: '{terms}', name: '*a*'}}"
    patches = f"- {target}\n  patch: {{spec: {{suspend: true}}}}\n" * counts["patches"]
    names = ", ".join(f"e{index}: {{namespace: n{index}}}" for index in range(counts["environments"]))
    exclude = "".join(f"- '**/a*/**/b{index}'\n" for index in range(counts["patterns"]))
    text = multiplied.runtime_text(name="in-data").removeprefix("---\n").replace('"', "'")
    files = {
        "jobs.yaml": multiplied.jobs(counts["jobs"], "r")[1],
        "runtime.yaml": multiplied.runtime_text(counts["annotations"], counts["containers"]) * counts["runtimes"],
        "config-map.yaml": multiplied.config_map("c", text, counts["aliases"]),
        "cohorts.yaml": "".join(QUEUE.format(index, index // 2) for index in range(counts["cohorts"])),
    }
    settings = [f"labels: {multiplied.mapping(counts['labels'])}\n"]
    settings += [f"patches:\n{patches}"] * bool(patches)
    settings += [f"exclude:\n{exclude}"] * bool(exclude)
    settings += [f"environments: {{{names}}}\n"] * bool(names)
    return files | {"trainc.yaml": "".join(settings)}


PARTS_OF_A_PROJECT = {
    "jobs": 1,
    "labels": 1,
    "terms": 1,
    "patches": 1,
    "patterns": 1,
    "environments": 0,
    "aliases": 1,
    "annotations": 1,
    "containers": 1,
    "runtimes": 1,
    "cohorts": 1,
}
"""The parts, and how many of them a small project has."""
MOST = {"patterns": 250, "environments": 100, "terms": 200}
"""More of them are an error."""


def generated(seed: int) -> dict[str, str]:
    """Return a project, one to three parts of which are repeated until it has at most 256 KB."""
    chosen = random.Random(seed)
    counts = dict(PARTS_OF_A_PROJECT)
    parts = chosen.sample([*counts], chosen.randint(1, 3))
    for part in parts:
        counts[part] = chosen.randint(2, MOST.get(part, 20_000))
    while sum(map(len, (files := project(counts)).values())) > LARGEST:
        for part in parts:
            counts[part] = max(1, counts[part] * 2 // 3)
    return files


def seconds_of(command: str, folder: Path, files: dict[str, str], most: float) -> tuple[int, float, str]:
    """Return the exit code of a command, its processor time, and its errors."""
    for file in folder.iterdir():
        file.unlink()
    write_files(files, folder)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (int(most) + 1, int(most) + 1))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "trainc", *command.split()],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
        preexec_fn=limit,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


@pytest.mark.parametrize("part", one_in_four(range(PARTS)))
def test_multiplied_golden_projects(part: int, tmp_path: Path) -> None:
    code, unit, errors = seconds_of(COMMANDS[0], tmp_path, dict([multiplied.jobs(500)]), 60)
    assert code == 0, errors
    wrong = []
    for seed in range(part, ROUNDS, PARTS):
        command, files = COMMANDS[seed // PARTS % len(COMMANDS)], generated(seed)
        code, seconds, errors = seconds_of(command, tmp_path, files, UNITS * unit)
        if code not in (0, 1) or seconds > UNITS * unit:
            wrong.append((seed, command, code, round(seconds / unit, 1), errors[-300:]))
    assert wrong == []
