"""trainc without an installation: trainc.pyz, `pipx run` and `uvx`, each without a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from release.conftest import BIN, ROOT, Installed

from trainc import page_of

GOLDEN = ROOT / "golden" / "llm-finetune-4x8"
EXPECTED = (GOLDEN / "expected.yaml").read_text()


@pytest.fixture(scope="module")
def pyz(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return trainc.pyz in a folder of its own, as `make pyz` builds it."""
    folder = tmp_path_factory.mktemp("dist")
    installed.run(
        [sys.executable, ROOT / "scripts" / "make_release.py", "pyz", folder], variables=installed.offline_index
    )
    alone = tmp_path_factory.mktemp("alone")
    return Path(shutil.copy(folder / "trainc.pyz", alone))


def test_the_single_file(pyz: Path, installed: Installed, tmp_path: Path) -> None:
    python = getattr(sys, "_base_executable", sys.executable)  # without trainc and its dependencies
    subprocess.run([python, "-I", "-c", "import sys; sys.exit('trainc' in sys.modules)"], check=True, timeout=30)
    cache = {"SHIV_ROOT": str(tmp_path / "cache")}
    run: list[str | Path] = [python, "-I", pyz]
    assert installed.run([*run, "build", GOLDEN / "input.yaml"], variables=cache).stdout == EXPECTED
    flux = ROOT / "golden" / "flux-lammps"
    built = installed.run([*run, "build", flux / "input.yaml"], variables=cache).stdout
    assert built == (flux / "expected.yaml").read_text()
    page = installed.run([*run, "explain", "wrong-type"], variables=cache).stdout
    assert page == page_of("wrong-type")
    assert [path.name for path in pyz.parent.iterdir()] == ["trainc.pyz"]


def test_the_single_file_runs_as_a_program(pyz: Path, installed: Installed, tmp_path: Path) -> None:
    assert zipfile.is_zipfile(pyz)
    assert installed.run([pyz, "--version"], variables={"SHIV_ROOT": str(tmp_path)}).stdout.startswith("trainc ")


def test_an_import_from_the_file_names_the_reason(pyz: Path, installed: Installed, tmp_path: Path) -> None:
    """The file is unpacked because data files in a zip have no paths."""
    with zipfile.ZipFile(installed.wheel) as wheel:
        names = [name for name in wheel.namelist() if "/data/" not in name]
        with zipfile.ZipFile(tmp_path / "code.zip", "w") as code:
            for name in names:
                code.writestr(name, wheel.read(name))
    program = "import sys; sys.path.insert(0, sys.argv.pop(1)); from trainc.cli import entry; entry()"
    command: list[str | Path] = [
        installed.bin / "python",
        "-c",
        program,
        tmp_path / "code.zip",
        "build",
        GOLDEN / "input.yaml",
    ]
    assert "use trainc.pyz" in installed.run(command, code=2).stderr


def test_pipx_run(installed: Installed, tmp_path: Path) -> None:
    variables = {**installed.offline_index, "PIPX_HOME": str(tmp_path / "pipx"), "PIPX_DEFAULT_PYTHON": sys.executable}
    command: list[str | Path] = [
        BIN / "pipx",
        "run",
        "--spec",
        installed.wheel,
        "trainc",
        "build",
        GOLDEN / "input.yaml",
    ]
    assert installed.run(command, variables=variables).stdout == EXPECTED


def test_uvx(installed: Installed, tmp_path: Path) -> None:
    variables = {**installed.offline_index, "UV_CACHE_DIR": str(tmp_path / "uv"), "UV_PYTHON": sys.executable}
    command: list[str | Path] = [BIN / "uvx", "--from", installed.wheel, "trainc", "build", GOLDEN / "input.yaml"]
    assert installed.run(command, variables=variables).stdout == EXPECTED
