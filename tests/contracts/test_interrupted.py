"""A build that is killed while it writes: every output is whole, old or new, and the next build completes it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from batches import rounds
from running import run

from trainc.files import outputs
from trainc.files.atomic import PART

ROOT = Path(__file__).parents[2]
KEPT, GONE, ADDED = 160, 20, 20
"""The numbers of jobs with an output before and after, only before, and only after."""
MOMENTS = int(os.environ.get("MOMENTS") or len(rounds(20)))
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: job-{number}, namespace: team-{team}}}
spec:
  runtimeRef: {{name: plain}}
  trainer: {{image: "registry.example.com/train:{version}"}}
"""
# `trainc build`, compiled and about to write. For each input line, it forks; the child writes and is killed after that
# many seconds ("never" lets it finish). The parent prints the child's exit code and duration.
PROGRAM = """
import os, signal, sys, time
from trainc.files import outputs
from trainc.cli import run

write = outputs.apply

def rehearse(folder, changes):
    for line in sys.stdin:
        began = time.perf_counter()
        copy = os.fork()
        if copy == 0:
            os._exit(bool(write(folder, changes)))
        if line != "never\\n":
            time.sleep(float(line))
            os.kill(copy, signal.SIGKILL)
        _, status = os.waitpid(copy, 0)
        print(os.waitstatus_to_exitcode(status), time.perf_counter() - began, flush=True)
    return []

outputs.apply = rehearse
outputs._lock = lambda *arguments, **options: None
run()
"""

Files = dict[str, bytes]


def jobs(numbers: range, version: str) -> str:
    return "---\n".join(JOB.format(number=number, team=number // 60, version=version) for number in numbers)


def files(builds: Path) -> Files:
    return {str(path.relative_to(builds)): path.read_bytes() for path in builds.rglob("*") if path.is_file()}


def restore(builds: Path, wanted: Files) -> None:
    """Make a folder contain exactly these files. Files that are already right are not rewritten, to save time."""
    there = files(builds)
    for path in there.keys() - wanted.keys():
        (builds / path).unlink()
    for path, data in wanted.items():
        if there.get(path) != data:
            (builds / path).parent.mkdir(parents=True, exist_ok=True)
            (builds / path).write_bytes(data)


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the old and new inputs and their outputs `old` and `new`."""
    folder = tmp_path_factory.mktemp("builds")
    for version, numbers in (("old", range(ADDED, ADDED + KEPT + GONE)), ("new", range(ADDED + KEPT))):
        (folder / "jobs.yaml").write_text(jobs(numbers, version))
        assert run("build", str(folder / "jobs.yaml"), "-o", str(folder / version)).code == 0
    return folder


class Rehearsal:
    """A repeatable build from the old outputs to the new ones."""

    def __init__(self, builds: Path) -> None:
        self.folder = builds
        self.old = files(builds / "old")
        restore(builds / "out", self.old)
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "build", "jobs.yaml", "-o", "out"],
            cwd=builds,
            env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run_until(self, until: str) -> tuple[int, float]:
        """Run one build in the old folder, killed after `until` seconds; return its exit code and duration."""
        restore(self.folder / "out", self.old)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{until}\n")
        self.process.stdin.flush()
        code, seconds = self.process.stdout.readline().split()
        return int(code), float(seconds)


@pytest.fixture
def rehearsal(builds: Path) -> Iterator[Rehearsal]:
    rehearsal = Rehearsal(builds)
    yield rehearsal
    rehearsal.process.communicate(timeout=60)


@pytest.mark.examples
def test_a_build_that_is_killed_leaves_whole_files_which_the_next_one_completes(
    builds: Path, rehearsal: Rehearsal
) -> None:
    old, new = files(builds / "old"), files(builds / "new")
    wanted = {path: data.decode() for path, data in new.items()}
    done = [rehearsal.run_until("never") for _ in range(3)]
    assert [code for code, _ in done] == [0, 0, 0]
    assert files(builds / "out") == new
    chance, whole = random.Random(rounds(20).start), min(seconds for _, seconds in done)
    killed = 0
    for _ in range(MOMENTS):
        code, _ = rehearsal.run_until(str(chance.uniform(0, whole)))
        left = files(builds / "out")
        parts = {path for path in left if path.endswith(PART)}
        made = left.keys() - parts
        assert len(parts) <= 1
        assert all(Path(path).name.startswith(".") for path in parts)
        assert [path for path in made if left[path] not in (old.get(path), new.get(path))] == []
        killed += code == -signal.SIGKILL
        with outputs.opened(str(builds / "out"), make=True, notify=print) as output:
            changes = outputs.plan(output, wanted, paths=[str(builds / "jobs.yaml")], prune=True)
            assert changes.diagnostics == ()
            assert outputs.apply(output, changes) == ()
        assert files(builds / "out") == new
    assert killed > MOMENTS // 5


@pytest.mark.examples
def test_the_next_build_may_be_another_one(builds: Path, rehearsal: Rehearsal) -> None:
    """Outputs of jobs that were new in the killed build and no longer exist are pruned."""
    chance = random.Random(rounds(5).start)
    _, whole = rehearsal.run_until("never")
    (builds / "jobs.yaml").write_text(jobs(range(ADDED, ADDED + KEPT + GONE), "old"))
    for _ in rounds(5):
        rehearsal.run_until(str(chance.uniform(0, whole)))
        assert run("build", str(builds / "jobs.yaml"), "-o", str(builds / "out")).code == 0
        assert files(builds / "out") == files(builds / "old")
