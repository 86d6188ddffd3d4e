"""The words for a name that is refused: what about it is wrong, and one that would do.

Reads the text and the characters that may stand in it; returns half sentences. Whether a name is refused is said by
`names`; this is imported when one is.
"""

from __future__ import annotations

import re
from typing import Final

from trainc.kubernetes.structural.hints import listed, shown

LABEL: Final = "a-z0-9-"
"""The characters of a DNS label."""
SUBDOMAIN: Final = "a-z0-9.-"
QUALIFIED: Final = "A-Za-z0-9._-"
"""The characters of a label's value, and of its key without the domain."""

_MANY: Final = 4
"""As many odd characters are shown."""


def fault(text: str, characters: str, most: int) -> str:
    """What is wrong with a name, to follow `which`: `has "_" in it`."""
    if strange := _strange(text, characters):
        return f"has {listed(strange)} in it"
    if len(text) > most:
        return f"has {len(text)} characters, and may have {most}"
    if not text:
        return "is empty"
    for verb, end in (("begins", text[0]), ("ends", text[-1])):
        if not end.isalnum():
            return f"{verb} with {shown(end)}"
    return "has a dot beside a dot or a dash"


def fault_of_key(key: str) -> str:
    """What is wrong with the key of a label or an annotation, to follow `which`."""
    domain, slash, name = key.rpartition("/")
    if "/" in domain:
        return 'has more than one "/" in it'
    if slash and not (domain and name):
        return f'has nothing {"before" if name else "behind"} its "/"'
    if slash and not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", domain):
        return f'has {shown(domain)} before its "/", which is no domain'
    return fault(name, QUALIFIED, 63)


def example(text: str, *, letter_first: bool = False) -> str:
    """A name near the text that would do for most objects, to end a sentence with; empty where there is none."""
    made = re.sub("[^a-z0-9]+", "-", text.lower())
    if letter_first and made[:1].isdigit():
        made = f"job-{made}"
    made = made[:63].strip("-")
    return f"; for example {made}" if made and text.isascii() else ""


def _strange(text: str, characters: str) -> list[str]:
    """The characters that may not be in a name, in words."""
    found = dict.fromkeys(re.findall(f"[^{characters}]", text))
    words = dict.fromkeys(
        "upper-case letters" if "A" <= c <= "Z" else "spaces" if c == " " else shown(c) for c in found
    )
    return list(words)[:_MANY]
