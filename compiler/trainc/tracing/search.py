"""Search: the fields of a group that an output field depends on.

Reads    a group of input fields, and the outcome of experiments with some of them.
Returns  the fields that make a difference. A field on which an output depends alone is found by its number: one run for
         each bit. Otherwise they are found by bisection, first by shape (all items of a list together), then within a
         shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.records import NamedTuple
from trainc.tracing.correspondence import GONE
from trainc.tracing.runs import Selection

if TYPE_CHECKING:
    from collections.abc import Callable

FEWEST: Final = 5
"""The size of a group up to which one run for each field takes fewer runs than bisection."""
FEW: Final = 8
"""The size of a group below which bisection takes fewer runs than two for each bit."""


class Found(NamedTuple):
    """A field of a group that makes a difference, and the output value with it altered."""

    number: int
    """Its index in the group."""
    outcome: Any


class Search(NamedTuple):
    """The search for one output field."""

    outcome: Callable[[Selection], Any]
    """Return the output field's value with the selected fields altered."""
    value: Any
    """The output field's value."""

    def all(self, everything: Selection, *, whole: bool) -> list[Found]:
        """Return the fields of a group that make a difference; `whole` is whether they contain other fields."""
        if not whole and everything.high <= FEWEST:
            each = (Selection(everything.group, index, index + 1) for index in range(everything.high))
            found = [Found(one.low, self.outcome(one)) for one in each]
            return [one for one in found if one.outcome != self.value]
        sole = None if whole or everything.high < FEW else self.sole(everything)
        if sole is not None:
            return [sole]
        return [one for outer in (0, *everything.without) for one in self._inside(everything, outer)]

    def _inside(self, selection: Selection, outer: int) -> list[Found]:
        """Return the fields inside a shape that make a difference."""
        low, high = selection.group.inner[outer]
        return self._below(selection._replace(low=low, high=high)) if low < high else []

    def _below(self, selection: Selection) -> list[Found]:
        """Return the fields of a selection, and those inside them, that make a difference."""
        outcome = self.outcome(selection)
        if outcome == self.value:
            return []
        low, high = selection.low, selection.high
        if not selection.alike:
            return [one for half in selection.halves() for one in self._below(half)]
        found = [Found(low, outcome)] if high - low == 1 else self._of_one_shape(selection)
        return found + self._inside(selection, selection.group.shape_of[low])

    def _of_one_shape(self, selection: Selection) -> list[Found]:
        """Return the fields of a selection that make a difference; all fields have one shape."""
        outcome = self.outcome(selection)
        if outcome == self.value:
            return []
        if selection.high - selection.low == 1:
            return [Found(selection.low, outcome)]
        sole = self.sole(selection)
        if sole is not None:
            return [sole]
        return [one for half in selection.halves() for one in self._of_one_shape(half)]

    def sole(self, selection: Selection) -> Found | None:
        """Return the field of a selection on which the output depends alone; None if there is not exactly one.

        Its number has a bit if the output differs with the fields that have this bit, and not with the others.
        """
        group, low, high, without, *_ = selection
        number, outcome = 0, GONE
        for bit in range((high - low - 1).bit_length()):
            outcomes = [self.outcome(Selection(group, low, high, without, bit, given)) for given in (0, 1)]
            differ = [given for given in (0, 1) if outcomes[given] != self.value]
            if len(differ) != 1:
                return None
            number |= differ[0] << bit
            outcome = outcomes[differ[0]] if outcome is GONE else outcome
        index = low + number
        if outcome is GONE:
            outcome = self.outcome(Selection(group, index, index + 1, without))
        return Found(index, outcome)
