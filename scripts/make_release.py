"""Build the files of a release, with the versions and hashes of the lock files.

    python scripts/make_release.py check v0.1.0    verify that a tag has the version of the sources
    python scripts/make_release.py build dist      write the wheel, the sdist and trainc.pyz to a folder
    python scripts/make_release.py pyz dist        write only the wheel and trainc.pyz

trainc.pyz is one file with the wheel and its dependencies. Its first run unpacks them into a cache folder, `~/.shiv` or
SHIV_ROOT, because trainc reads its data from files. Python 3.11 or later runs it. Only the Python version and platform
that built it have libyaml; others read YAML with PyYAML's slower parser.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).parents[1]
INTERPRETER: Final = "/usr/bin/env python3"


def version() -> str:
    """Return the version of the sources."""
    found = re.search('__version__ = "(.+)"', (ROOT / "compiler" / "trainc" / "base" / "releases.py").read_text())
    assert found
    return found[1]


def check(tag: str) -> None:
    """Exit with an error if a tag is not that of the sources, or if the changelog has no section for it."""
    if tag != f"v{version()}":
        sys.exit(f"the tag is {tag}, and compiler/trainc/base/releases.py has {version()}")
    if f"\n## [{version()}] - " not in (ROOT / "CHANGELOG.md").read_text():
        sys.exit(f"CHANGELOG.md has no section [{version()}] with a date")


def build(folder: Path, *, sdist: bool) -> None:
    """Write the distributions and trainc.pyz."""
    with tempfile.TemporaryDirectory() as temporary:
        programs = Path(temporary) / "programs" / "bin"
        run([sys.executable, "-m", "venv", programs.parent])
        run([programs / "pip", *pip("requirements-build.lock")])
        kinds = [] if sdist else ["--wheel"]
        run([programs / "python", "-m", "build", "--no-isolation", "--outdir", folder, *kinds, ROOT])
        site = Path(temporary) / "site"
        wheel = folder / f"trainc-{version()}-py3-none-any.whl"
        run([programs / "pip", *pip("requirements.lock"), "--target", site])
        run([programs / "pip", "install", "--quiet", "--no-index", "--no-deps", "--upgrade", "--target", site, wheel])
        pack: list[str | Path] = [programs / "shiv", "--site-packages", site, "--console-script", "trainc"]
        run([*pack, "--python", INTERPRETER, "--reproducible", "--compressed", "--output-file", folder / "trainc.pyz"])


def pip(lock: str) -> list[str | Path]:
    """Return the arguments of pip that install a lock file."""
    return ["install", "--quiet", "--require-hashes", "--only-binary=:all:", "-r", ROOT / lock]


def run(command: Sequence[str | Path]) -> None:
    """Run a command, or exit with its status."""
    done = subprocess.run(command, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def main(arguments: list[str]) -> None:
    """Run one of the commands above."""
    match arguments:
        case ["check", tag]:
            check(tag)
        case ["build" | "pyz" as kind, folder]:
            build(Path(folder).resolve(), sdist=kind == "build")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
