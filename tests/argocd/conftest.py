"""What the tests of the Argo CD plugin stand on: repositories, the sidecar's venv, Argo CD's own plugin server."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from argocd import sidecar as building
from argocd.sidecar import USER, Sidecar


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository whose application is in apps/training, which is the current folder."""
    root = tmp_path / "repository"
    (root / "apps" / "training").mkdir(parents=True)
    monkeypatch.chdir(root / "apps" / "training")
    for variable in [name for name in os.environ if name.startswith(("ARGOCD_", "PARAM_", "KUBE_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("ARGOCD_APP_SOURCE_PATH", "apps/training")
    return root


@pytest.fixture(scope="session")
def sidecar() -> Iterator[Sidecar]:
    """The venv of the Dockerfile, made and run by user 999 where the tests are root's; else by whoever runs them."""
    user = USER if os.geteuid() == 0 else None
    python = building.interpreter(user)
    if python is None:
        pytest.skip(f"user {user} may run no Python of 3.11 or later here")
    # Not below pytest's own folder, which nobody else may enter.
    folder = Path(tempfile.mkdtemp(prefix="trainc-sidecar-"))
    folder.chmod(0o755)
    yield building.build(folder, user, python)
    shutil.rmtree(folder)
