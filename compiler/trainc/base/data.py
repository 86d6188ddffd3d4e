"""Paths of the data files that trainc reads at run time: JSON Schemas, built-in runtimes, diagnostic pages.

Reads    this file's own path.
Returns  paths in a wheel (trainc/data/...), or in a checkout or an editable install (../../...).
"""

from __future__ import annotations

import os.path
from typing import Final

# importlib.resources would add 10 ms to every start.
_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKED: Final = os.path.join(_PACKAGE, "data")
_ROOT: Final = _PACKED if os.path.isdir(_PACKED) else os.path.dirname(os.path.dirname(_PACKAGE))


def data_path(*parts: str) -> str:
    """Return the path of a data file or folder: `data_path("schemas", "trainer-2.3", "TrainJob.json")`."""
    return os.path.join(_ROOT, *parts)
