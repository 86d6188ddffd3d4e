"""The form of an image reference, as the kubelet parses it: `[registry/]repository[:tag][@digest]`.

Reads    a container's image.
Returns  whether it is an image reference. For any other text, the kubelet reports InvalidImageName.
Source   distribution/reference v0.6.0, ParseNormalizedNamed, and opencontainers/go-digest v1.0.0 with SHA-2; Kubernetes
         1.36's kubelet calls them before each pull. Patterns match ASCII only, and the whole text. The limit of 255
         characters for a repository is left to the registry: it is no rule of the form.
"""

from __future__ import annotations

import re
from typing import Final

from trainc.base.records import NamedTuple

COMPONENT: Final = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REPOSITORY: Final = rf"{COMPONENT}(?:/{COMPONENT})*"
_LABEL: Final = "(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)"
REGISTRY: Final = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_TAG: Final = "[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}"
_DIGEST: Final = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE: Final = re.compile(rf"(?:(?:{REGISTRY})/)?{_REPOSITORY}(?::{_TAG})?(?:@({_DIGEST}))?")
IMAGE_ID: Final = re.compile("[a-f0-9]{64}")
DIGITS: Final = {"sha256": 64, "sha384": 96, "sha512": 128}
"""The digest algorithms, and the number of hexadecimal digits of each."""
LONGEST_TAG: Final = 128
HUB: Final = "docker.io"
"""The registry of a name without one."""
OLD_HUB: Final = "index.docker.io"
OFFICIAL: Final = "library/"
"""The prefix of the hub's repositories without an owner."""


class Split(NamedTuple):
    """An image, split at its registry."""

    registry: str
    """The registry, also if the image does not name it."""
    start: int
    """The index in the image at which the rest begins."""
    rest: str
    """The repository, tag and digest."""


def is_reference(image: str) -> bool:
    """Return whether the kubelet accepts an image."""
    if IMAGE_ID.fullmatch(image):
        return False
    registry, _, rest = split(image)
    if (name := rest.partition(":")[0]) != name.lower():
        return False
    found = _REFERENCE.fullmatch(f"{registry}/{rest}")
    return found is not None and is_digest(found[1] or "")


def is_digest(digest: str) -> bool:
    """Return whether a digest that has the general form names a known algorithm and has its digits; or is missing."""
    algorithm, _, digits = digest.partition(":")
    return not digest or (DIGITS.get(algorithm) == len(digits) and digits == digits.lower())


def split(image: str) -> Split:
    """Return an image's registry and the rest, completed for the hub.

    The first component is a registry if it has a dot, a colon or a capital letter, or is localhost.
    """
    first, slash, after = image.partition("/")
    if not slash:
        return Split(HUB, 0, OFFICIAL + image)
    if first in (HUB, OLD_HUB):
        return Split(HUB, len(first) + 1, after if "/" in after else OFFICIAL + after)
    if first == "localhost" or "." in first or ":" in first or first != first.lower():
        return Split(first, len(first) + 1, after)
    return Split(HUB, 0, image)
