"""Install trainc with the lowest versions that pyproject.toml allows, on the oldest Python of this machine.

    python scripts/floors.py VENV    make the virtual environment VENV, with the test tools

Python before 3.11.5 has errors that newer ones do not have, such as in possessive groups of regular expressions. Debian
12's is 3.11.2. Without one that old, the script prints a line and takes the oldest one. If the lowest version of a
dependency has no wheel for this Python, it prints a line and installs the newest version.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).parents[1]
METADATA: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MINIMUM: Final = tuple(map(int, METADATA["requires-python"].removeprefix(">=").split(".")))
MENDED: Final = (3, 11, 5)
_VERSION: Final = "import sys, venv, ensurepip; print(*sys.version_info[:3], sys.executable)"


def floors() -> list[str]:
    """Return the lowest version of each run-time dependency.

    >>> floors()[0]
    'click==8.1'
    """
    lowest = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", line) for line in METADATA["dependencies"]]
    assert all(lowest), "each dependency has one floor"
    return [f"{match[1]}=={match[2]}" for match in lowest if match]


def pythons() -> list[tuple[tuple[int, ...], str]]:
    """Return the Pythons of the machine that can run trainc and make an environment, the oldest first."""
    names = ["python3", *(f"python3.{minor}" for minor in range(MINIMUM[1], MINIMUM[1] + 9))]
    folders = [*os.get_exec_path(), "/usr/bin", "/usr/local/bin"]
    programs = {program for folder in folders for name in names if (program := shutil.which(name, path=folder))}
    programs |= {str(each) for each in Path.home().glob(".pyenv/versions/3.*/bin/python3")} | {sys.executable}
    found: set[tuple[tuple[int, ...], str]] = set()
    for program in programs:
        done = subprocess.run([program, "-c", _VERSION], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            *version, executable = done.stdout.split(maxsplit=3)
            found.add((tuple(map(int, version)), executable.rstrip("\n")))
    return sorted(each for each in found if each[0] >= MINIMUM)


def main(venv: str) -> None:
    """Make the environment."""
    version, python = pythons()[0]
    number = ".".join(map(str, version))
    if version >= MENDED:
        print(f"no Python before {'.'.join(map(str, MENDED))} here can make an environment: {number} is the oldest")
    print(f"Python {number} ({python})", flush=True)
    subprocess.run([python, "-m", "venv", "--clear", venv], check=True)
    pip = [f"{venv}/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder, "floors.txt")
        constraints.write_text("\n".join(floor for floor in floors() if _has_wheel(floor, pip, folder)))
        install = [*pip, "install", "--constraint", str(constraints), "--editable", f"{ROOT}[test]"]
        subprocess.run(install, check=True)
        print(f"the lowest versions are installed: {', '.join(constraints.read_text().split())}")


def _has_wheel(floor: str, pip: Sequence[str], folder: str) -> bool:
    """Return whether a version can be installed without a compiler, and print a line if it cannot."""
    download = ["download", "--no-deps", "--only-binary=:all:", "--dest", folder, floor]
    done = subprocess.run([*pip, *download], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2]
        print(f"{floor} has no wheel for this Python, so the newest version is installed: {reason}", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    main(sys.argv[1])
