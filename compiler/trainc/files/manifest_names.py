"""The names of files that kubectl, kustomize and trainc read in a folder."""

from __future__ import annotations

from typing import Final

SUFFIXES: Final = (".yaml", ".yml", ".json")
KUSTOMIZATION: Final = "Kustomization"
"""The name of a kustomization file without a suffix."""
GIT: Final = ".git"
"""The name of git's own folder, which no commit contains."""


def is_manifest(name: str) -> bool:
    """Return whether a file in a folder is read, by its name.

    >>> is_manifest("job.yaml"), is_manifest(".hidden.json"), is_manifest("README.md")
    (True, True, False)
    """
    return name.endswith(SUFFIXES) or name == KUSTOMIZATION
