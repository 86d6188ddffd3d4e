"""The same input gives the same bytes: in any file order, under any hash seed, in any locale."""

from __future__ import annotations

import os
import random
import site
import subprocess
import sys
from pathlib import Path

import pytest
from batches import rounds

ROOT = Path(__file__).parents[2]
CASES = sorted(p.parent for p in ROOT.glob("golden/*/input.yaml") if not p.parent.name.startswith("wrong-"))
MACHINES = [(seed, locale) for seed in "123" for locale in ("tr_TR.UTF-8", "C")]
"""Hash seeds and locales."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a folder with all golden inputs."""
    folder = tmp_path_factory.mktemp("project")
    for case in CASES:
        (folder / f"{case.name}.yaml").write_text((case / "input.yaml").read_text())
    return folder


def build(files: list[str], folder: Path, **environment: str) -> bytes:
    # CPython 3.11 and 3.12 read the .pth file of an editable installation in the encoding of the locale. Without -S,
    # they fail if LC_ALL is C and the path of the clone is not ASCII.
    command = [sys.executable, "-S", "-m", "trainc", "build", *files]
    path = os.pathsep.join([str(ROOT / "compiler"), *site.getsitepackages()])
    env = {**os.environ, "PYTHONPATH": path, **environment}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.examples
def test_the_same_bytes_whatever_the_machine(project: Path) -> None:
    files = sorted(path.name for path in project.iterdir())
    wanted = build(files, project, PYTHONHASHSEED="0", LC_ALL="C.UTF-8")
    assert wanted.count(b"kind: JobSet") >= sum(not case.name.startswith("legacy-") for case in CASES)
    shuffled = random.Random(rounds(len(MACHINES)).start)
    for number in rounds(len(MACHINES)):
        seed, locale = MACHINES[number]
        shuffled.shuffle(files)
        assert build(files, project, PYTHONHASHSEED=seed, LC_ALL=locale, LANG=locale) == wanted


def test_a_folder_is_its_files(project: Path) -> None:
    files = sorted(path.name for path in project.iterdir())
    assert build(["."], project) == build(files, project)
