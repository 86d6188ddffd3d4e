"""Kubernetes' answers to strategic merges into a JobSetSpec."""

import json
import math
import re
from typing import Any

from batches import in_batches
from conformance.recordings import are_equal, lines

from trainc.kubernetes.merge import MergeError, strategic_merge


@in_batches("case", lines("smp"))
def test_strategic_merge(case: dict[str, Any]) -> None:
    given, outcomes = case["input"], case.get("outcomes", [case])
    values = [go_spelled(outcome["output"]) for outcome in outcomes if "output" in outcome]
    try:
        merged = strategic_merge(side(given, "original"), side(given, "patch"))
    except (MergeError, ValueError):
        assert len(values) < len(outcomes)
    else:
        assert any(are_equal(go_spelled(merged), value) for value in values)


def side(given: dict[str, Any], name: str) -> Any:
    """Return one side of the merge as Go's JSON reader reads it; raises ValueError if it is not JSON."""
    return as_go_reads(json.loads(given[f"{name}_text"]) if f"{name}_text" in given else given[name])


def as_go_reads(value: Any) -> Any:
    """Convert integers beyond 64 bits to floats, reject infinite floats, and replace lone surrogates."""
    match value:
        case dict():
            return {key: as_go_reads(item) for key, item in value.items()}
        case list():
            return [as_go_reads(item) for item in value]
        case str():
            return re.sub("[\ud800-\udfff]", "\ufffd", value)
        case int() if not -(2**63) <= value < 2**63:
            return float(value)
        case float() if not math.isfinite(value):
            raise ValueError(value)
    return value


def go_spelled(value: Any) -> Any:
    """Return a value as Go writes it: whole floats below 1e21 without a point."""
    match value:
        case dict():
            return {key: go_spelled(item) for key, item in value.items()}
        case list():
            return [go_spelled(item) for item in value]
        case float() if value.is_integer() and abs(value) < 1e21:
            return int(value)
        case int() if not -(2**63) <= value < 2**63:
            return go_spelled(float(value))
    return value
