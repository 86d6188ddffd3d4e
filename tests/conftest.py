"""Cheaper garbage collections, and the summary of a run: what the skipped tests need, with their number."""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any


def pytest_collection_finish() -> None:
    """Leave the collected tests out of all later garbage collections, and make these rarer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a line for each tool or variable that skipped tests need."""
    needs = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.getreports("skipped"))
    for need, count in sorted(needs.items()):
        terminalreporter.write_line(f"{count} {'tests need' if count > 1 else 'test needs'} {need}")
