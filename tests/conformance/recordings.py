"""Recorded answers of the Kubernetes libraries, as test parameters.

`lines` reads k8s/<name>.jsonl in the folder named by TRAINC_CONFORMANCE, by default data/ next to this file, and
returns a parameter for each case, with the id "<name>/<case>". Cases in known_failures.txt must fail.
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
DATA = Path(os.environ.get("TRAINC_CONFORMANCE") or _HERE / "data")
_KNOWN_FAILURES = _HERE / "known_failures.txt"
# One recording has lost its U+0085 (next line): a tool replaced it with a line break.
_BROKEN_LINE = re.compile(r'\n(?!\{"name"|\Z)')


def lines(name: str) -> list[Any]:
    """Return the cases of k8s/<name>.jsonl as pytest parameters; none if the file is missing."""
    path = DATA / "k8s" / f"{name}.jsonl"
    if not path.exists():
        return []
    text = _BROKEN_LINE.sub("\x85", path.read_bytes().decode())
    cases = [json.loads(line) for line in text.split("\n") if line]
    ids = [f"{name}/{case['name']}" for case in cases]
    return [pytest.param(case, id=id, marks=marks(id)) for id, case in zip(ids, cases, strict=True)]


def marks(id: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a case: a known failure must fail; other recordings may use its name for another case."""
    reason = _known_failures().get(id)
    return [] if reason is None else [pytest.mark.xfail(reason=reason, strict="TRAINC_CONFORMANCE" not in os.environ)]


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
