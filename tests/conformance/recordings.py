"""Recorded answers of the Kubernetes libraries, as test parameters.

`lines` reads k8s/<name>.jsonl in the folder named by TRAINC_CONFORMANCE, by default data/ next to this file, and
returns a parameter for each case, with the id "<name>/<case>". Cases in known_failures.txt must fail. A missing
recording is an error; if TRAINC_CONFORMANCE is set, the modules without recordings are skipped.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from trainc.settings import DEFAULT

_HERE = Path(__file__).parent
UNVALIDATED = DEFAULT._replace(field_validation="warn")
"""The clients that were recorded asked for no field validation, so the API server dropped unknown fields."""
IS_OTHER = bool(os.environ.get("TRAINC_CONFORMANCE"))
DATA = Path(os.environ["TRAINC_CONFORMANCE"]) if IS_OTHER else _HERE / "data"
_KNOWN_FAILURES = _HERE / "known_failures.txt"
# One recording has lost its U+0085 (next line): a tool replaced it with a line break.
_BROKEN_LINE = re.compile(r'\n(?!\{"name"|\Z)')


def lines(*names: str) -> list[Any]:
    """Return the cases of all k8s/<name>.jsonl as pytest parameters."""
    cases = [(f"{name}/{case['name']}", case) for name in names for case in recorded(f"k8s/{name}.jsonl")]
    return or_skip([pytest.param(case, id=id, marks=marks(id)) for id, case in cases])


def recorded(path: str) -> list[Any]:
    """Return the cases of a file with lines of JSON. Only another folder may lack it."""
    file = DATA / path
    if IS_OTHER and not file.exists():
        return []
    text = _BROKEN_LINE.sub("\x85", file.read_bytes().decode())
    return [json.loads(line) for line in text.split("\n") if line]


def or_skip(cases: list[Any]) -> list[Any]:
    """Return cases. If another folder has none, skip the module; without cases of our own, pytest fails."""
    if IS_OTHER and not cases:
        pytest.skip(f"a recording that TRAINC_CONFORMANCE={DATA} lacks", allow_module_level=True)
    return cases


def marks(id: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a case: a known failure must fail; other recordings may use its name for another case."""
    reason = _known_failures().get(id)
    return [] if reason is None else [pytest.mark.xfail(reason=reason, strict=not IS_OTHER)]


@cache
def _known_failures() -> dict[str, str]:
    """Return the reason for each case that trainc answers differently: lines of an id, two spaces and a reason."""
    if not _KNOWN_FAILURES.exists():
        return {}
    entries = [line.partition("  ") for line in _KNOWN_FAILURES.read_text("utf-8").splitlines()]
    return {
        identifier: reason.strip() for identifier, _, reason in entries if identifier.strip() and identifier[0] != "#"
    }


def are_equal(left: Any, right: Any) -> bool:
    """Whether two values of any depth are equal as JSON, including types: 1, 1.0 and True differ."""
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, dict):
            if one.keys() != other.keys():
                return False
            pairs.extend((one[key], other[key]) for key in one)
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return True
