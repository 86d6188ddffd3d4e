"""Whether a container's image is an image reference: the common forms without the grammar, which takes time to compile.

Reads    a container's image.
Returns  whether the kubelet can parse it. `image_grammar` decides about all but the plainest images.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_SEPARATORS: Final = str.maketrans("/._", "---")
_LONGEST_TAG: Final = 128


@lru_cache(maxsize=1024)
def is_reference(image: str) -> bool:
    """Return whether the kubelet accepts an image.

    >>> [is_reference(image) for image in ("train", "Acme.io/train:V1", "acme/Train", "train:1 ", "https://a.io/b")]
    [True, True, False, False, False]
    """
    if _is_plain(image):
        return True
    from trainc.kubernetes import image_grammar

    return image_grammar.is_reference(image)


def _is_plain(image: str) -> bool:
    """Return whether an image is a name of words with single separators, with or without a tag; not an image ID.

    >>> _is_plain("nvcr.io/nvidia/pytorch:25.09-py3"), _is_plain("a:5000/b"), _is_plain("a__b")
    (True, False, False)
    """
    name, colon, tag = image.partition(":")
    if colon:
        plain_tag = tag.translate(_SEPARATORS).replace("-", "")
        if not plain_tag.isalnum() or "/" in tag or tag[0] in ".-" or len(tag) > _LONGEST_TAG:
            return False
    words = name.translate(_SEPARATORS).split("-")
    return image.isascii() and all(map(str.isalnum, words)) and name == name.lower() and (bool(colon) or len(words) > 1)
