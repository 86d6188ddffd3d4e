"""The form of an image reference, as the kubelet parses it: `[registry/]repository[:tag][@digest]`.

Reads    a container's image.
Returns  whether it is an image reference. For any other text, the kubelet reports InvalidImageName; `explain`
         returns the first fault, from left to right in each part: any character that no part allows, then the digest,
         the registry, the repository and the tag.
Source   distribution/reference v0.6.0, ParseNormalizedNamed, and opencontainers/go-digest v1.0.0 with SHA-2; Kubernetes
         1.36's kubelet calls them before each pull. Patterns match ASCII only, and the whole text. The limit of 255
         characters for a repository is left to the registry: it is no rule of the form.
"""

from __future__ import annotations

import re
from typing import Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.violations import shown

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
_SCHEME: Final = re.compile("[A-Za-z][A-Za-z0-9+.-]*://")
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9._/:@\[\]-]")
_CURLY: Final = "\u2018\u2019\u201c\u201d"
_STRAIGHT: Final = "\"'"
_SPACES: Final = re.compile(r"\s+")
_CAPITALS: Final = re.compile("[A-Z]+")
_NO_DIGIT: Final = re.compile("[^0-9a-f]")
_ODD_IN_REGISTRY: Final = re.compile(r"[^A-Za-z0-9.-]|^[.-]|(?<=\.)[.-]|-(?=\.)|[.-]$")
_ODD_IN_COMPONENT: Final = re.compile("[^a-z0-9._-]+|^[._-]+|[._-]+$|(?:[._-]{2,})")
_SEPARATORS: Final = re.compile("[._]|__|-+")
_PLACEHOLDER: Final = re.compile(r"(?<![^/])[A-Z0-9]*_[A-Z0-9_]*(?![^/])")
"""A path component such as IMAGE_NAME, which is to be replaced."""
_ODD_IN_TAG: Final = re.compile("^[.-]|[^A-Za-z0-9_.-]")
_REPOSITORY_RULE: Final = "use lower-case letters and digits, separated by `.`, `_`, `__` or dashes"
_REGISTRY_RULE: Final = "use letters, digits, dots and dashes, and start and end with a letter or a digit"
_TAG_RULE: Final = "use letters, digits, `_`, `.` and `-`, and start with a letter, a digit or `_`"


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


class ImageFault(NamedTuple):
    """The reason why an image is no image reference."""

    message: str
    help: str
    begin: int
    """The index of the first character at fault; the length of the image if something is missing at its end."""
    end: int
    meant: str = ""
    """The image that is meant; empty if it is not known."""


def explain(image: str) -> ImageFault:
    """Return the fault of an image that is no image reference.

    >>> explain("acme/train:")[1:]
    ('add a tag, or remove the colon', 10, 11, '')
    >>> explain("acme/Train:1").meant
    'acme/train:1'
    """
    return _character_fault(image) or _part_fault(image) or _image_fault(image)


def _character_fault(image: str) -> ImageFault | None:
    """Return the first part that cannot be in any image reference."""
    if scheme := _SCHEME.match(image):
        rest = image[scheme.end() :]
        message = f"image {shown(image)} must not start with {scheme[0]}"
        return _fault_at(message, f"remove {scheme[0]}", *scheme.span(), rest)
    found = _FOREIGN.search(image)
    if found is None:
        return None
    character, begin = found[0], found.start()
    if spaces := _SPACES.match(image, begin):
        message = f"image {shown(image)} must not contain a space"
        return _fault_at(message, "remove the space", *spaces.span(), image.strip())
    if character in _CURLY + _STRAIGHT:
        return _quote(image, character, begin)
    named = shown(character) if character.isprintable() else f"U+{ord(character):04X}"
    return _fault_at(f"image {shown(image)} must not contain {named}", "remove the character", begin, begin + 1)


def _quote(image: str, character: str, begin: int) -> ImageFault:
    """Return the fault of a quotation mark, which YAML reads as part of the image."""
    name = "curly quote" if character in _CURLY else "quote"
    message = f"image {shown(image)} must not contain the {name} {character}"
    return _fault_at(message, "remove the quotes", begin, begin + 1, image.strip(_CURLY + _STRAIGHT))


def _part_fault(image: str) -> ImageFault | None:
    """Return the fault of the digest, the registry, the repository or the tag."""
    name, at, digest = image.partition("@")
    if at and (found := _digest_fault(image, digest, len(name) + 1)):
        return found
    first, start, _ = split(name)
    registry = name[: max(start - 1, 0)] if first != HUB or start else ""
    rest = name[start:]
    repository, colon, tag = rest.partition(":")
    if start and not _is_registry_or_component(registry):
        return _registry_fault(image, registry)
    return _repository_fault(image, repository, start) or (
        _tag_fault(image, tag, start + len(repository) + 1) if colon else None
    )


def _is_registry_or_component(registry: str) -> bool:
    """Return whether a registry has the form of one, or of a repository's component, which the kubelet also accepts."""
    return bool(re.fullmatch(REGISTRY, registry) or re.fullmatch(COMPONENT, registry))


def _digest_fault(image: str, digest: str, start: int) -> ImageFault | None:
    algorithm, colon, digits = digest.partition(":")
    known, end = DIGITS.get(algorithm), start + len(digest)
    if not colon or not algorithm or not digits:
        help = "use `@sha256:` and 64 hexadecimal digits"
        return _fault_at(f"the digest of image {shown(image)} is incomplete", help, max(start - 1, 0), end)
    if known is None:
        message = f"the digest of image {shown(image)} must be sha256, sha384 or sha512, not {shown(algorithm)}"
        return _fault_at(message, "use a sha256 digest", start, start + len(algorithm))
    first = end - len(digits)
    if odd := _NO_DIGIT.search(digits):
        message = f"the digest of image {shown(image)} must be lower-case hexadecimal digits"
        return _fault_at(message, "copy the digest again", first + odd.start(), first + odd.end())
    if len(digits) != known:
        message = f"the {algorithm} digest of image {shown(image)} must have {known} digits, not {len(digits)}"
        return _fault_at(message, "copy the digest again", first, end)
    return None


def _registry_fault(image: str, registry: str) -> ImageFault:
    """Return the fault of the part before the first slash, if it has a dot, a colon or a capital letter."""
    host, colon, port = registry.partition(":") if not registry.startswith("[") else (registry, "", "")
    if not host:
        return _fault_at(f"image {shown(image)} starts with a colon", "name the registry before the port", 0, 1)
    odd = _ODD_IN_REGISTRY.search(host)
    if colon and odd is None:
        begin = len(host) + 1
        message = f"the registry's port in image {shown(image)} must be a number, not {shown(port)}"
        return _fault_at(message, "use a port such as 5000", begin - (not port), begin + len(port))
    begin, end = odd.span() if odd else (0, len(registry))
    message = f"the registry of image {shown(image)} must be a host name"
    capitals = re.search("[A-Z]", host)
    help = f"replace {host} with the registry's host name" if capitals else _REGISTRY_RULE
    return _fault_at(message, help, begin, end)


def _repository_fault(image: str, repository: str, start: int) -> ImageFault | None:
    """Return the fault of the repository, which starts at `start`."""
    of_image = f"the repository of image {shown(image)}"
    if not repository:
        return _fault_at(f"image {shown(image)} has no repository", "set the image's name", start, start + 1)
    if capitals := _CAPITALS.search(repository):
        end, help = start + len(repository), "use lower-case letters"
        meant = image[:start] + repository.lower() + image[end:]
        first, last = start + capitals.start(), start + capitals.end()
        if placeholder := _PLACEHOLDER.search(repository):
            help, meant = f"replace {placeholder[0]} with the image's name", ""
        return _fault_at(f"{of_image} must be lower case", help, first, last, meant)
    for component in re.finditer("[^/]*", repository):
        begin, end = start + component.start(), start + component.end()
        if not component[0] and (begin == start or image[begin - 1] == "/"):
            message = f"image {shown(image)} has an empty path component"
            return _fault_at(message, "remove the slash", max(begin - 1, 0), max(begin, 1))
        for odd in _ODD_IN_COMPONENT.finditer(component[0]):
            if odd.start() == 0 or odd.end() == len(component[0]) or not _SEPARATORS.fullmatch(odd[0]):
                message = f"{of_image} must not contain {shown(odd[0])} here"
                return _fault_at(message, _REPOSITORY_RULE, begin + odd.start(), begin + odd.end())
    return None


def _tag_fault(image: str, tag: str, start: int) -> ImageFault | None:
    """Return the fault of the tag, which starts at `start` after its colon."""
    if not tag:
        return _fault_at(
            f"the tag of image {shown(image)} is empty", "add a tag, or remove the colon", start - 1, start
        )
    if tag[0] == ":":
        meant = image[:start] + image[start:].lstrip(":")
        message = f"image {shown(image)} has two colons before its tag"
        return _fault_at(message, "remove one of the colons", start, start + 1, meant)
    if odd := _ODD_IN_TAG.search(tag):
        what = f"start with {shown(odd[0])}" if odd.start() == 0 else f"contain {shown(odd[0])}"
        return _fault_at(
            f"the tag of image {shown(image)} must not {what}", _TAG_RULE, start + odd.start(), start + odd.end()
        )
    if len(tag) > LONGEST_TAG:
        message = f"the tag of image {shown(image)} has {len(tag)} characters, more than the limit of {LONGEST_TAG}"
        return _fault_at(message, "shorten it", start, start + len(tag))
    return None


def _image_fault(image: str) -> ImageFault:
    """Return the fault of the whole image."""
    if IMAGE_ID.fullmatch(image):
        message = f"image {shown(image)} is an image ID, which cannot be pulled"
        return _fault_at(message, "use a repository and a digest: `repository@sha256:...`", 0, len(image))
    return _fault_at(f"{shown(image)} is not an image reference", "use `registry/repository:tag`", 0, len(image))


def _fault_at(message: str, help: str, begin: int, end: int, meant: str = "") -> ImageFault:
    """Return a fault; `meant` is ignored if it is no image reference either."""
    return ImageFault(message, help, begin, end, meant if is_reference(meant) else "")
