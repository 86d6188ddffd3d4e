"""The files of a volume: their paths and modes, and the items that map keys to files.

`named` is the place in the API server's error, if it differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import PodViolations, called, cluster_field, required_fields
from trainc.kubernetes.violations import PATTERN, shown

if TYPE_CHECKING:
    from trainc.base.fixes import Fix
    from trainc.kubernetes.trees import At, Tree

VOLUME_SOURCES: Final = Declaration("volume-sources", ("job",))
FILE_MODE: Final = Declaration("file-mode", ("job",), fix="unsafe")
PATH_LEADS_OUT: Final = Declaration("path-leads-out", ("job",), fix="unsafe")

MAX_MODE: Final = 0o777


def items(violations: PodViolations, at: At, items: list[Tree]) -> None:
    """Check the keys of a Secret or ConfigMap that become files."""
    for index, value in enumerate(items):
        item(violations, (at, index), value)


def item(violations: PodViolations, at: At, value: Tree) -> None:
    """Check one key and its file."""
    required_fields(violations, at, value, "key", "path")
    if path := value.get("path"):
        path_in_volume(violations, (at, "path"), path)
    if "mode" in value:
        mode(violations, (at, "mode"), value["mode"])


def mode(violations: PodViolations, at: At, value: int, *, named: At = None) -> None:
    """Check a file's permissions, which a manifest writes in decimal or in octal with a leading zero."""
    if 0 <= value <= MAX_MODE:
        return
    from trainc.base.fixes import replace

    text = str(value)
    octal = int(text, 8) if text.isdigit() and set(text) <= set("01234567") else -1
    violations.report(
        FILE_MODE,
        at,
        f"{called(at)} must be from 0 to 511 (0777 in octal), not {value}",
        replace(path_of(at), octal, note=f", which is 0{text} in octal", applicability="unsafe")
        if 0 <= octal <= MAX_MODE
        else "use a mode such as 0644, or 420 in decimal",
        field=cluster_field(named),
    )


def path_in_volume(violations: PodViolations, at: At, value: str, *, named: At = None) -> None:
    """Check a file's path in a volume: relative, and not with `..` at its start, which the kubelet reserves."""
    path_in_directory(violations, at, value, named=named)
    if value.startswith("..") and value != ".." and not value.startswith("../"):
        _report_outside(violations, at, value, 'starts with ".."', "rename the file", named)


def path_in_directory(violations: PodViolations, at: At, value: str, *, named: At = None) -> None:
    """Check a relative path, which must not leave its directory."""
    if value[:1] == "/":
        from trainc.base.fixes import replace

        inside = value.lstrip("/")
        is_valid = inside and not inside.startswith("..") and ".." not in inside.split("/")
        help = replace(path_of(at), inside, applicability="unsafe") if is_valid else "use a relative path"
        _report_outside(violations, at, value, "is absolute", help, named)
    no_parent(violations, at, value, named=named)


def no_parent(violations: PodViolations, at: At, value: str, *, named: At = None) -> None:
    """Check that no element of a path is `..`."""
    if ".." in value and ".." in value.split("/"):
        _report_outside(violations, at, value, 'contains ".."', "use a path without ..", named)


def not_absolute(violations: PodViolations, at: At, value: str) -> None:
    """Report a path that must be absolute and is not."""
    violations.report(PATTERN, at, f"{called(at)} must be absolute, not {shown(value)}", f"use /{value}")


def _report_outside(violations: PodViolations, at: At, value: str, why: str, help: str | Fix, named: At) -> None:
    violations.report(PATH_LEADS_OUT, at, f"{called(at)} {shown(value)} {why}", help, field=cluster_field(named))
