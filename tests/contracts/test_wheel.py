"""A wheel, built and installed in an empty environment and run from `/`, finds its schemas, runtimes and pages."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from trainc import page_of

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


def test_the_wheel_works_from_anywhere(tmp_path: Path) -> None:
    house = tmp_path / "wheelhouse"
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", str(house), str(ROOT)]
    subprocess.run(build, check=True, timeout=300)
    home = tmp_path / "empty"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    offline: list[str | Path] = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--only-binary=:all:",
        "--find-links",
        house,
    ]
    subprocess.run([*offline, "trainc"], check=True, timeout=300, env={"PATH": "/nowhere"})
    job = ROOT / "golden" / "llm-finetune-4x8"
    for command in ("trainc", "kubectl-trainc"):
        built = subprocess.run(
            [home / "bin" / command, "build", job / "input.yaml"],
            cwd="/",
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert built.stdout == (job / "expected.yaml").read_text()
    scripts = ROOT / "golden" / "flux-lammps"
    flux: list[str | Path] = [home / "bin" / "trainc", "build", scripts / "input.yaml"]
    built = subprocess.run(flux, cwd="/", capture_output=True, text=True, check=True, timeout=60)
    assert built.stdout == (scripts / "expected.yaml").read_text()
    explain: list[str | Path] = [home / "bin" / "trainc", "explain", "wrong-type"]
    explained = subprocess.run(explain, cwd="/", capture_output=True, text=True, check=True, timeout=60)
    assert explained.stdout == page_of("wrong-type")
    subprocess.run([home / "bin" / "trainc", "init", tmp_path / "new"], cwd="/", check=True, timeout=60)
    assert (tmp_path / "new" / "README.md").read_text() == (ROOT / "templates" / "init" / "README.md").read_text()
    sides = (ROOT / "docs" / "review" / side for side in ("before", "after"))
    diff: list[str | Path] = [home / "bin" / "trainc", "diff", *sides, "--format", "html"]
    page = subprocess.run(diff, cwd="/", capture_output=True, text=True, check=True, timeout=60).stdout
    for name in ("page.css", "page.js"):
        assert (ROOT / "templates" / "review" / name).read_text() in page


def test_the_distributions_are_valid(tmp_path: Path) -> None:
    """The wheel is built from the sdist, so the sdist has everything that a build needs."""
    build: list[str | Path] = [sys.executable, "-m", "build", "--outdir", tmp_path, ROOT]
    subprocess.run(build, check=True, timeout=300, capture_output=True)
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist], check=True, timeout=60)
    subprocess.run([sys.executable, "-m", "check_wheel_contents", wheel], check=True, timeout=60)
