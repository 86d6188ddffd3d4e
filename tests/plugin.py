"""Run the Argo CD plugin in a folder of a repository, as an Application does."""

from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

from running import Done, run


def generate(folder: str, environment: str = "", runtimes: str = "") -> Done:
    """Run `trainc cmp generate` in a folder, relative to the current folder, which is the repository's root.

    `runtimes` is the folder with more runtimes, relative to the root.
    """
    root = Path.cwd()
    parameters: list[dict[str, object]] = []
    if environment:
        parameters.append({"name": "environment", "string": environment})
    if runtimes:
        parameters.append({"name": "runtimes", "array": [os.path.relpath(runtimes, folder)]})
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("ARGOCD_", "PARAM_", "KUBE_"))
    }
    variables |= {"ARGOCD_APP_SOURCE_PATH": folder, "ARGOCD_APP_PARAMETERS": json.dumps(parameters)}
    os.chdir(folder)
    try:
        with mock.patch.dict(os.environ, variables, clear=True):
            return run("cmp", "generate")
    finally:
        os.chdir(root)
