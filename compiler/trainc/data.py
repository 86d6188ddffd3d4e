"""Where the files that trainc reads at run time are: the JSON Schemas, the stock runtimes, the diagnostics' pages.

Reads    nothing but the place of this file.
Returns  paths, in a wheel (trainc/data/...) and in a checkout or an editable install (../../...) alike.
"""

from __future__ import annotations

import os.path
from typing import Final

# importlib.resources would do this too, for 10 ms more at every start.
_PACKAGE: Final = os.path.dirname(os.path.abspath(__file__))
_PACKED: Final = os.path.join(_PACKAGE, "data")
_ROOT: Final = _PACKED if os.path.isdir(_PACKED) else os.path.dirname(os.path.dirname(_PACKAGE))


def data_path(*parts: str) -> str:
    """The path of a data file or folder: `data_path("schemas", "trainer-2.3", "TrainJob.json")`."""
    return os.path.join(_ROOT, *parts)
