"""The summary of a run: how many cases were compared, by what the cluster says of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

TALLY = "tally"
"""The property of a test's report that holds its tally; pytest's workers send it along."""


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the tallies of all parts of a test, added up."""
    tallies: dict[str, Counter[str]] = {}
    for report in terminalreporter.getreports("passed"):
        for name, tally in report.user_properties:
            if name == TALLY:
                tallies.setdefault(report.location[2].partition("[")[0], Counter()).update(tally)
    for test, tally in sorted(tallies.items()):
        terminalreporter.write_line(f"{test}: {tally.total()} compared")
        for said, count in tally.most_common():
            terminalreporter.write_line(f"{count:>8}  {said}")


@pytest.fixture
def tallied(record_property: Any) -> Any:
    """Record a tally for the summary."""
    return lambda tally: record_property(TALLY, dict(tally))
