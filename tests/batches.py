"""Tests of many cases: a batch of small cases in one test, and a part of the cases of a sweep or a property.

pytest and xdist need some milliseconds for each test, and collect all tests in each process.

A failure names its case. `CASES=smp/doc pytest tests/conformance` runs only the cases with this text in their names,
each in a test of its own.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from hypothesis import seed, settings

_SIZE = 50
_CHOSEN = os.environ.get("CASES", "")
_OTHERS = "OTHER_EXAMPLES" in os.environ


def in_batches(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Any]:
    """Run a test for each case as `pytest.mark.parametrize(names, cases)` does, but for a batch of cases in one test.

    A case is a `pytest.param` with an id. One that is expected to fail has a test of its own. Each case has its own
    `tmp_path`; the other fixtures are those of the batch.
    """
    arguments = names.split(", ")
    batches = [pytest.param(batch, id=_id(batch), marks=batch[0].marks) for batch in _batches(cases)]

    def decorate(test: Callable[..., None]) -> Any:
        def run(batch: Sequence[Any], **fixtures: Any) -> None:
            failures: list[BaseException] = []
            for index, case in enumerate(batch):
                own = dict(zip(arguments, case.values, strict=True))
                if "tmp_path" in fixtures:
                    own["tmp_path"] = fixtures["tmp_path"] / str(index)
                    own["tmp_path"].mkdir()
                try:
                    test(**{**fixtures, **own})
                except (Exception, pytest.fail.Exception) as failure:
                    if isinstance(failure, AssertionError):
                        failure.args = (f"{case.id}: {failure}",)  # pytest's summary has no notes
                    failure.add_note(f"in the case {case.id}")
                    failures.append(failure)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(batch)} cases fail", failures)

        parameters = inspect.signature(test).parameters
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        fixtures = [parameter for name, parameter in parameters.items() if name not in arguments]
        batch = inspect.Parameter("batch", inspect.Parameter.KEYWORD_ONLY)
        vars(run)["__signature__"] = inspect.Signature([*fixtures, batch])
        return pytest.mark.parametrize("batch", batches)(run)

    return decorate


def _batches(cases: Iterable[Any]) -> list[list[Any]]:
    """Return batches of cases with the same marks; a case that must fail is alone."""
    chosen = [case for case in cases if _CHOSEN in case.id]
    marks = [{mark.name for mark in case.marks} for case in chosen]
    groups = [
        [case for case, of_case in zip(chosen, marks, strict=True) if of_case == of_group]
        for of_group in (set(), {"slow"})
    ]
    size = 1 if _CHOSEN else _SIZE
    batches = [group[start : start + size] for group in groups for start in range(0, len(group), size)]
    return batches + [[case] for case, of_case in zip(chosen, marks, strict=True) if "xfail" in of_case]


def _id(batch: Sequence[Any]) -> str:
    first: str = batch[0].id
    return first if len(batch) == 1 else f"{first} and {len(batch) - 1} more"


def one_in_four(cases: Iterable[Any]) -> list[Any]:
    """Return the cases as parameters: each fourth one for `make test`, and the others for `make test-slow`."""
    return one_in(4, cases)


def one_in(number: int, cases: Iterable[Any]) -> list[Any]:
    """Return the cases as `one_in_four` does, with another number."""
    params = [case if isinstance(case, ParameterSet) else pytest.param(case, id=str(case)) for case in cases]
    return [
        pytest.param(*param.values, id=param.id, marks=[*param.marks, *([pytest.mark.slow] if index % number else [])])
        for index, param in enumerate(params)
    ]


def examples(most: int, **others: Any) -> Callable[[Any], Any]:
    """Check a property with a quarter of the examples in `make test`, and with the others in `make test-slow`."""
    check = settings(max_examples=len(rounds(most)), deadline=None, **others)
    return lambda test: pytest.mark.examples(drawn_apart(check(test)))


def drawn_apart(test: Any) -> Any:
    """Draw other examples in `make test-slow` than in `make test`, also for a property that is not random."""
    return seed(1)(test) if _OTHERS else test


def rounds(most: int) -> range:
    """Return the rounds of a test marked `examples`: a quarter in `make test`, and the others in `make test-slow`."""
    quarter = max(most // 4, 1)
    return range(most) if "EXAMPLES" in os.environ else range(quarter, most) if _OTHERS else range(quarter)
