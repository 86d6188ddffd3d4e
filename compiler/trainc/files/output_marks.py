"""Output marks: the lines at the top of an output, which show that trainc wrote it, and from which source files.

Reads    the bytes of a file, which are untrusted.
Returns  whether it is an output, and its sources. An output that git merged may have conflict markers at the top.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

MARK: Final = "# Compiled by trainc from "
"""The start of every output of a TrainJob: `first_line`."""
PASSED_MARK: Final = "# Copied by trainc, with the source of each document. Do not edit; run trainc build."
"""The first line of the output with the documents of other kinds."""
MARKS: Final = (MARK.encode(), PASSED_MARK.encode())
"""The starts of all outputs."""
STDIN: Final = "-"
_SOURCE: Final = "# Source: "
"""The start of each line below the first one."""
_CONFLICTS: Final = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
"""The starts of the lines that git inserts into a conflict."""


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


def source_lines(folder: str, sources: Iterable[str]) -> str:
    """Return the lines with the sources of an output; their paths are relative to its folder.

    >>> source_lines("out/ml", ["jobs/a.yaml", "-"])
    '# Source: ../../jobs/a.yaml\\n# Source: -\\n'
    """
    return "".join(f"{_SOURCE}{_printable(relative_source(folder, path))}\n" for path in dict.fromkeys(sources))


def relative_source(folder: str, path: str) -> str:
    """Return the path of a source relative to the folder of its output; `-` for a stream."""
    return STDIN if is_stream(path) else os.path.relpath(path, folder)


def is_stream(path: str) -> bool:
    """Return whether a path of the command line has no name that lasts: standard input, or a device."""
    return path == STDIN or os.path.abspath(path).startswith("/dev/")


def is_marked(data: bytes) -> bool:
    """Return whether a file starts with a mark, below conflict markers.

    >>> is_marked(b"# Compiled by trainc from TrainJob a."), is_marked(b"kind: JobSet")
    (True, False)
    """
    if data.startswith(MARKS):
        return True
    return data.startswith(_CONFLICTS[0]) and _without_conflicts(data).startswith(MARKS)


def _without_conflicts(data: bytes) -> bytes:
    while data.startswith(_CONFLICTS):
        data = data.partition(b"\n")[2]
    return data


def sources_of(data: bytes) -> tuple[str, ...]:
    """Return the sources of an output, relative to its folder; none for another file.

    >>> sources_of(b"# Compiled by trainc from TrainJob a.\\n# Source: ../jobs/a.yaml\\nkind: JobSet\\n")
    ('../jobs/a.yaml',)
    """
    found: dict[str, None] = {}
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        line = data[start : end if end >= 0 else len(data)]
        if line.startswith(_SOURCE.encode()):
            if source := _parsed(line[len(_SOURCE) :].rstrip(b"\r")):
                found[source] = None
        elif not line.startswith((*MARKS, *_CONFLICTS)):
            break
        start += len(line) + 1
    return tuple(found)


def _printable(path: str) -> str:
    """Return a path, as a JSON string if a line cannot show it."""
    if path.isprintable() and not path.startswith(('"', " ")) and not path.endswith(" "):
        return path
    import json

    return json.dumps(path)


def _parsed(value: bytes) -> str:
    """Return the path in a line; empty for an invalid one."""
    try:
        path = value.decode()
        if path.startswith('"'):
            import json

            path = json.loads(path)
    except (ValueError, RecursionError):
        return ""
    return path if isinstance(path, str) and "\0" not in path else ""
