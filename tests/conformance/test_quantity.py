"""Kubernetes' answers for single quantities: their text, sign, and value if it fits into 64 bits.

Thousandths that do not fit are compared, too, if the API server does not round the quantity first.
"""

import json
from typing import Any

import pytest
from batches import in_batches
from conformance.recordings import are_equal, lines

from trainc.kubernetes.quantity import Quantity, QuantityError


@in_batches("case", lines("quantity"))
def test_quantity(case: dict[str, Any]) -> None:
    if "output" not in case:
        with pytest.raises(QuantityError):
            read(case["input"])
        return
    quantity, recorded = read(case["input"]), case["output"]
    answer = {
        "string": str(quantity),
        "format": quantity.format,
        "isZero": quantity.is_zero,
        "sign": quantity.sign,
        "value": quantity.value(),
        "milliValue": quantity.milli_value(),
    }
    binding = {field for field in answer if field in recorded}
    binding -= {field for field in ("value", "milliValue") if not recorded.get(f"{field}Fits")}
    assert are_equal({field: answer[field] for field in binding}, {field: recorded[field] for field in binding})
    if "milliValue" in recorded and quantity.sign >= 0 and quantity == quantity.round_up(-3):
        assert quantity.int64(-3) == recorded["milliValue"]


def read(given: dict[str, Any]) -> Quantity:
    if "parse" in given:
        return Quantity.parse(given["parse"])
    # Go reads a number from its text: 1E3 and 1000 differ.
    return Quantity.from_json(json.loads(given["unmarshalJSON"], parse_int=str, parse_float=str))
