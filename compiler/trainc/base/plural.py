"""Parts of messages: a noun with its number or its article, and the place of an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def plural(count: int, noun: str) -> str:
    """Return the number with the noun in the singular or plural.

    >>> plural(1, "file"), plural(2, "file"), plural(0, "PodGroup")
    ('1 file', '2 files', '0 PodGroups')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def with_article(noun: str) -> str:
    """Return the noun with the indefinite article. The letters of an initialism are spoken one by one.

    >>> [with_article(noun) for noun in ("TrainJob", "MPIJob", "XGBoostJob", "JAXJob")]
    ['a TrainJob', 'an MPIJob', 'an XGBoostJob', 'a JAXJob']
    """
    vowels = "AEFHILMNORSX" if noun[:2].isupper() else "AEIOUaeiou"
    return f"{'an' if noun[:1] in vowels else 'a'} {noun}"


def only_elsewhere(what: str, namespaces: Sequence[str], namespace: str) -> str:
    """Return the message about an object that only other namespaces have.

    >>> print(only_elsewhere('Secret "a"', ["nlp", "cv"], "team"))
    the given paths have Secret "a" in namespace "nlp" (and 1 other namespace), but not in "team"
    """
    others = and_others(len(namespaces) - 1, "other namespace")
    own = f'not in "{namespace}"' if namespace else "the TrainJob has no namespace"
    return f'the given paths have {what} in namespace "{namespaces[0]}"{others}, but {own}'


def and_others(others: int, noun: str = "more TrainJob") -> str:
    """Return the end of a message that applies to several objects; empty if it applies to one.

    >>> and_others(0), and_others(1), and_others(2)
    ('', ' (and 1 more TrainJob)', ' (and 2 more TrainJobs)')
    """
    return f" (and {plural(others, noun)})" if others else ""
