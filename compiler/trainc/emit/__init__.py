"""The back end: manifests as deterministic bytes that every parser reads alike.

Each format is a module, named after its `--format` key. It has `parts(objects, copies)`, which yields the output in
parts. All formats share the order of objects and fields: `order`.

**An output format** (a format of `trainc build`). Copy from `emit/json.py`.
1. Write `emit/<name>.py` with `parts(objects, copies)`, which yields the whole output in parts: the compiled
   objects, and the documents of `--passthrough`. The order of fields is that of `emit/order.py`.
2. Add `<name>` to `FORMATS` in `emit/__init__.py`, and a parser of another project to `READERS` in
   `tests/unit/test_emit_round_trip.py`.
3. Describe `--format <name>` in the section on `build` in `docs/commands.md`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trainc.kubernetes.trees import Tree

    Copy = tuple[Tree, str]
    """An object that trainc does not compile: its value, and its own text as one YAML document."""

FORMATS: Final = ("yaml", "json")
"""The formats. The first one is the default, and the format of the files in an output folder."""


def load(key: str) -> Callable[[Iterable[Tree], Iterable[Copy]], Iterator[str]]:
    """Return the function `parts` of a format: the compiled objects in order, then the copies, as text in parts."""
    parts: Callable[[Iterable[Tree], Iterable[Copy]], Iterator[str]] = import_module(f"{__name__}.{key}").parts
    return parts
