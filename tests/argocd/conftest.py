"""Fixtures for the Argo CD plugin: a repository with Argo CD's environment, and the sidecar's venv."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest
from argocd import sidecar as building
from argocd.sidecar import USER, Sidecar


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty repository; its application folder apps/training is the current folder."""
    root = tmp_path / "repository"
    (root / "apps" / "training").mkdir(parents=True)
    monkeypatch.chdir(root / "apps" / "training")
    for variable in [name for name in os.environ if name.startswith(("ARGOCD_", "PARAM_", "KUBE_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("ARGOCD_APP_SOURCE_PATH", "apps/training")
    return root


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the sidecar, whose installation takes half a minute."""
    for item in items:
        if "sidecar" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def sidecar(testrun_uid: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sidecar]:
    """Yield the Dockerfile's venv, created and run by user 999 if root runs the tests, else by the current user.

    The processes of one test run share it: the first creates it, the last removes it.
    """
    user = USER if os.geteuid() == 0 else None
    python = building.interpreter(user)
    if python is None:
        pytest.skip(f"a Python 3.11 or later that makes a venv and that user {user or os.geteuid()} may run")
    own = tmp_path_factory.getbasetemp()
    locks = own.parent if own.name.startswith("popen-") else own
    # Not below pytest's folder, which other users cannot enter.
    folder = Path(tempfile.gettempdir()) / f"trainc-sidecar-{testrun_uid}"
    with locked(locks / "sidecar.users", fcntl.LOCK_SH) as users:
        with locked(locks / "sidecar.turn"):
            if not (folder / "made").exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                folder.chmod(0o755)
                building.build(folder, user, python)
                (folder / "made").touch()
        yield Sidecar(folder, user)
        with locked(locks / "sidecar.turn"), suppress(BlockingIOError):
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)


@contextmanager
def locked(path: Path, how: int = fcntl.LOCK_EX) -> Iterator[IO[str]]:
    """Open and lock a file that the processes of this test run share."""
    with path.open("a") as opened:
        fcntl.flock(opened, how)
        yield opened
