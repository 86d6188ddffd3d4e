"""Output listings: the file in an output folder that names the outputs of trainc and their sources.

Reads    the bytes of a listing, which anybody may have changed.
Returns  the outputs that it names: the readers skip them, the writer prunes them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.confine import within
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

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


Sources = dict[str, tuple[str, ...]]
"""By output, the files that it was compiled from: relative to the output folder, `-` for a stream."""


class Listing(NamedTuple):
    """The content of a listing."""

    outputs: tuple[object, ...] = ()
    """Paths in the folder, `/` between their parts, as they were read; use `is_below` before you follow one."""
    sources: Sources = {}  # noqa: RUF012 (never changed)
    """An older trainc names none."""


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
    sources = value.get("sources")
    pairs = sources.items() if isinstance(sources, dict) else ()
    return Listing(tuple(outputs), {output: found for output, value in pairs if (found := _sources(value))})


def _sources(value: object) -> tuple[str, ...]:
    """Return the sources of one output; none where the value has another form."""
    paths: list[object] = value if isinstance(value, list) else [value]
    valid = tuple(path for path in paths if isinstance(path, str) and path and "\0" not in path)
    return valid if len(valid) == len(paths) else ()


def render(outputs: Iterable[str], sources: Sources) -> bytes:
    """Return the bytes of a listing."""
    import json

    names = sorted(outputs)
    known = {name: found[0] if len(found) == 1 else list(found) for name in names if (found := sources.get(name))}
    value = {"outputs": names, "sources": known}
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


def relative(folder: str, path: str) -> str:
    """Return a path of the command line as a listing names it: relative to the output folder, a stream as `-`."""
    return STDIN if _is_stream(path) else os.path.relpath(path, folder)


def is_covered(folder: str, source: str, given: Iterable[str]) -> bool:
    """Return whether a build of the given paths compiles a source, all relative to the output folder.

    A path covers itself and all that is below it. A source whose folder no longer exists is covered, too.
    """
    given = tuple(given)
    if source in given:
        return True
    if source == STDIN:
        return False
    full = _full(folder, source)
    return any(within(full, _full(folder, path)) for path in given if path != STDIN) or not os.path.lexists(
        os.path.dirname(full)
    )


def _is_stream(path: str) -> bool:
    return path == STDIN or os.path.abspath(path).startswith("/dev/")


def _full(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(os.path.abspath(folder), path))
