"""Messages for invalid names: the reason, and a valid example.

Reads the text and the allowed characters; returns parts of sentences. `names` decides whether a name is valid; this
module is imported only for an invalid one.
"""

from __future__ import annotations

import re
from typing import Final

from trainc.kubernetes.violations import listed, shown

LABEL: Final = "a-z0-9-"
"""The characters of a DNS label."""
SUBDOMAIN: Final = "a-z0-9.-"
QUALIFIED: Final = "A-Za-z0-9._-"
"""The characters of a label value, and of a label key without its prefix."""

_LONGEST_EXAMPLE: Final = 40
"""A longer name may leave no room for the suffixes of the names of Jobs and pods."""
_MANY: Final = 4
"""The maximum number of invalid characters to list."""


def fault(text: str, characters: str, most: int) -> str:
    """Return the reason why a name is invalid, to follow `which`: `contains "_"`."""
    if invalid := _invalid_characters(text, characters):
        return f"contains {listed(invalid)}"
    if len(text) > most:
        return f"has {len(text)} characters, but must have at most {most}"
    if not text:
        return "is empty"
    for verb, end in (("starts", text[0]), ("ends", text[-1])):
        if not end.isalnum():
            return f"{verb} with {shown(end)}"
    return "has a dot next to another dot or a dash"


def fault_of_key(key: str) -> str:
    """Return the reason why the key of a label or annotation is invalid, to follow `which`."""
    domain, slash, name = key.rpartition("/")
    if "/" in domain:
        return 'contains more than one "/"'
    if slash and not (domain and name):
        return f'has no {"prefix before" if name else "name after"} its "/"'
    if slash and not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", domain):
        return f"has the prefix {shown(domain)}, which is not a valid domain"
    return fault(name, QUALIFIED, 63)


def example(text: str, *, letter_first: bool = False) -> str:
    """Return a clause with a similar name that is valid for most objects; empty if there is none."""
    result = re.sub("[^a-z0-9]+", "-", text.lower())
    if letter_first and result[:1].isdigit():
        result = f"job-{result}"
    result = result.strip("-")
    return f"; for example {result}" if result and text.isascii() and len(result) <= _LONGEST_EXAMPLE else ""


def _invalid_characters(text: str, characters: str) -> list[str]:
    """Return the characters that are not allowed in a name, as shown in a message."""
    found = dict.fromkeys(re.findall(f"[^{characters}]", text))
    words = dict.fromkeys("uppercase letters" if "A" <= c <= "Z" else "spaces" if c == " " else shown(c) for c in found)
    return list(words)[:_MANY]
