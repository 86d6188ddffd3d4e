"""Resource requirements: the result of a merge, and its order."""

from copy import deepcopy
from typing import Any

import pytest

from trainc.kubernetes.quantity import QuantityError, merge_resources


@pytest.mark.parametrize(
    ("base", "override", "merged"),
    [
        pytest.param({}, {}, {}, id="nothing"),
        pytest.param(
            {"limits": {"cpu": 1, "memory": "1Gi"}},
            {"limits": {"cpu": "2000m"}},
            {"limits": {"cpu": "2", "memory": "1Gi"}},
            id="resource by resource, reformatted",
        ),
        pytest.param(
            {"limits": {"cpu": "1"}},
            {"requests": {"cpu": "1"}},
            {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
            id="limits and requests apart",
        ),
        pytest.param({"limits": {}, "claims": []}, {"limits": None}, {}, id="nothing empty is left"),
        pytest.param(
            {"limits": {"cpu": "+1"}}, {}, {"limits": {"cpu": "+1"}}, id="quantities as Kubernetes prints them"
        ),
    ],
)
def test_amounts(base: dict[str, Any], override: dict[str, Any], merged: dict[str, Any]) -> None:
    assert merge_resources(base, override) == merged


@pytest.mark.parametrize(
    ("base", "override", "merged"),
    [
        pytest.param("a b", "", "a b", id="only base"),
        pytest.param("", "a b", "a b", id="only override"),
        pytest.param("a b a", "", "a b a", id="only base, repeated"),
        pytest.param("", "a a", "a a", id="only override, repeated"),
        pytest.param("a", "b b", "b a", id="repeated in the override: the first stays"),
        pytest.param("a b", "c", "c a b", id="a new one goes first"),
        pytest.param("a b", "b", "a b", id="one that was before stays before"),
        pytest.param("a b c", "c a", "b c a", id="the override's order"),
        pytest.param("a b", "b c", "a b c", id="a new one after a known one"),
        pytest.param("c b c", "b", "c c b", id="repeated in the base: counts where it stands first"),
        pytest.param("a=1", "a", "a=1", id="a request is kept"),
        pytest.param("a=1", "a=2", "a=2", id="a request is replaced"),
        pytest.param("a=1 a=2", "a=3", "a=3 a=2", id="only the first of a name is replaced"),
    ],
)
def test_claims(base: str, override: str, merged: str) -> None:
    result = merge_resources({"claims": claims(base)}, {"claims": claims(override)})
    assert result == {"claims": claims(merged)}


def claims(text: str) -> list[dict[str, str]]:
    """Return the claims `a=r b` as Kubernetes writes them: a with the request r, and b."""
    return [
        {"name": name, **({"request": request} if request else {})}
        for name, _, request in (item.partition("=") for item in text.split())
    ]


def test_a_claim_is_written_as_its_type_has_it() -> None:
    assert merge_resources({"claims": [{"request": ""}]}, {}) == {"claims": [{"name": ""}]}


def test_inputs_stay_as_they_were() -> None:
    base = {"limits": {"cpu": 1}, "claims": [{"name": "a"}, {"name": "b"}]}
    override = {"limits": {"cpu": 2000}, "claims": [{"name": "b", "request": "r"}, {"name": "c"}]}
    before = deepcopy((base, override))
    merge_resources(base, override)
    assert (base, override) == before


def test_an_invalid_quantity_is_an_error() -> None:
    with pytest.raises(QuantityError, match="did you mean 1G or 1Gi"):
        merge_resources({}, {"limits": {"memory": "1GB"}})
