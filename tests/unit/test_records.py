"""trainc's named tuples compared with those of typing."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

from trainc.base.records import NamedTuple


class Ours(NamedTuple):
    """A value."""

    first: int
    second: str = "b"
    third: tuple[int, ...] = ()

    @property
    def both(self) -> str:
        """The first two."""
        return f"{self.first}{self.second}"


class Theirs(typing.NamedTuple):
    """A value."""

    first: int
    second: str = "b"
    third: tuple[int, ...] = ()

    @property
    def both(self) -> str:
        """The first two."""
        return f"{self.first}{self.second}"


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda kind: kind(1), id="defaults"),
        pytest.param(lambda kind: kind(1, "x", (2,)), id="in order"),
        pytest.param(lambda kind: kind(third=(3,), first=1), id="by name"),
        pytest.param(lambda kind: kind(1)._replace(second="y"), id="replaced"),
        pytest.param(lambda kind: kind(1)._asdict(), id="as a dict"),
        pytest.param(lambda kind: (kind._fields, kind.__match_args__, kind.__doc__), id="the class"),
        pytest.param(lambda kind: (kind(1).first, kind(1).both, kind(1)[1], len(kind(1))), id="read"),
        pytest.param(lambda kind: kind(1) == kind(1) != kind(2), id="equal"),
        pytest.param(lambda kind: (hash(kind(1)), kind(1) < kind(2)), id="hashed and ordered"),
        pytest.param(lambda kind: repr(kind(1)).partition("(")[2], id="shown"),
        pytest.param(lambda kind: copy.deepcopy(kind(1)), id="copied"),
        pytest.param(lambda kind: pickle.loads(pickle.dumps(kind(1))), id="pickled"),
        pytest.param(lambda kind: hasattr(kind(1), "__dict__"), id="slots"),
    ],
)
def test_the_same(use: Callable[[Any], object]) -> None:
    assert use(Ours) == use(Theirs)


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda kind: kind(), id="a field is missing"),
        pytest.param(lambda kind: kind(1, "x", (), 4), id="one too many"),
        pytest.param(lambda kind: kind(1, fourth=4), id="none of that name"),
    ],
)
@pytest.mark.parametrize("kind", [Ours, Theirs])
def test_refused(use: Callable[[Any], object], kind: type) -> None:
    with pytest.raises(TypeError):
        use(kind)


@pytest.mark.parametrize("kind", [Ours, Theirs])
def test_nothing_is_changed(kind: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        kind(1)._replace(fourth=4)
    with pytest.raises(AttributeError):
        kind(1).first = 2
