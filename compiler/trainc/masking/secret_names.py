"""Names that say that a value is secret, or that it is a program.

Reads    the name of a field, variable or flag, and the other fields of its mapping.
Returns  how its value is masked. A name is split into words, however they are joined (HF_TOKEN, apiKey,
         --db.password). When in doubt, the value is masked: a report is readable without it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Secrecy = Literal["", "field", "variable", "data", "words", "program"]
"""How a value is read: as any text; as a secret, if it is a scalar or a list of scalars; as a secret of any type; as a
value of a Secret, in which `true` and `$(NAME)` are secrets, too; as a command line; as a program."""
SECRET: Final = ("field", "variable", "data")

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
_SUFFIX: Final = re.compile(
    r"\.(?:awk|bash|c|cc|cjs|cpp|csh|cu|fish|go|groovy|jl|js|ksh|lua|mjs|php|pl|ps1|py|r|R|rb|rs|scala|sh|tcl|ts|zsh)\Z"
)
"""The end of the name of a file with a program: get_token.sh."""
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
_Role = Literal["", "field", "variable", "data", "words", "program", "name", "value", "contents"]
_ROLES: Final[dict[str, _Role]] = {
    "name": "name",
    "key": "name",
    "value": "value",
    "valueFrom": "",
    "command": "words",
    "args": "words",
    "data": "contents",
    "stringData": "data",
    LAST_APPLIED: "data",
}
_OPERATIONS: Final = ("add", "replace", "test")
"""The operations of a JSON patch that have a value."""
_SIMILAR: Final = 0.7
"""The similarity of a misspelled `name` or `value`, so that the other field of the pair stays masked."""
_INTERPRETER: Final = re.compile(r"(?:.*/)?(?:\w*sh|busybox|python[\d.]*|perl|ruby|node|lua|php|awk|R|Rscript|julia)")
_PROGRAM_FLAG: Final = re.compile(r"-[A-Za-z]*[cer]|--(?:command|eval|run)")
"""The flags of interpreters before the text of a program."""

_HINT: Final = re.compile("|".join({*_PARTS, *_ENDS, *_ALONE, *_LAST, "key", "pwd"}), re.IGNORECASE)
"""A name without one of these is not split into words."""


def is_secret(name: str) -> bool:
    """Whether a value with this name is a secret.

    >>> is_secret("HF_TOKEN"), is_secret("secretName"), is_secret("TOKENIZERS_PARALLELISM"), is_secret("max_tokens")
    (True, False, False, False)
    """
    return bool(_HINT.search(name)) and not is_program(name) and _is_secret(name[:_LONGEST])


def is_program(name: str) -> bool:
    """Whether a value with this name is a program.

    >>> [is_program(name) for name in ("--password-command", "BASH_FUNC_token%%", "auth.py", "COMMAND_TOKEN")]
    [True, True, True, False]
    """
    return bool(name.startswith(_FUNCTION) or name.rstrip(_NO_WORD).lower().endswith(_CODE) or _SUFFIX.search(name))


def field_secrecy(key: str, fields: Iterable[tuple[str, object]]) -> Secrecy:
    """Return how the value of a field is masked, by its name and the fields of its mapping, which include it."""
    role = role_of(key)
    if role == "value":
        return _value_secrecy(list(fields))
    if role == "contents":
        return "data" if ("kind", "Secret") in fields else ""
    if role == "words" and key == "args":
        command = next((value for name, value in fields if name == "command"), None)
        return "program" if isinstance(command, list) and program_index(command) is not None else "words"
    if role == "name":
        return ""
    return role


def _value_secrecy(fields: list[tuple[str, object]]) -> Secrecy:
    """Return how the value is masked that the other fields name: that of a variable, or of a JSON patch's operation."""
    pointer = next((value for name, value in fields if name == "path"), None)
    if isinstance(pointer, str) and any(name == "op" and value in _OPERATIONS for name, value in fields):
        return _pointer_secrecy(pointer)
    names = [value for name, value in fields if isinstance(value, str) and role_of(name) == "name"]
    return "variable" if any(map(is_secret, names)) else "program" if any(map(is_program, names)) else ""


def _pointer_secrecy(pointer: str) -> Secrecy:
    """Return how the value at a JSON pointer is masked. The name of a variable is unknown, so its value is a secret.

    >>> [_pointer_secrecy(f"/{part}") for part in ("password", "env/0/value", "env/0/name", "args/1")]
    ['field', 'variable', '', 'words']
    """
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    names = [part for part in parts if part != "-" and not part.isdecimal()]
    role = role_of(names[-1]) if names else ""
    if role == "value":
        return "variable"
    return "" if role == "name" or role == "contents" else role  # noqa: PLR1714 - mypy narrows only these


def names_others(key: str) -> bool:
    """Whether the value of a field says what the other fields of its mapping are."""
    return key in ("kind", "op", "path", "command") or role_of(key) == "name"


def program_index(words: Sequence[object]) -> int | None:
    """Return the index of the program text in a command line, as after `sh -c`; None without one.

    >>> program_index(["bash", "-ec", "make"]), program_index(["python", "train.py", "--lr=1"])
    (2, None)
    """
    interpreted = False
    for index, word in enumerate(words):
        if not isinstance(word, str):
            continue
        if interpreted and _PROGRAM_FLAG.fullmatch(word):
            return index + 1
        interpreted = interpreted or _INTERPRETER.fullmatch(word) is not None
    return None


@lru_cache(maxsize=2**16)
def role_of(key: str) -> _Role:
    """Return what the name of a field says about its own value, or about the other fields of its mapping."""
    if key in _ROLES or is_secret(key):
        return _ROLES.get(key, "field")
    if is_program(key):
        return "program"
    from trainc.base.suggestions import nearest_name

    meant = nearest_name(key, ("name", "value"), likeness=_SIMILAR)
    return _ROLES[meant] if meant else ""


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
