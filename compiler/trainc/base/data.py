"""The data files that trainc reads at run time: JSON Schemas, tables, built-in runtimes, diagnostic pages.

Reads    this file's own path, and the tables in schemas/.
Returns  paths in a wheel (trainc/data/...), or in a checkout or an editable install (../../...), and tables.
"""

from __future__ import annotations

import os.path
from functools import cache
from typing import Any, Final

# importlib.resources would add 10 ms to every start.
_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKED: Final = os.path.join(_PACKAGE, "data")
_ROOT: Final = _PACKED if os.path.isdir(_PACKED) else os.path.dirname(os.path.dirname(_PACKAGE))


def data_path(*parts: str) -> str:
    """Return the path of a data file or folder: `data_path("schemas", "trainer-2.3", "TrainJob.json")`."""
    return os.path.join(_ROOT, *parts)


@cache  # as many values as there are tables
def data_table(name: str) -> dict[str, Any]:
    """Return a table, schemas/<name>.json, such as `diagnostics`."""
    import json

    with open(data_path("schemas", f"{name}.json"), encoding="utf-8") as file:
        table: dict[str, Any] = json.load(file)
    return table


def declared_in() -> dict[str, str]:
    """Return the module that declares each diagnostic id."""
    modules: dict[str, str] = data_table("diagnostics")["declared_in"]
    return modules


def lint_rules() -> list[str]:
    """Return the ids of the lint rules, which settings and annotations can disable."""
    rules: list[str] = data_table("diagnostics")["lint_rules"]
    return rules
