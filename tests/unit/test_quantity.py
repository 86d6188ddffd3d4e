"""Quantities: their printed form and their arithmetic."""

import pytest

from trainc.kubernetes.quantity import Format, Quantity, QuantityError, canonical


@pytest.mark.parametrize(
    "text",
    [
        *("8", "+1", "01", "007", "12e0", "3e0", "+12e0"),  # no fraction, no exponent: signs and leading zeros stay
        *("500m", "0100m", "1500m", "1k", "1001k", "058P"),
        *("1e3", "1E3", "1e+3", "1e03", "10e-3", "1e21", "1e+21"),
        *("64Gi", "1Ki", "+1023Gi", "02Ki", "1000Ki", "1.Ki"),
        *("1.", "1.001", "1.100", "8.580", "-377728.574m"),  # digits after the point in threes
        *("999999999999999999", "+999999999999999999", "0000000000000000000000001"),  # 18 digits, without leading zeros
    ],
)
def test_stays_as_typed(text: str) -> None:
    assert canonical(text) == text


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        pytest.param("1000m", "1", id="whole units"),
        pytest.param("1000", "1k", id="thousands"),
        pytest.param("+1000", "1k", id="thousands, signed"),
        pytest.param("1000000u", "1", id="two steps at once"),
        pytest.param("1e1", "10", id="exponents go by threes"),
        pytest.param("1e2", "100", id="exponents go by threes: 100"),
        pytest.param("120e5", "12e6", id="exponents go by threes, upwards"),
        pytest.param("5e-1", "500e-3", id="exponents go by threes, downwards"),
        pytest.param("1E19", "10e18", id="a new exponent is lower case"),
        pytest.param("0.5", "500m", id="fraction"),
        pytest.param(".5", "500m", id="fraction without a leading zero"),
        pytest.param("0.100", "100m", id="fraction that begins with zero"),
        pytest.param("1.000", "1", id="fraction of zeros"),
        pytest.param("1.0001", "1000100u", id="fraction not by threes"),
        pytest.param("1.5Gi", "1536Mi", id="binary fraction"),
        pytest.param("0.5Ki", "512", id="binary below 1024"),
        pytest.param("1.1Ki", "1126400m", id="binary that is not whole"),
        pytest.param("1024Gi", "1Ti", id="binary goes up"),
        pytest.param("+512Ki", "512Ki", id="binary multiples of 8 are printed anew"),
        pytest.param("0.0001Ki", "102400u", id="binary below 1 becomes decimal"),
        pytest.param("1000000000000000000", "1E", id="19 digits are printed anew"),
        pytest.param("+1234567890123456789", "1234567890123456789", id="19 digits lose the sign"),
        pytest.param("0.1n", "1n", id="below nano: away from zero"),
        pytest.param("-0.1n", "-1n", id="below nano: away from zero, downwards"),
        pytest.param("1.0000000001", "1000000001n", id="below nano: rounded"),
        pytest.param("8Ei", "9223372036854775807", id="binary ends at 2**63-1"),
        pytest.param("-99Ei", "-9223372036854775807", id="binary ends there downwards"),
        pytest.param("9E", "9E", id="decimal does not end there"),
        pytest.param("1000E", "1", id="beyond exa the suffix is lost, as in Kubernetes"),
        *(
            pytest.param(zero, "0", id=f"zero: {zero}")
            for zero in ("0", "-0", "00", "0.0", "0Gi", "0m", "0e5", "0e-10")
        ),
        *(pytest.param(bare, "0", id=f"no digits: {bare}") for bare in ("Mi", "m", "-", "+", ".", "e3")),
    ],
)
def test_is_reformatted(typed: str, printed: str) -> None:
    assert canonical(typed) == printed
    assert canonical(printed) == printed


@pytest.mark.parametrize(
    "text",
    [
        *("", " 1", "1 ", "1 Gi", "1\n", "1Gi\n", "１", "1\u0660"),
        *("1K", "1ki", "1gi", "1GB", "1Kib", "1t", "1Z", "1mm", "1μ"),
        *("1e", "1e+", "1ee3", "1e3Ki", "1e 3", "1e1.5", "++1", "1-", "-+1"),
        *("1.2.3", "1_000", "1,5", "1/2", "0x10", "0b1", "NaN", "inf", "true", "cpu"),
        *("Ei", ".Ei", "e-10", ".1e-10Gi"),  # no digits, and too large or too small for a machine word
        *("1e1001", "1e-1001", "1e2147483648", "1e99999999999999999999", "1" * 1001),
    ],
)
def test_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        Quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("64GB", '"64GB" is not a valid quantity (did you mean 64G or 64Gi?): use a number with'),
        ("512mb", '"512mb" is not a valid quantity (did you mean 512M or 512Mi?): use a number with'),
        ("1 Ti", '"1 Ti" is not a valid quantity (did you mean 1T or 1Ti?): use a number with'),
        ("-1K", '"-1K" is not a valid quantity (did you mean -1k or -1Ki?): use a number with'),
        ("all", '"all" is not a valid quantity: use a number with'),
        ("1e1001", '"1e1001" has an exponent beyond the maximum of 1000'),
        ("1" * 1001, f'"{"1" * 40}..." is too long for a quantity: 1001 characters'),
    ],
)
def test_error_messages(text: str, message: str) -> None:
    with pytest.raises(QuantityError) as error:
        canonical(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        pytest.param(8, "8", id="integer"),
        pytest.param(0, "0", id="zero"),
        pytest.param(None, "0", id="null"),
        pytest.param(-3, "-3", id="negative"),
        pytest.param(3000, "3k", id="thousands"),
        pytest.param(10**18, "1E", id="19 digits"),
        pytest.param(1e3, "1k", id="a whole float has no exponent"),
        pytest.param(1e20, "100E", id="a large float has no exponent"),
        pytest.param(1e21, "1e+21", id="a larger float has one"),
        pytest.param(2.5, "2500m", id="fraction"),
        pytest.param(0.00001, "10u", id="a small float has no exponent"),
        pytest.param(-0.0000025, "-2500n", id="a small negative float has none either"),
        pytest.param(1e-7, "100e-9", id="a smaller float has one"),
        pytest.param(-0.0, "0", id="negative zero"),
        pytest.param(" 1Gi\u3000", "1Gi", id="space around a text"),
    ],
)
def test_json_value(value: str | float | None, printed: str) -> None:
    assert canonical(value) == printed
    assert str(Quantity.from_json(value)) == printed


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), [1], {}, "\t1", "1\n"])
def test_json_value_is_refused(value: object) -> None:
    with pytest.raises(QuantityError):
        Quantity.from_json(value)  # type: ignore[arg-type]
    with pytest.raises(QuantityError):
        canonical(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [
        ("2500m", 3, 2500),
        ("-2500m", -3, -2500),
        ("1n", 1, 1),
        ("1.5Ki", 1536, 1536000),
        ("1e3", 1000, 1000000),
        ("0", 0, 0),
    ],
)
def test_value_is_rounded_away_from_zero(text: str, value: int, milli: int) -> None:
    quantity = Quantity.parse(text)
    assert (quantity.value(), quantity.milli_value()) == (value, milli)


@pytest.mark.parametrize(
    ("a", "b", "added", "subtracted"),
    [
        pytest.param("1", "500m", "1500m", "500m", id="exact"),
        pytest.param("1Gi", "1G", "2073741824", "73741824", id="the first's format"),
        pytest.param("1G", "1Gi", "2073741824", "-73741824", id="the first's format, the other way"),
        pytest.param("0", "1Gi", "1Gi", "-1Gi", id="nothing takes over the format"),
        pytest.param("1e3", "1k", "2e3", "0", id="exponents"),
        pytest.param("1Ki", "24", "1048", "1k", id="binary below 1024 prints as decimal"),
        pytest.param("+1", "0", "1", "1", id="the typed text is gone"),
        pytest.param("7Ei", "7Ei", "14Ei", "0", id="sums do not end at 2**63-1"),
    ],
)
def test_sum_and_difference(a: str, b: str, added: str, subtracted: str) -> None:
    left, right = Quantity.parse(a), Quantity.parse(b)
    assert (str(left.add(right)), str(left.sub(right))) == (added, subtracted)


@pytest.mark.parametrize(
    ("text", "times", "product"),
    [("500m", 4, "2"), ("1.5Gi", 4, "6Gi"), ("1Gi", 0, "0"), ("-1", 5, "-5"), ("64Gi", 128, "8Ti")],
)
def test_product(text: str, times: int, product: str) -> None:
    assert str(Quantity.parse(text).mul(times)) == product


@pytest.mark.parametrize(
    ("text", "exponent", "rounded"),
    [
        pytest.param("1.0001", -3, "1001m", id="up"),
        pytest.param("-1.0001", -3, "-1001m", id="away from zero"),
        pytest.param("1Ki", 3, "2000", id="binary stays binary"),
        pytest.param("+1", -3, "+1", id="nothing to round: as typed"),
        pytest.param("0m", 0, "0", id="zero"),
    ],
)
def test_round_up(text: str, exponent: int, rounded: str) -> None:
    assert str(Quantity.parse(text).round_up(exponent)) == rounded


@pytest.mark.parametrize(("less", "more"), [("999m", "1"), ("1G", "1Gi"), ("-1", "0"), ("1e-9", "1u")])
def test_order(less: str, more: str) -> None:
    assert Quantity.parse(less) < Quantity.parse(more)
    assert Quantity.parse(more) >= Quantity.parse(less)
    assert Quantity.parse(less) != Quantity.parse(more)


@pytest.mark.parametrize(
    ("one", "other"), [("1", "1000m"), ("1Ki", "1024"), ("0Gi", "-0"), ("1e3", "1k"), ("4", "4.0")]
)
def test_equal_by_value(one: str, other: str) -> None:
    assert Quantity.parse(one) == Quantity.parse(other)
    assert hash(Quantity.parse(one)) == hash(Quantity.parse(other))


def test_does_not_equal_text() -> None:
    assert Quantity.parse("1") != "1"


@pytest.mark.parametrize(("text", "sign"), [("1n", 1), ("0Gi", 0), ("-5", -1)])
def test_sign(text: str, sign: int) -> None:
    assert Quantity.parse(text).sign == sign
    assert Quantity.parse(text).is_zero == (sign == 0)


@pytest.mark.parametrize(
    ("value", "exponent", "format", "printed"),
    [
        (1024, 0, "BinarySI", "1Ki"),
        (-1024, 0, "BinarySI", "-1Ki"),
        (1024, 0, "DecimalSI", "1024"),
        (1024, -3, "BinarySI", "1024m"),
        (5, -3, "DecimalExponent", "5e-3"),
        (10**6, 0, "", "1e6"),
        (2**70, 0, "BinarySI", "1"),
    ],
)
def test_made_from_numbers(value: int, exponent: int, format: Format, printed: str) -> None:
    assert str(Quantity(value, exponent, format)) == printed
