"""The files that a volume consists of: their paths and modes, and the items that put a key into one.

`named` is the place that the cluster's error names, where it is another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation.findings import Findings, required, spelled
from trainc.kubernetes.violations import PATTERN

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

VOLUME_SOURCES: Final = Declaration("volume-sources", ("job",), "A volume has more than one source")
FILE_MODE: Final = Declaration("file-mode", ("job",), "A file mode is not from 0 to 0777")
PATH_LEADS_OUT: Final = Declaration("path-leads-out", ("job",), "A path may lead out of its folder")

MOST: Final = 0o777


def items(found: Findings, at: At, items: list[Tree]) -> None:
    """The keys of a Secret or ConfigMap that become files."""
    for index, value in enumerate(items):
        item(found, (at, index), value)


def item(found: Findings, at: At, value: Tree) -> None:
    """One key and its file."""
    required(found, at, value, "key", "path")
    if path := value.get("path"):
        inside(found, (at, "path"), path)
    if "mode" in value:
        mode(found, (at, "mode"), value["mode"])


def mode(found: Findings, at: At, value: int, *, named: At = None) -> None:
    """The permissions of a file, which a manifest has in decimal or with a zero before it."""
    if 0 <= value <= MOST:
        return
    from trainc.kubernetes.validation.complaints import called

    text = str(value)
    meant = int(text, 8) if text.isdigit() and set(text) <= set("01234567") else -1
    found.complain(
        FILE_MODE,
        at,
        f"{called(at)} is {value}, and must be from 0 to 511, which is 0777 in octal",
        f"write 0{text} with a zero before it, or {meant}, which is the same in decimal"
        if 0 <= meant <= MOST
        else "for example 0644, or 420 in decimal",
        field=spelled(named),
    )


def inside(found: Findings, at: At, value: str, *, named: At = None) -> None:
    """The path of a file in a volume: as `below`, and nothing that begins with two dots, which a kubelet has."""
    below(found, at, value, named=named)
    if value.startswith("..") and value != ".." and not value.startswith("../"):
        _leads_out(found, at, value, 'begins with ".."', "give the file another name", named)


def below(found: Findings, at: At, value: str, *, named: At = None) -> None:
    """A path that is relative, and leads nowhere but down."""
    if value[:1] == "/":
        _leads_out(found, at, value, "is absolute", f"write {value.lstrip('/') or 'a relative path'}", named)
    no_way_up(found, at, value, named=named)


def no_way_up(found: Findings, at: At, value: str, *, named: At = None) -> None:
    """A path without two dots as one of its steps."""
    if ".." in value and ".." in value.split("/"):
        _leads_out(found, at, value, 'has ".." in it', "write the path that is meant, without going up", named)


def not_absolute(found: Findings, at: At, value: str) -> None:
    """Complain of a path that must be absolute, and is not."""
    from trainc.kubernetes.structural.remedies import shown
    from trainc.kubernetes.validation.complaints import called

    found.complain(PATTERN, at, f"{called(at)} is {shown(value)}, and must be absolute", f"write /{value}")


def _leads_out(found: Findings, at: At, value: str, why: str, help: str, named: At) -> None:
    from trainc.kubernetes.structural.remedies import shown
    from trainc.kubernetes.validation.complaints import called

    found.complain(PATH_LEADS_OUT, at, f"{called(at)} is {shown(value)}, which {why}", help, field=spelled(named))
