"""The summary of a run: the number of compared cases by the cluster's answer."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

TALLY = "tally"
"""The report property with a test's tally; pytest's workers transmit it."""


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the sum of the tallies of a test's parts."""
    tallies: dict[str, Counter[str]] = {}
    for report in terminalreporter.getreports("passed"):
        for name, tally in report.user_properties:
            if name == TALLY:
                tallies.setdefault(report.location[2].partition("[")[0], Counter()).update(tally)
    for test, tally in sorted(tallies.items()):
        terminalreporter.write_line(f"{test}: {tally.total()} compared")
        for result, count in tally.most_common():
            terminalreporter.write_line(f"{count:>8}  {result}")


@pytest.fixture
def tallied(record_property: Any) -> Any:
    """Return a function that records a tally for the summary."""
    return lambda tally: record_property(TALLY, dict(tally))
