"""Cheaper garbage collections, which take a sixth of the time of tests that make many small objects."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Leave the collected tests out of all later garbage collections, and make these rarer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
