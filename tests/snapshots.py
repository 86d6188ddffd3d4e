"""Snapshots as separate text files beside the input of their test, and the texts of many faults in one snapshot.

A test declares a subclass of `TextFile` for each kind of file. `(N)` replaces the number of built-in runtimes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from trainc.diagnostics import Diagnostic
from trainc.kubernetes.violations import Violation

VARIABLE = re.compile(r'"[^"]*"|\S*[\d\[./]\S*')
"""The parts of a text that differ between two faults of one kind: values, numbers and paths."""


class TextFile(SingleFileSnapshotExtension):
    """The file FOLDER/NAME.EXTENSION; `{}` in the folder or the name is the parameter of the test."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"
    folder: Path
    name = "{}"

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(cls.folder).replace("{}", parameter(test_location))

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return cls.name.replace("{}", parameter(test_location))

    def is_snapshot_location(self, *, location: str) -> bool:
        return fnmatchcase(Path(location).name, f"{self.name.replace('{}', '*')}.{self.file_extension}")

    def serialize(self, data: Any, **_: Any) -> str:
        return uncounted(str(data))


def uncounted(text: str) -> str:
    """Replace the number of built-in runtimes, so that a new one changes no snapshot."""
    return re.sub(r"(the (?:stock|built-in) runtimes) \(\d+\)", r"\1 (N)", text)


def parameter(test: PyTestLocation) -> str:
    """Return the parameter of a test: `cpu-ranks` of `test_golden[cpu-ranks]`."""
    return test.snapshot_name.partition("[")[2].rstrip("]")


def texts(faults: Iterable[Violation | Diagnostic]) -> str:
    """Return the message and the help of some faults, without those that differ only in values, numbers and paths."""
    found: dict[str, str] = {}
    for each in faults:
        id = each.rule if isinstance(each, Violation) else each.id
        text = f"[{id}] {each.message}\n  help: {each.help}\n"
        found.setdefault(VARIABLE.sub("", text), text if len(text) < 400 else f"{text[:400]}...\n")
    return "".join(found.values())
