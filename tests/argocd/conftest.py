"""What the tests of the Argo CD plugin stand on: a repository with Argo CD's environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


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
