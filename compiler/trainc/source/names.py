"""Which names stand for a secret: of variables, of fields, of flags of a command.

Reads a name; returns whether its value is hidden in reports. A name is taken apart into words, whatever joins them
(HF_TOKEN, apiKey, --db.password). When in doubt the value is hidden: a report can be read without it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""kubectl's copy of the whole manifest, secrets and all."""
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST: Final = 256
_WITHIN: Final = ("apikey", "credential", "passphrase", "passw", "secret")
"""A word with one of these in it says that its value is a secret, alone: dbpassword, clientsecrets."""
_ENDS: Final = ("accesskey", "privatekey", "signingkey", "token", "tokens")
"""So does a word that ends like this: authtoken. A tokenizer does not."""
_ALONE: Final = frozenset({"auth", "authorization", "bearer", "creds", "dockerconfigjson", "jwt"})
_LAST: Final = frozenset({"pass", "passwd", "pat"})
"""These only as the last word of a name."""
_KEYS: Final = frozenset(
    {"access", "account", "api", "deploy", "encryption", "hmac", "master", "private", "shared", "signing", "ssh"}
)
"""What makes a secret of the word `key` behind it."""
_ABOUT: Final = (
    "algorithm", "class", "count", "dir", "directory", "enabled", "endpoint", "expiration", "expiry", "file", "format",
    "host", "kind", "length", "limit", "method", "mode", "mount", "name", "names", "parallelism", "path", "policy",
    "port", "provider", "ref", "refs", "seconds", "selector", "size", "timeout", "ttl", "type", "uri", "url", "version",
)  # fmt: skip
"""A name that ends with one of these tells something about a secret, not the secret: secretName, TOKEN_FILE."""
_KINDS: Final = ("bos", "cls", "decoder", "eos", "mask", "pad", "padding", "per", "sep", "special", "unk", "vocab")
_COUNTS: Final = (
    "batch", "budget", "count", "draft", "generated", "input", "max", "min", "new", "num", "number", "output", "prompt",
    "step", "total", "train",
)  # fmt: skip
"""Beside one of these a token is a piece of text, as language models have them: eos_token, and max_tokens."""


_HINT: Final = re.compile("|".join({*_WITHIN, *_ENDS, *_ALONE, *_LAST, "key", "pwd"}), re.IGNORECASE)
"""Without one of these in it, a name need not be taken apart."""


def is_secret(name: str) -> bool:
    """Whether a value of that name is a secret.

    >>> is_secret("HF_TOKEN"), is_secret("secretName"), is_secret("TOKENIZERS_PARALLELISM"), is_secret("max_tokens")
    (True, False, False, False)
    """
    return bool(_HINT.search(name)) and _is_secret(name[:_LONGEST])


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _ABOUT:
        return False
    if words[-1] in _LAST or (words[-1] == "pwd" and len(words) > 1):  # PWD alone is the working directory
        return True
    return any(_is_secret_word(word, words) for word in words) or any(
        second in {"key", "keys"} and first in _KEYS for first, second in pairwise(words)
    )


def _is_secret_word(word: str, name: list[str]) -> bool:
    if word in ("token", "tokens"):
        return not any(kind in name for kind in (_KINDS if word == "token" else _KINDS + _COUNTS))
    return word in _ALONE or word.endswith(_ENDS) or any(part in word for part in _WITHIN)
