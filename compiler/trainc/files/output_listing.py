"""Output listings: the file in an output folder that names the outputs and their sources.

Reads    the bytes of a listing, which are untrusted.
Returns  the outputs in the listing, which readers skip and the writer prunes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.files.confine import is_within

if TYPE_CHECKING:
    from collections.abc import Iterable

MARK: Final = "# Compiled by trainc from "
"""The start of every output of a TrainJob: `first_line`."""
PASSED_MARK: Final = "# Copied by trainc, with the source of each document. Do not edit; run trainc build.\n"
"""The first line of the output with the documents of other kinds."""
MARKS: Final = (MARK.encode(), PASSED_MARK.encode())
"""The starts of all outputs."""
LISTING: Final = ".trainc-outputs"
"""It has no suffix, because kubectl and Argo CD read every .json file in a folder as a manifest, even a hidden one."""
BEGINS: Final = b'{\n  "outputs": '
"""The start of every listing."""
STDIN: Final = "-"
_NO_NAMES: Final = frozenset(("", ".", ".."))
"""Path segments that do not name an entry of a folder."""


Sources = dict[str, tuple[str, ...]]
"""The source files of each output, relative to the output folder; `-` is a stream."""


class Listing(NamedTuple):
    """The content of a listing."""

    outputs: tuple[object, ...] = ()
    """Paths in the folder with `/` as the separator, unchecked; call `is_below` before you use one."""
    sources: Sources = {}  # noqa: RUF012 (never changed)
    environment: str = ""
    """The environment whose outputs these are."""


def first_line(kind: str, namespace: str, name: str) -> str:
    """Return the first line of a job's output.

    >>> first_line("TrainJob", "ml", "llm")
    '# Compiled by trainc from TrainJob ml/llm. Do not edit; run trainc build.\\n'
    """
    return (
        f"{MARK}{kind} {namespace}/{name}. Do not edit; run trainc build.\n"
        if namespace
        else (f"{MARK}{kind} {name}. Do not edit; run trainc build.\n")
    )


def parse(data: bytes) -> Listing | None:
    """Return the listing in some bytes; None if they are not a listing."""
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
    known = {output: found for output, value in pairs if (found := _sources(value))}
    environment = value.get("environment")
    return Listing(tuple(outputs), known, environment if isinstance(environment, str) else "")


def _sources(value: object) -> tuple[str, ...]:
    """Return the sources of one output; empty if the value is invalid."""
    paths: list[object] = value if isinstance(value, list) else [value]
    valid = tuple(path for path in paths if isinstance(path, str) and path and "\0" not in path)
    return valid if len(valid) == len(paths) else ()


def render(outputs: Iterable[str], sources: Sources, environment: str = "") -> bytes:
    """Return the bytes of a listing."""
    import json

    names = sorted(outputs)
    known = {name: found[0] if len(found) == 1 else list(found) for name in names if (found := sources.get(name))}
    value: dict[str, object] = {"outputs": names, "sources": known}
    if environment:
        value["environment"] = environment
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def outputs_of(folder: str, data: bytes, given: Iterable[str]) -> frozenset[str]:
    """Return the paths of the outputs in a folder's listing.

    A file is an output only if it also starts with trainc's marker.

    Args:
        folder: the absolute path, with all links resolved.
        data: the listing.
        given: the paths of the command line, in the same form. Outputs at or below them are not returned,
            nor those of an environment whose parent folder is one of them.
    """
    listing = parse(data)
    above = os.path.dirname(folder) if listing is not None and listing.environment else folder
    named = [path for path in given if path == above or is_within(path, folder)]
    outputs = () if listing is None else listing.outputs
    paths = [os.path.join(folder, path) for path in outputs if isinstance(path, str) and is_below(path)]
    return frozenset(path for path in paths if not any(is_within(path, one) for one in named))


def is_below(path: object) -> bool:
    """Return whether an untrusted value is a path that stays inside the folder."""
    if not isinstance(path, str):
        return False
    try:
        path.encode()
    except UnicodeEncodeError:  # JSON has escapes for half a character
        return False
    return "\0" not in path and _NO_NAMES.isdisjoint(path.split("/"))


def listed_path(folder: str, path: str) -> str:
    """Return a path of the command line relative to the output folder, as in a listing; `-` for a stream."""
    return STDIN if _is_stream(path) else os.path.relpath(path, folder)


def is_covered(folder: str, source: str, given: Iterable[str]) -> bool:
    """Return whether a build of the given paths compiles a source; all paths are relative to the output folder.

    A path covers itself and everything below it. A source is also covered if its folder no longer exists.
    """
    given = tuple(given)
    if source in given:
        return True
    if source == STDIN:
        return False
    full = _resolved_path(folder, source)
    return any(is_within(full, _resolved_path(folder, path)) for path in given if path != STDIN) or not os.path.lexists(
        os.path.dirname(full)
    )


def _is_stream(path: str) -> bool:
    return path == STDIN or os.path.abspath(path).startswith("/dev/")


def _resolved_path(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(os.path.abspath(folder), path))
