"""Secret names: of variables, fields and command flags.

Reads a name; returns whether reports mask its value. A name is split into words, however they are joined (HF_TOKEN,
apiKey, --db.password). When in doubt, the value is masked: a report is readable without it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""kubectl's copy of the whole manifest, including secrets."""
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST: Final = 256
_PARTS: Final = ("apikey", "credential", "passphrase", "passw", "secret")
"""Parts of words that mark a secret on their own: dbpassword, clientsecrets."""
_ENDS: Final = ("accesskey", "privatekey", "signingkey", "token", "tokens")
"""Ends of words that mark a secret: authtoken, but not tokenizer."""
_ALONE: Final = frozenset({"auth", "authorization", "bearer", "creds", "dockerconfigjson", "jwt"})
_LAST: Final = frozenset({"pass", "passwd", "pat"})
"""Words that mark a secret only at the end of a name."""
_KEYS: Final = frozenset((
    "access", "account", "anthropic", "api", "cohere", "deploy", "encryption", "gemini", "groq", "hf", "hmac",
    "huggingface", "kaggle", "master", "mistral", "ngc", "openai", "private", "shared", "signing", "ssh", "wandb",
))  # fmt: skip
"""Words that mark a secret if `key` follows."""
_VARIABLE: Final = re.compile(r"[A-Z0-9]+(?:_[A-Z0-9]+)*_KEY")
"""The name of a variable with a key, which is probably that of a service: KAGGLE_KEY."""
_KEYS_OF_DATA: Final = frozenset((
    "annotation", "attention", "batch", "bucket", "cache", "column", "composite", "config", "data", "dataset", "dict",
    "event", "feature", "field", "foreign", "group", "hash", "head", "image", "index", "input", "item", "join", "kv",
    "label", "lookup", "map", "metric", "model", "node", "object", "order", "output", "partition", "primary", "prompt",
    "public", "query", "record", "registry", "response", "route", "routing", "row", "sample", "search", "shard", "sort",
    "state", "table", "taint", "target", "text", "topology", "unique", "value",
))  # fmt: skip
"""Words before `key` in the name of a field or column: SORT_KEY."""
_ABOUT: Final = (
    "algorithm", "class", "count", "dir", "directory", "enabled", "endpoint", "expiration", "expiry", "file", "format",
    "host", "kind", "length", "limit", "method", "mode", "mount", "name", "names", "parallelism", "path", "policy",
    "port", "provider", "ref", "refs", "seconds", "selector", "size", "timeout", "ttl", "type", "uri", "url", "version",
)  # fmt: skip
"""Words that end the name of a secret's attribute, which is not itself a secret: secretName, TOKEN_FILE."""
_CODE: Final = ("askpass", "cmd", "command", "helper", "hook", "program", "script")
"""Ends of names whose values are run as code, which no mask may hide: --password-command, GIT_ASKPASS."""
_FUNCTION: Final = "BASH_FUNC_"
"""The start of the name of a variable that bash runs as a function."""
_NO_WORD: Final = " _-.%()[]"
"""Characters after the last word of a name."""
_KINDS: Final = ("bos", "cls", "decoder", "eos", "mask", "pad", "padding", "per", "sep", "special", "unk", "vocab")
_COUNTS: Final = (
    "batch", "budget", "count", "draft", "generated", "input", "max", "min", "new", "num", "number", "output", "prompt",
    "step", "total", "train",
)  # fmt: skip
"""Words that mark a token of a language model instead of a secret: eos_token, max_tokens."""


_HINT: Final = re.compile("|".join({*_PARTS, *_ENDS, *_ALONE, *_LAST, "key", "pwd"}), re.IGNORECASE)
"""A name without one of these is not split into words."""


def is_secret(name: str) -> bool:
    """Whether a value with this name is a secret.

    >>> is_secret("HF_TOKEN"), is_secret("secretName"), is_secret("TOKENIZERS_PARALLELISM"), is_secret("max_tokens")
    (True, False, False, False)
    """
    return bool(_HINT.search(name)) and not is_code(name) and _is_secret(name[:_LONGEST])


def is_code(name: str) -> bool:
    """Whether a value with this name is run as code.

    >>> is_code("--password-command"), is_code("BASH_FUNC_token%%"), is_code("COMMAND_TOKEN")
    (True, True, False)
    """
    return name.startswith(_FUNCTION) or name.rstrip(_NO_WORD).lower().endswith(_CODE)


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _ABOUT:
        return False
    if words[-1] in _LAST or (words[-1] == "pwd" and len(words) > 1):  # PWD on its own is the working directory
        return True
    if _VARIABLE.fullmatch(name) and words[-2:-1] and words[-2] not in _KEYS_OF_DATA:
        return True
    return any(_is_secret_word(word, words) for word in words) or any(
        second in {"key", "keys"} and first in _KEYS for first, second in pairwise(words)
    )


def _is_secret_word(word: str, name: list[str]) -> bool:
    if word in ("token", "tokens"):
        return not any(kind in name for kind in (_KINDS if word == "token" else _KINDS + _COUNTS))
    return word in _ALONE or word.endswith(_ENDS) or any(part in word for part in _PARTS)
