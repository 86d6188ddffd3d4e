"""Generated quantities, compared with apimachinery's: one by one, in manifests, and as sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from differential.oracle import EXAMPLES, Oracle, needs_oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from trainc.kubernetes.quantity import Quantity, QuantityError, canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = needs_oracle

DIGITS: Final = st.one_of(
    st.text("0123456789", max_size=4),
    st.text("0123456789", max_size=24),
    st.text("019", max_size=20),
    st.integers(0, 2**64).map(str),
    st.integers(0, 70).map(lambda power: str(2**power)),
    st.integers(1, 999).map(lambda number: f"{number}000"),
)
UNITS: Final = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
# No exponent beyond 1000: the real code would never answer.
EXPONENTS: Final = st.builds(
    "{}{}{}".format,
    st.sampled_from("eE"),
    st.sampled_from(["", "+", "-", "0"]),
    st.integers(0, 40) | st.integers(0, 1000),
)
NUMBERS: Final = st.builds(
    "{}{}{}{}".format, st.sampled_from(["", "", "+", "-"]), DIGITS, st.sampled_from(["", "", "."]), DIGITS
)
QUANTITIES: Final = st.builds("{}{}".format, NUMBERS, st.sampled_from(UNITS) | EXPONENTS)
SUMMANDS: Final = st.builds(
    "{}{}".format, NUMBERS.filter(lambda text: text.strip("+-.")), st.sampled_from(UNITS) | EXPONENTS
)
NEARLY: Final = st.one_of(
    st.builds("{}{}".format, NUMBERS, st.text("numkKMGTPEie", max_size=3)),
    st.builds("{}{}{}".format, NUMBERS, st.sampled_from("eE"), st.text("+-01.", max_size=3)),
    st.text("+-.01eEkKmMGi \né１", max_size=5),
)
IN_JSON: Final = st.one_of(
    st.integers(-(2**63), 2**64 - 1),
    st.integers(-2000, 2000),
    st.floats(1e-4, 1e15).filter(lambda number: "e" not in repr(number)),  # Python and Go write others differently
    st.none(),
    st.builds("{}{}{}".format, st.sampled_from(["", " "]), QUANTITIES | NEARLY, st.sampled_from(["", " "])),
)


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    oracle = Oracle()
    yield oracle
    oracle.close()


@settings(max_examples=EXAMPLES, deadline=None)
@given(text=QUANTITIES | NEARLY)
def test_text(oracle: Oracle, text: str) -> None:
    [answer] = oracle.ask("quantity", [{"parse": text}])
    try:
        ours = {"output": str(Quantity.parse(text))}
    except QuantityError:
        ours = {"error": answer.get("error", "none")}
    assert ours == answer


@settings(max_examples=EXAMPLES, deadline=None)
@given(value=IN_JSON)
def test_value_of_a_manifest(oracle: Oracle, value: str | float | None) -> None:
    answer = requests(oracle, value)
    try:
        ours = {"output": {"memory": canonical(value)}}
    except QuantityError:
        ours = {"error": answer.get("error", "none")}
    assert ours == answer


@settings(max_examples=EXAMPLES, deadline=None)
@given(texts=st.lists(SUMMANDS, min_size=2, max_size=4))
def test_sum(oracle: Oracle, texts: list[str]) -> None:
    answer = requests(oracle, *texts)
    total, *others = map(Quantity.parse, texts)
    for quantity in others:
        total = total.add(quantity)
    assert answer == {"output": {"memory": str(total)}}


def requests(oracle: Oracle, *memory: Any) -> dict[str, Any]:
    """Return the total requests of a pod's containers."""
    containers = [{"name": "c", "resources": {"requests": {"memory": amount}}} for amount in memory]
    [answer] = oracle.ask("podrequests", [{"podSpec": {"containers": containers}}])
    return answer
