"""Marks: values that tell input fields apart.

Reads    the values of fields by path.
Returns  an alteration that gives each field another value, and the field of a value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Path

TRIES: Final = 4
"""The number of marks to try for a field; other fields can have the same."""
_NUMBER: Final = re.compile(r"\d{1,9}")


class Marks:
    """An alteration that gives each field a value that no other field has."""

    def __init__(self, values: dict[Path, Any], numbers: Iterable[int]) -> None:
        self._values: dict[Path, Any] = {}
        self._indices: dict[str, int | None] = {}
        """The index of each field by its mark as text; None for a mark that several fields have."""
        for index, ((path, value), number) in enumerate(zip(values.items(), numbers, strict=True)):
            marks = (_mark(value, number + more * len(values)) for more in range(TRIES))
            mark = next((one for one in marks if str(one) not in self._indices), _mark(value, number))
            self._values[path] = mark
            self._indices[str(mark)] = None if str(mark) in self._indices else index

    def __call__(self, parent: Any, path: Path) -> None:
        """Set the field's mark."""
        parent[path[-1]] = self._values[path]

    def index(self, mark: Any) -> int | None:
        """Return the index of the field with a mark."""
        return self._indices.get(str(mark))


def _mark(value: Any, number: int) -> Any:
    """Return another value of the same type for each number.

    >>> [_mark(value, 7) for value in (4, "900Gi", "torch", True)]
    [11, '907Gi', 'torchx7', True]
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return value
    if not isinstance(value, str):
        return value + number
    text, count = _NUMBER.subn(lambda digits: str(int(digits[0]) + number), value, count=1)
    return text if count else f"{value}x{number}"
