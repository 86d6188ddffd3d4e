"""Fixtures for tests of the built wheel: a wheelhouse, and an empty venv without a compiler and without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
UNREACHED = re.compile(r"Could not find a version|No matching distribution|Max retries|Temporary failure|unreachable")
"""pip's message without a package index; any other failure is an error."""
NO_NETWORK = ["unshare", "--net"]
"""Run a command in a network namespace without interfaces, which root may create."""


class Installed(NamedTuple):
    """A venv with the wheel from the wheelhouse."""

    folder: Path
    house: Path
    wheel: Path

    @property
    def bin(self) -> Path:
        """The folder of its programs."""
        return self.folder / "bin"

    def run(
        self,
        command: Sequence[str | Path],
        folder: Path | str = "/",
        *,
        input: str = "",
        variables: Mapping[str, str] = MappingProxyType({}),
        code: int = 0,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command that needs neither network nor compiler, and expect an exit status."""
        # git is a program of the environment, not of trainc.
        path = os.pathsep.join((str(self.bin), *dict.fromkeys(_folders("git", "sh"))))
        done = subprocess.run(
            [*isolated(), *command],
            cwd=folder,
            env={"PATH": path, "HOME": str(self.folder), "CC": "/nowhere", **variables},
            input=input,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    @property
    def offline_index(self) -> dict[str, str]:
        """The variables that let pip and uv find only the wheelhouse."""
        return {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_FIND_LINKS": str(self.house),
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "UV_FIND_LINKS": str(self.house),
            "UV_NO_INDEX": "1",
            "UV_OFFLINE": "1",
        }


def _folders(*programs: str) -> list[str]:
    return [os.path.dirname(found) for found in map(shutil.which, programs) if found]


def isolated() -> list[str]:
    """Return the command that removes the network, if this user may."""
    if (
        shutil.which("unshare")
        and subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False).returncode == 0
    ):
        return NO_NETWORK
    return []


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the locked wheels and trainc's own; only this fixture needs a package index."""
    folder = tmp_path_factory.mktemp("wheelhouse")
    pip = [sys.executable, "-m", "pip"]
    for lock in ("requirements.lock", "requirements-build.lock"):
        locked = ["--require-hashes", "--only-binary=:all:", "-r", str(ROOT / lock)]
        download = [*pip, "download", "-q", "-d", str(folder), *locked]
        done = subprocess.run(download, capture_output=True, text=True, check=False)
        if UNREACHED.search(done.stderr):
            pytest.skip("a package index for pip")
        assert done.returncode == 0, done.stderr
    local = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}
    build = [*pip, "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(build, env=local, check=True, capture_output=True, timeout=300)
    return folder


@pytest.fixture(scope="session")
def installed(house: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return an empty venv with the wheel."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    venv.create(folder, with_pip=True)
    (wheel,) = house.glob("trainc-*.whl")
    made = Installed(folder, house, wheel)
    made.run([folder / "bin" / "pip", "install", "-q", "--only-binary=:all:", "trainc"], variables=made.offline_index)
    return made
