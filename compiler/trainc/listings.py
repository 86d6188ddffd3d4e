"""Output listings: the file in an output folder that names the outputs of trainc, and the paths that they come from.

Reads    the bytes of a listing, which anybody may have changed.
Returns  the outputs that it names: the readers skip them, the writer prunes them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.confine import within
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MARK: Final = "# Compiled by trainc from the TrainJob of this name. Do not edit: it is written anew.\n"
"""The first line of every output."""
MARK_BYTES: Final = MARK.encode()
LISTING: Final = ".trainc-outputs"
"""No suffix: kubectl and Argo CD read every .json file of a folder as a manifest, hidden or not."""
BEGINS: Final = b'{\n  "outputs": '
"""How trainc begins a listing."""
STDIN: Final = "-"
_NO_NAMES: Final = frozenset(("", ".", ".."))
"""Parts of paths, of absolute ones too, that name nothing in a folder."""


class Listing(NamedTuple):
    """The content of a listing."""

    outputs: tuple[object, ...] = ()
    """Paths in the folder, `/` between their parts, as they were read; use `is_below` before you follow one."""
    inputs: tuple[str, ...] | None = None
    """The PATHs that the outputs were compiled from, relative to the folder; None where it does not name them."""


def parse(data: bytes) -> Listing | None:
    """Return a listing; None where the data is none."""
    import json

    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    outputs = value.get("outputs") if isinstance(value, dict) else None
    if not isinstance(outputs, list):
        return None
    inputs = value.get("inputs")
    if not isinstance(inputs, list) or not all(isinstance(path, str) and "\0" not in path for path in inputs):
        return Listing(tuple(outputs))
    return Listing(tuple(outputs), tuple(inputs))


def render(outputs: Iterable[str], inputs: Sequence[str] | None) -> bytes:
    """Return the bytes of a listing."""
    import json

    value = {"outputs": sorted(outputs)} | ({} if inputs is None else {"inputs": list(inputs)})
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def outputs_of(folder: str, data: bytes, given: Iterable[str]) -> frozenset[str]:
    """Return the paths of the outputs that a folder's listing names.

    A file is an output where it also begins with trainc's mark.

    Args:
        folder: its absolute path, with all links resolved.
        data: its listing.
        given: the paths of the command line, likewise. What they name in the folder is left out, for it is read.
    """
    listing = parse(data)
    named = [path for path in given if within(path, folder)]
    outputs = () if listing is None else listing.outputs
    paths = [os.path.join(folder, path) for path in outputs if isinstance(path, str) and is_below(path)]
    return frozenset(path for path in paths if not any(within(path, one) for one in named))


def is_below(path: object) -> bool:
    """Return whether a value is a path that stays in the folder."""
    if not isinstance(path, str):
        return False
    try:
        path.encode()
    except UnicodeEncodeError:  # JSON has escapes for half a character
        return False
    return "\0" not in path and _NO_NAMES.isdisjoint(path.split("/"))


def inputs_of(folder: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the PATHs of a command as a listing names them: relative to the output folder, a stream as `-`."""
    return tuple(dict.fromkeys(STDIN if _is_stream(path) else os.path.relpath(path, folder) for path in paths))


def _is_stream(path: str) -> bool:
    return path == STDIN or os.path.abspath(path).startswith("/dev/")


def uncovered(folder: str, recorded: Iterable[str], given: Iterable[str]) -> list[str]:
    """Return the recorded inputs that still exist and that no given input is, or is above.

    All inputs are relative to the folder.
    """
    above = [_full(folder, path) for path in given if path != STDIN]
    given = set(given)
    return [
        path
        for path in recorded
        if path not in given
        and (
            path == STDIN
            or (
                os.path.lexists(full := _full(folder, path))
                and not any(full == one or full.startswith(one.rstrip(os.sep) + os.sep) for one in above)
            )
        )
    ]


def _full(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(os.path.abspath(folder), path))
