"""Kubernetes' answers for quantity arithmetic: sums, differences, products, comparisons, rounding."""

from functools import reduce
from itertools import repeat
from typing import Any, Final

from batches import in_batches
from conformance.recordings import are_equal, lines

from trainc.kubernetes.quantity import Format, Quantity

FORMATS: Final[tuple[Format, ...]] = ("DecimalSI", "BinarySI", "DecimalExponent")
SCALES: Final = dict(
    zip(
        ("nano", "micro", "milli", "one", "kilo", "mega", "giga", "tera", "peta", "exa"), range(-9, 19, 3), strict=False
    )
)


@in_batches("case", lines("quantity_ops"))
def test_quantity_ops(case: dict[str, Any]) -> None:
    given = case["input"]
    answer = OPERATIONS[tuple(sorted(given))](**given)
    binding = {field for field in case["output"] if field != "mulOk" and fits(answer[field])}
    assert are_equal({field: answer[field] for field in binding}, {field: case["output"][field] for field in binding})


def fits(answer: Any) -> bool:
    """Whether Go can represent the answer: its numbers overflow beyond 64 bits."""
    return not isinstance(answer, int) or -(2**63) <= answer < 2**63


def pair(a: str, b: str) -> dict[str, Any]:
    left, right = Quantity.parse(a), Quantity.parse(b)
    return {
        "add": shown(left.add(right)),
        "sub": shown(left.sub(right)),
        "cmp": (left > right) - (left < right),
        "equal": left == right,
    }


def total(list: list[str]) -> dict[str, Any]:
    first, *others = map(Quantity.parse, list)
    whole = reduce(Quantity.add, [first, *others], Quantity(0))
    return {
        "fromZeroValue": shown(whole),
        "fromFirst": shown(reduce(Quantity.add, others, first)),
        "value": whole.value(),
        "milli": whole.milli_value(),
    }


def product(a: str, times: int) -> dict[str, Any]:
    quantity = Quantity.parse(a)
    return {
        "mul": shown(quantity.mul(times)),
        "repeatedAdd": shown(reduce(Quantity.add, repeat(quantity, times), Quantity(0))),
    }


def rounded(a: str) -> dict[str, Any]:
    quantity = Quantity.parse(a)
    rounds = {scale: quantity.round_up(scale) for scale in (-9, -6, -3, 0, 3, 6, 9)}
    return {
        "roundUp": {str(scale): {"string": str(up), "exact": up == quantity} for scale, up in rounds.items()},
        "value": quantity.value(),
        "milliValue": quantity.milli_value(),
        "neg": shown(quantity.negated()),
    }


def quantity_from(value: int) -> dict[str, Any]:
    return {
        **{
            format: {
                "NewQuantity": str(Quantity(value, 0, format)),
                "NewMilliQuantity": str(Quantity(value, -3, format)),
            }
            for format in FORMATS
        },
        "NewScaledQuantity": {name: str(Quantity(value, scale, "DecimalSI")) for name, scale in SCALES.items()},
    }


def shown(quantity: Quantity) -> dict[str, str]:
    return {"string": str(quantity), "format": quantity.format}


OPERATIONS: Final[dict[tuple[str, ...], Any]] = {
    ("a", "b"): pair,
    ("list",): total,
    ("a", "times"): product,
    ("a",): rounded,
    ("value",): quantity_from,
}
