"""The listing of pinned files: `.trainc-runtimes`, with a digest of each file to detect edits by hand.

Reads    the bytes of a listing, which are untrusted.
Returns  the digests of each file: two while a pull is writing, because it may be killed before or after the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME: Final = ".trainc-runtimes"
"""It has no suffix, because kubectl and Argo CD read every .json file in a folder as a manifest, even a hidden one."""
BEGINS: Final = b'{\n  "runtimes": '
"""The start of every listing."""

Digests = dict[str, tuple[str, ...]]
"""Digests by path in the folder, with `/` as the separator."""
_NO_NAMES: Final = frozenset(("", ".", ".."))
"""Path segments that do not name an entry of a folder."""


def digest(data: bytes) -> str:
    """Return the digest of a file, which does not depend on the line endings of a checkout."""
    from hashlib import sha256

    return f"sha256:{sha256(unix(data)).hexdigest()}"


def unix(data: bytes) -> bytes:
    """Return a file with Unix line endings: git may check it out with others."""
    return data.replace(b"\r\n", b"\n")


def parse(data: bytes) -> Digests | None:
    """Return the digests in a listing; None if the bytes are not a listing."""
    import json

    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    files = value.get("runtimes") if isinstance(value, dict) else None
    if not isinstance(files, dict):
        return None
    found = {path: _digests(value) for path, value in files.items() if _is_below(path)}
    return found if len(found) == len(files) and all(found.values()) else None


def _is_below(path: object) -> bool:
    """Whether an untrusted value is a path that stays inside the folder."""
    if not isinstance(path, str):
        return False
    try:
        path.encode()
    except UnicodeEncodeError:  # JSON has escapes for half a character
        return False
    return "\0" not in path and _NO_NAMES.isdisjoint(path.split("/"))


def _digests(value: object) -> tuple[str, ...]:
    """Return the digests of one file; empty if the value is invalid."""
    values: list[object] = value if isinstance(value, list) else [value]
    valid = tuple(one for one in values if isinstance(one, str) and one.startswith("sha256:"))
    return valid if len(valid) == len(values) else ()


def render(digests: Mapping[str, tuple[str, ...]]) -> bytes:
    """Return the bytes of a listing."""
    import json

    files = {path: found[0] if len(found) == 1 else list(found) for path, found in sorted(digests.items())}
    return (json.dumps({"runtimes": files}, indent=2) + "\n").encode()
