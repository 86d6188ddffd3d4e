"""Recorded answers of the real code, one test a line.

Reads data/k8s/<name>.jsonl beside this file, or in the folder that TRAINC_CONFORMANCE names; the tests whose ids are
in known_failures.txt must fail.
"""

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

HERE: Final = Path(__file__).parent
DATA: Final = Path(os.environ.get("TRAINC_CONFORMANCE", HERE / "data"))


def lines(name: str) -> list[Any]:
    """A parameter for every line of k8s/<name>.jsonl, with the id <name>/<case>."""
    known = HERE / "known_failures.txt"
    failing = set(known.read_text().split()) if known.exists() else set()
    cases = [json.loads(line) for line in (DATA / "k8s" / f"{name}.jsonl").read_text().splitlines()]
    return [
        pytest.param(case, id=id, marks=[pytest.mark.xfail(strict=True)] if id in failing else [])
        for case in cases
        for id in [f"{name}/{case['name']}"]
    ]


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal, types included: 1, 1.0 and true all differ."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)
