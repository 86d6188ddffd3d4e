"""Write the files of a test."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def write(path: Path | str, *documents: str) -> str:
    """Write YAML documents to a file in a folder that need not exist; return its path."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("---\n".join(documents))
    return str(path)


def write_files(files: dict[str, str] | Iterable[tuple[str, str]], at: Path | str = ".") -> None:
    """Write the texts of files below a folder by their paths."""
    for path, text in files.items() if isinstance(files, dict) else files:
        write(Path(at, path), text)
