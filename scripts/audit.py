"""Audit the lock files and the workflows: `make audit`.

zizmor and actionlint read the workflows and need no network. pip-audit gets the known vulnerabilities of the locked
versions from PyPI. If PyPI does not answer, this part is skipped with a message; with `--online`, or on GitHub, it
fails instead.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
BIN: Final = Path(sysconfig.get_path("scripts"))
LOCKS: Final = ("requirements.lock", "requirements-build.lock", "requirements-dev.lock", "requirements-site.lock")
EXAMPLE: Final = Path("integrations", "github", "trainc.yaml")


def workflows() -> bool:
    """Return whether the linters report nothing."""
    files = [*sorted(Path(".github", "workflows").iterdir()), EXAMPLE]
    commands: list[list[str | Path]] = [
        [BIN / "actionlint", *files],
        [BIN / "zizmor", "--offline", "--quiet", "."],
        [BIN / "zizmor", "--offline", "--quiet", EXAMPLE],
    ]
    return not [command for command in commands if subprocess.run(command, check=False).returncode]


def vulnerabilities(lock: str, *, online: bool) -> bool:
    """Return whether no locked version has a known vulnerability."""
    command: list[str | Path] = [
        BIN / "pip-audit",
        "--require-hashes",
        "--disable-pip",
        "--progress-spinner=off",
        "--format=json",
    ]
    done = subprocess.run([*command, "-r", lock], capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except ValueError:
        return _skipped(lock, done.stderr.strip().rpartition("\n")[2], online=online)
    unknown = [f"{package['name']}: {package['skip_reason']}" for package in found if "skip_reason" in package]
    for package in found:
        for vulnerability in package.get("vulns", ()):
            fixed = ", ".join(vulnerability["fix_versions"]) or "no version"
            print(f"{lock}: {package['name']} {package['version']}: {vulnerability['id']}, fixed in {fixed}")
    if unknown:
        return _skipped(lock, unknown[0], online=online)
    print(f"{lock}: {len(found)} packages, {sum(len(package['vulns']) for package in found)} known vulnerabilities")
    return done.returncode == 0


def _skipped(lock: str, reason: str, *, online: bool) -> bool:
    print(f"{lock}: {'not audited' if online else 'SKIPPED pip-audit, which needs pypi.org'}: {reason}")
    return not online


def main(arguments: list[str]) -> int:
    """Run all audits, and return the exit status."""
    os.chdir(ROOT)
    online = "--online" in arguments or "GITHUB_ACTIONS" in os.environ
    passed = [workflows(), *(vulnerabilities(lock, online=online) for lock in LOCKS)]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
