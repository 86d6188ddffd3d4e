"""A number with its noun, for messages."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Return the number with the noun in the singular or plural.

    >>> plural(1, "file"), plural(2, "file"), plural(0, "PodGroup")
    ('1 file', '2 files', '0 PodGroups')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def and_others(others: int, noun: str = "more TrainJob") -> str:
    """Return the end of a message that applies to several objects; empty if it applies to one.

    >>> and_others(0), and_others(1), and_others(2)
    ('', ' (and 1 more TrainJob)', ' (and 2 more TrainJobs)')
    """
    return f" (and {plural(others, noun)})" if others else ""
